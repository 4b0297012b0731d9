/** The two integers of an ECDSA signature. */
export interface SignatureIntegers {
  readonly r: bigint;
  readonly s: bigint;
}

const SEQUENCE = 0x30;
const INTEGER = 0x02;

/**
 * Parses an ECDSA signature in DER: SEQUENCE { r INTEGER, s INTEGER } (RFC 3279, 2.2.3). Undefined unless
 * exactly that: other lengths or tags, trailing bytes, or an integer that is negative, too long or above 256
 * bits. Does not check whether r and s are in the curve's range.
 */
export function readDerSignature(der: Uint8Array): SignatureIntegers | undefined {
  // Two integers of at most 33 bytes never need a length of more than one byte.
  if (der.length < 8 || der.length > 72 || der[0] !== SEQUENCE || der[1] !== der.length - 2) return undefined;
  const rEnd = integerEnd(der, 2);
  if (rEnd === undefined) return undefined;
  const sEnd = integerEnd(der, rEnd);
  if (sEnd !== der.length) return undefined;
  const r = positive(der.subarray(4, rEnd));
  const s = positive(der.subarray(rEnd + 2, sEnd));
  return r === undefined || s === undefined ? undefined : { r, s };
}

/** The end of the integer at `start`; undefined if there is none. May be beyond the end of the bytes. */
function integerEnd(der: Uint8Array, start: number): number | undefined {
  const length = der[start + 1];
  if (der[start] !== INTEGER || length === undefined || length === 0 || length > 33) return undefined;
  return start + 2 + length;
}

/** A two's complement integer of at most 256 bits in its shortest form; undefined otherwise. */
function positive(bytes: Uint8Array): bigint | undefined {
  const [first = 0, second = 0] = bytes;
  if (first >= 0x80) return undefined;
  if (first === 0 && bytes.length > 1 && second < 0x80) return undefined;
  if (bytes.length === 33 && first !== 0) return undefined;
  return BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
}
