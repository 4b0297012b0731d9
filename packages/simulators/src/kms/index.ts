export type { KeySpec, KeyState, KmsKey } from "./kms-key.ts";
export { startKms, type KmsFault, type KmsOptions, type RunningKms } from "./kms-server.ts";
export { startGoogleKms, type RunningGoogleKms } from "./google-kms-server.ts";
export { startRemoteSigner, type RunningRemoteSigner, type SignFault } from "./remote-signer-server.ts";
