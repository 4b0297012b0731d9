export { signatureToHex } from "./signer/signer.ts";
export type { Signature, Signer } from "./signer/signer.ts";
export { rawKeySigner } from "./signer/raw-key.ts";
export { signPersonalMessage } from "./signer/personal-message.ts";
export { curve, type Curve, type CurveSignature } from "./signer/curve.ts";
export { nativeCurve } from "./signer/native-curve.ts";
export { portableCurve } from "./signer/portable-curve.ts";
export { parseSignature, recoverSigner } from "./signer/recover-signer.ts";
