import type { Hex32 } from "@causeway/domain";
import { addressOf } from "./address-of.ts";
import { digestBytes } from "./bytes.ts";
import { curve as chosen } from "./chosen-curve.ts";
import type { Curve } from "./curve.ts";
import { toSignature, type Signature, type Signer } from "./signer.ts";

const KEY = /^(?:0x)?([0-9a-fA-F]{64})$/;

/**
 * A signer whose private key is held in this process.
 * @param privateKey 32 bytes of hex, with or without 0x
 * @throws if `privateKey` is not a valid secp256k1 key; the error message never contains the key
 */
export function rawKeySigner(privateKey: string, curve: Curve = chosen): Signer {
  // Keep the key only in the closure, so that inspecting or serializing the signer cannot reveal it.
  const key = Buffer.from(KEY.exec(privateKey)?.[1] ?? "", "hex");
  if (!curve.isPrivateKey(key))
    throw new Error("not a valid secp256k1 private key (expected 32 bytes of hex)");
  return {
    address: addressOf(curve.publicKey(key)),
    isLocal: true,
    async signDigest(digest: Hex32): Promise<Signature> {
      return toSignature(curve.sign(digestBytes(digest), key));
    },
  };
}
