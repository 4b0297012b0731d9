import type { Hex } from "@causeway/domain";
import { toHex } from "@causeway/domain";

/** Reads the parts of the Protocol Buffers wire format that transactions use. Pure. */

/** The values of each field by its number, in byte order. */
export type WireFields = ReadonlyMap<number, readonly (bigint | Uint8Array)[]>;

/** Bytes that are not a message, or an ambiguous one. */
export class InvalidMessage extends Error {
  override readonly name = "InvalidMessage";
  readonly code = "NOT_THAT_MESSAGE";
}

/** @throws InvalidMessage if the bytes are not a complete message, or use deprecated parts of the format */
export function wireFields(bytes: Uint8Array): WireFields {
  const fields = new Map<number, (bigint | Uint8Array)[]>();
  let offset = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[offset++];
      if (byte === undefined) throw new InvalidMessage("number is truncated");
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new InvalidMessage("number has too many bytes");
  };
  const readBytes = (length: number): Uint8Array => {
    if (length > bytes.length - offset) throw new InvalidMessage("field is truncated");
    offset += length;
    return bytes.subarray(offset - length, offset);
  };
  while (offset < bytes.length) {
    const tag = varint();
    const number = Number(tag >> 3n);
    const type = Number(tag & 7n);
    if (number === 0 || number >= 2 ** 29) throw new InvalidMessage("field has no number");
    let value: bigint | Uint8Array;
    if (type === 0) value = varint();
    else if (type === 1) value = readBytes(8);
    else if (type === 2) {
      const length = varint();
      value = readBytes(length > BigInt(bytes.length) ? bytes.length + 1 : Number(length));
    } else if (type === 5) value = readBytes(4);
    else throw new InvalidMessage("field has an unknown wire type");
    const values = fields.get(number);
    if (values === undefined) fields.set(number, [value]);
    else values.push(value);
  }
  return fields;
}

/**
 * A bytes field; empty if missing, the last value if repeated.
 *
 * @throws InvalidMessage if it is a number
 */
export function bytesIn(fields: WireFields, number: number): Uint8Array {
  const value = fields.get(number)?.at(-1) ?? new Uint8Array();
  if (typeof value === "bigint") throw new InvalidMessage(`field ${number} is not bytes`);
  return value;
}

/** {@link bytesIn} as hex. */
export function hexIn(fields: WireFields, number: number): Hex {
  return toHex(bytesIn(fields, number));
}

/**
 * A nonnegative int64 field; 0 if missing, the last value if repeated.
 *
 * @throws InvalidMessage
 */
export function amountIn(fields: WireFields, number: number): bigint {
  const value = fields.get(number)?.at(-1) ?? 0n;
  if (typeof value !== "bigint" || BigInt.asIntN(64, value) < 0n)
    throw new InvalidMessage(`field ${number} is not an amount`);
  return value;
}

/** A message that must occur exactly once. @throws InvalidMessage */
export function messageIn(fields: WireFields, number: number): WireFields {
  const [value, ...extra] = fields.get(number) ?? [];
  if (value === undefined || typeof value === "bigint" || extra.length > 0)
    throw new InvalidMessage(`field ${number} must occur exactly once`);
  return wireFields(value);
}
