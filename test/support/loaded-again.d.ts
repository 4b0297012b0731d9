/** A test file that runs once more, in a module of its own, for oracles whose keys are in a key service. */
declare module "*?kms";
