export type { KeySpec, KeyState, KmsKey } from "./kms-key.ts";
export { startKms, type KmsFault, type KmsOptions, type RunningKms } from "./kms-server.ts";
