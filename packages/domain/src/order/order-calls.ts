import type { Address, Hex } from "../ids/hex.ts";

/** One call that the fill makes on the destination chain. */
export interface OrderCall {
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
}

/** `extraData` of an output or refund on an EVM chain: `abi.encode(address fillContract)`. */
export function encodeFillContract(fillContract: Address): Hex {
  return `0x${word(fillContract.slice(2).toLowerCase())}`;
}

/**
 * An element of `output.calls` on an EVM chain: `abi.encode((address to), (bytes data), (uint256 value))`,
 * three tuples of one field each.
 * @throws RangeError if the value is not a uint256 or the data is not whole bytes
 */
export function encodeOrderCall(call: OrderCall): Hex {
  if (call.value < 0n || call.value >= 1n << 256n)
    throw new RangeError(`call value must be a uint256, got ${call.value}`);
  const data = call.data.slice(2).toLowerCase();
  if (!/^(?:[0-9a-f]{2})*$/.test(data)) throw new RangeError("call data must be hex bytes");
  const length = data.length / 2;
  const padded = data.padEnd(Math.ceil(length / 32) * 64, "0");
  // Heads: the address, the offset of the second tuple, the value. The second tuple: the offset of its bytes,
  // their length, the bytes.
  const heads = word(call.to.slice(2).toLowerCase()) + word("60") + word(call.value.toString(16));
  return `0x${heads}${word("20")}${word(length.toString(16))}${padded}`;
}

/**
 * Decodes a call of {@link encodeOrderCall}.
 * @throws RangeError if the element is malformed
 */
export function decodeOrderCall(element: Hex): OrderCall {
  const wordAt = (index: number): string => element.slice(2 + index * WORD, 2 + (index + 1) * WORD);
  const length = Number(`0x${wordAt(4)}`);
  const start = 2 + 5 * WORD;
  const call: OrderCall = {
    to: `0x${wordAt(0).slice(-40)}`,
    data: `0x${element.slice(start, start + 2 * length)}`,
    value: BigInt(`0x${wordAt(2)}`),
  };
  if (element.length < start || encodeOrderCall(call) !== element)
    throw new RangeError("output.calls contains an element that is not an encoded call");
  return call;
}

/** Hex digits of a word. */
const WORD = 64;

function word(hex: string): string {
  return hex.padStart(64, "0");
}
