export { signatureToHex } from "./signer/signer.ts";
export type { Signature, Signer } from "./signer/signer.ts";
export { rawKeySigner } from "./signer/raw-key.ts";
export { signPersonalMessage } from "./signer/personal-message.ts";
