import { randomBytes } from "node:crypto";
import { createRequire } from "node:module";
import type { Curve } from "./curve.ts";
import { yParityOf } from "./y-parity.ts";

const require = createRequire(import.meta.url);

/** The part of the bindings that is used here; the package has no types. */
interface Bindings {
  contextRandomize(seed: Uint8Array): void;
  privateKeyVerify(key: Uint8Array): boolean;
  publicKeyCreate(key: Uint8Array, compressed: boolean): Uint8Array;
  ecdsaSign(digest: Uint8Array, key: Uint8Array): { signature: Uint8Array; recid: number };
  ecdsaRecover(rs: Uint8Array, recid: number, digest: Uint8Array, compressed: boolean): Uint8Array;
}

/** Do not import the package's own entry: without a prebuild it silently falls back to older JavaScript. */
const prebuilt = (): unknown => require("secp256k1/bindings");

/** libsecp256k1 through its prebuilt bindings; undefined if there are none for this machine. */
export function nativeCurve(load: () => unknown = prebuilt): Curve | undefined {
  let bindings: Bindings;
  try {
    bindings = load() as Bindings;
  } catch {
    return undefined;
  }
  // Blinds the multiplication with the key against timing and power analysis.
  bindings.contextRandomize(randomBytes(32));
  return {
    backend: "native",
    isPrivateKey: (key) => key.length === 32 && bindings.privateKeyVerify(key),
    publicKey: (key) => bindings.publicKeyCreate(key, false),
    sign(digest, key) {
      const { signature, recid } = bindings.ecdsaSign(digest, key);
      return { rs: signature, yParity: yParityOf(recid) };
    },
    recover(digest, { rs, yParity }) {
      if (digest.length !== 32 || rs.length !== 64)
        throw new RangeError("invariant violated: digest must have 32 bytes, r and s together 64");
      try {
        return bindings.ecdsaRecover(rs, yParity, digest, false);
      } catch {
        // Invalid: r or s out of range, r not the x of a point, or a key at infinity.
        return undefined;
      }
    },
  };
}
