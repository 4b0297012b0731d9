import type { Address, Hex32 } from "@causeway/domain";
import { addressOf } from "./address-of.ts";
import { digestBytes } from "./bytes.ts";
import { curve as chosen } from "./chosen-curve.ts";
import type { Curve } from "./curve.ts";
import type { Signature } from "./signer.ts";

const CANONICAL = /^0x([0-9a-f]{64})([0-9a-f]{64})(1b|1c)$/;
const ZERO = "0".repeat(64);
/**
 * Order n of secp256k1 and its half, rounded down (SEC 2, 2.4.1), as text: lower-case hex of equal length
 * sorts like the numbers.
 */
const ORDER = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
const HALF_ORDER = "7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0";

/**
 * Parses a signature in the format that contracts accept: 65 bytes of lower-case hex, v 27 or 28, r and s in
 * 1 … n−1, s in the lower half. Undefined for any other format, even of the same signature (v 0 or 1,
 * compact, upper case, high s): otherwise one signature could count twice.
 */
export function parseSignature(signature: string): Signature | undefined {
  const match = CANONICAL.exec(signature);
  if (match === null) return undefined;
  const [, r = ZERO, s = ZERO, v] = match;
  if (r === ZERO || r >= ORDER || s === ZERO || s > HALF_ORDER) return undefined;
  return { r: `0x${r}`, s: `0x${s}`, yParity: v === "1c" ? 1 : 0 };
}

/**
 * The signer of `digest`, in lower case; undefined if the signature is not canonical or has no signer. Every
 * well-formed signature recovers to some address: compare it with a list of known signers.
 * @throws RangeError if `digest` is not 32 bytes of hex
 */
export function recoverSigner(digest: Hex32, signature: string, curve: Curve = chosen): Address | undefined {
  const message = digestBytes(digest);
  const parsed = parseSignature(signature);
  if (parsed === undefined) return undefined;
  const rs = Buffer.from(parsed.r.slice(2) + parsed.s.slice(2), "hex");
  const publicKey = curve.recover(message, { rs, yParity: parsed.yParity });
  return publicKey === undefined ? undefined : addressOf(publicKey);
}
