import { createKeccak } from "hash-wasm";

/**
 * One hasher for the whole process: hashing is synchronous, so no two uses overlap. Ten times faster than a
 * pure JavaScript keccak.
 */
const hasher = await createKeccak(256);

/** keccak256 of raw bytes, as 32 raw bytes. */
export function keccak(bytes: Uint8Array): Uint8Array {
  return hasher.init().update(bytes).digest("binary");
}

const utf8 = new TextEncoder();

/** keccak256 of a text in UTF-8: how EIP-712 encodes a `string`. */
export function keccakText(text: string): Uint8Array {
  return keccak(utf8.encode(text));
}

/** Value of each hexadecimal digit by character code; 255 for every other character. */
const NIBBLES = new Uint8Array(256).fill(255);
for (let code = 0; code < 16; code++) {
  NIBBLES["0123456789abcdef".charCodeAt(code)] = code;
  NIBBLES["0123456789ABCDEF".charCodeAt(code)] = code;
}

/**
 * Writes the bytes of `hex` at `offset` and returns their number.
 * @throws RangeError if it is not `0x` and whole bytes of hex
 */
export function writeHex(hex: string, target: Uint8Array, offset: number): number {
  const length = (hex.length - 2) >> 1;
  if ((hex.length & 1) === 1 || hex.charCodeAt(0) !== 48 || hex.charCodeAt(1) !== 120)
    throw new RangeError(`expected hex bytes, got ${hex.slice(0, 80)}`);
  for (let i = 0; i < length; i++) {
    const high = NIBBLES[hex.charCodeAt(2 + i * 2)] ?? 255;
    const low = NIBBLES[hex.charCodeAt(3 + i * 2)] ?? 255;
    if ((high | low) > 15) throw new RangeError(`expected hex bytes, got ${hex.slice(0, 80)}`);
    target[offset + i] = (high << 4) | low;
  }
  return length;
}

const HEX_PAIRS: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, "0"),
);

const HEX_CODES = Uint8Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));
/** Character codes of `0x` and 64 digits, overwritten for each hash. */
const hashCodes = Array.from("0x".padEnd(66, "0"), (character) => character.charCodeAt(0));

/**
 * Raw bytes as lower-case `0x` hex. A 32-byte hash is built as one flat string: concatenating 33 parts takes
 * eight times as long, and the engine flattens the result again at every use.
 */
export function toHex(bytes: Uint8Array): `0x${string}` {
  if (bytes.length === 32) {
    let index = 2;
    for (const byte of bytes) {
      hashCodes[index++] = HEX_CODES[byte >> 4] ?? 0;
      hashCodes[index++] = HEX_CODES[byte & 15] ?? 0;
    }
    return String.fromCharCode.apply(undefined, hashCodes) as `0x${string}`;
  }
  let text = "";
  for (const byte of bytes) text += HEX_PAIRS[byte];
  return `0x${text}`;
}

/** The bytes of a hex text. @throws RangeError if it is not `0x` and whole bytes of hex */
export function bytesOf(hex: string): Uint8Array {
  const bytes = new Uint8Array(Math.max(0, (hex.length - 2) >> 1));
  writeHex(hex, bytes, 0);
  return bytes;
}

/** keccak256 of the bytes of a hex text: how EIP-712 encodes `bytes`. */
export function keccakHex(hex: string): Uint8Array {
  return keccak(bytesOf(hex));
}

/**
 * keccak256 of the bytes of a hex text, as hex: for example a transaction hash.
 * @throws RangeError if `hex` is not `0x` and whole bytes of hex
 */
export function keccakOf(hex: string): `0x${string}` {
  return toHex(keccakHex(hex));
}

/**
 * Concatenates 32-byte words as EIP-712's `encodeData` does, and hashes them. One writer per struct type is
 * reused for every value, because allocation costs more than hashing here. A recursive struct type would need
 * two writers; no order type is recursive.
 */
export interface StructWriter {
  /** Starts a value with the hash of its type; discards an earlier value that failed halfway. */
  start(typeHash: Uint8Array): StructWriter;
  word(bytes: Uint8Array): StructWriter;
  /** @throws RangeError unless `hex` is exactly 32 bytes of hex, in any case */
  bytes32(hex: string): StructWriter;
  /** @throws RangeError if `value` is not a uint256 */
  uint256(value: bigint): StructWriter;
  /** Two's complement. @throws RangeError if `value` is not an int256 */
  int256(value: bigint): StructWriter;
  /** @throws RangeError if `value` is not a uint8 */
  uint8(value: number): StructWriter;
  /** @throws RangeError if `value` is not a uint32 */
  uint32(value: number): StructWriter;
  /** @throws RangeError unless `address` is 20 bytes of hex */
  address(address: string): StructWriter;
  hash(): Uint8Array;
}

const LOW_64 = (1n << 64n) - 1n;
const UINT256_MAX = (1n << 256n) - 1n;

/** A writer for a struct type of this many words, its type hash included. */
export function structWriter(words: number): StructWriter {
  const buffer = new Uint8Array(words * 32);
  const view = new DataView(buffer.buffer);
  let offset = 0;
  const writer: StructWriter = {
    start(typeHash) {
      buffer.set(typeHash, 0);
      offset = 32;
      return writer;
    },
    word(bytes) {
      buffer.set(bytes, offset);
      offset += 32;
      return writer;
    },
    bytes32(hex) {
      if (hex.length !== 66) throw new RangeError(`expected 32 bytes, got ${hex.slice(0, 80)}`);
      writeHex(hex, buffer, offset);
      offset += 32;
      return writer;
    },
    uint256(value) {
      if (value < 0n || value > UINT256_MAX) throw new RangeError(`expected a uint256, got ${value}`);
      buffer.fill(0, offset, offset + 32);
      for (let index = offset + 24, remaining = value; remaining !== 0n; index -= 8, remaining >>= 64n)
        view.setBigUint64(index, remaining & LOW_64);
      offset += 32;
      return writer;
    },
    int256(value) {
      if (BigInt.asIntN(256, value) !== value) throw new RangeError(`expected an int256, got ${value}`);
      return writer.uint256(BigInt.asUintN(256, value));
    },
    uint8(value) {
      if (value > 0xff) throw new RangeError(`expected a uint8, got ${value}`);
      return writer.uint32(value);
    },
    uint32(value) {
      if (!Number.isInteger(value) || value < 0 || value > 0xffff_ffff)
        throw new RangeError(`expected a uint32, got ${value}`);
      buffer.fill(0, offset, offset + 28);
      view.setUint32(offset + 28, value);
      offset += 32;
      return writer;
    },
    address(address) {
      if (address.length !== 42)
        throw new RangeError(`expected a 20-byte address, got ${address.slice(0, 80)}`);
      buffer.fill(0, offset, offset + 12);
      writeHex(address, buffer, offset + 12);
      offset += 32;
      return writer;
    },
    hash() {
      return keccak(buffer);
    },
  };
  return writer;
}

/** EIP-712's hash of an array: the hash of the concatenated element hashes. */
export function arrayHash<T>(items: readonly T[], hashOf: (item: T) => Uint8Array): Uint8Array {
  const [only] = items;
  if (items.length === 1 && only !== undefined) return keccak(hashOf(only));
  const hashes = new Uint8Array(items.length * 32);
  for (const [i, item] of items.entries()) hashes.set(hashOf(item), i * 32);
  return keccak(hashes);
}
