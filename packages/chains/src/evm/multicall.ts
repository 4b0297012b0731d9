import type { Address, Hex } from "@causeway/domain";
import { garbage } from "@causeway/families";

/**
 * Hand-written ABI encoding of Multicall3's `aggregate3`: when quoting, a general codec would take longer
 * than the call. Pure.
 */

export interface SubCall {
  readonly target: Address;
  readonly data: Hex;
}

/** `aggregate3((address target, bool allowFailure, bytes callData)[])` with every failure allowed. */
export function encodeAggregate3(calls: readonly SubCall[]): Hex {
  const tuples = calls.map(({ target, data }) => {
    const bytes = data.slice(2);
    const padded = bytes.padEnd(Math.ceil(bytes.length / 64) * 64, "0");
    return `${target.slice(2).padStart(64, "0")}${word(1)}${word(0x60)}${word(bytes.length / 2)}${padded}`;
  });
  let offset = 32 * calls.length;
  const offsets = tuples.map((tuple) => {
    const offsetWord = word(offset);
    offset += tuple.length / 2;
    return offsetWord;
  });
  return `0x82ad56cb${word(0x20)}${word(calls.length)}${offsets.join("")}${tuples.join("")}`;
}

/**
 * Results of `aggregate3`, in order: the returned bytes, or undefined for a failed call.
 *
 * @throws RpcFault
 */
export function decodeAggregate3(answer: Hex, count: number): (Hex | undefined)[] {
  const hex = answer.slice(2);
  const number = (byteOffset: number): number => {
    const begin = byteOffset * 2;
    const text = hex.slice(begin, begin + 64);
    // Rounds words beyond 2^53, which are too large in any case.
    const value = text.length === 64 ? Number(`0x${text}`) : Number.NaN;
    if (!(value <= hex.length)) throw garbage("eth_call", "multicall response is malformed");
    return value;
  };
  const listOffset = number(0);
  if (number(listOffset) !== count)
    throw garbage("eth_call", "multicall returned results for a different number of calls");
  const firstOffset = listOffset + 32;
  return Array.from({ length: count }, (_, index): Hex | undefined => {
    const tupleOffset = firstOffset + number(firstOffset + 32 * index);
    const bytesOffset = tupleOffset + number(tupleOffset + 32);
    const length = number(bytesOffset);
    const data = hex.slice((bytesOffset + 32) * 2, (bytesOffset + 32 + length) * 2);
    if (data.length !== length * 2) throw garbage("eth_call", "multicall response is truncated");
    return number(tupleOffset) === 0 ? undefined : `0x${data}`;
  });
}

/** `getEthBalance(address)` of Multicall3 itself. */
export function nativeBalanceCall(multicall3: Address, account: Address): SubCall {
  return { target: multicall3, data: `0x4d2301cc${addressWord(account)}` };
}

/** ERC-20 `balanceOf(address)`. */
export function balanceCall(token: Address, account: Address): SubCall {
  return { target: token, data: `0x70a08231${addressWord(account)}` };
}

/** ERC-20 `allowance(address owner, address spender)`. */
export function allowanceCall(token: Address, owner: Address, spender: Address): SubCall {
  return { target: token, data: `0xdd62ed3e${addressWord(owner)}${addressWord(spender)}` };
}

/** The uint256 that such a call returned. @throws RpcFault if it failed or returned less than a word */
export function uintAnswer(answer: Hex | undefined, label: string): bigint {
  if (answer === undefined || answer.length < 66)
    throw garbage("eth_call", `${label} did not return a number`);
  return BigInt(answer.slice(0, 66));
}

function word(value: number): string {
  return value.toString(16).padStart(64, "0");
}

function addressWord(address: Address): string {
  return address.slice(2).padStart(64, "0");
}
