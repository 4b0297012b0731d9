/** Loads a test file a second time, for oracles whose keys are in AWS KMS. */
declare module "*?kms";
