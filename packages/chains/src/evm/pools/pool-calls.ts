import type { Address, Hex } from "@causeway/domain";
import type { SubCall } from "../multicall.ts";
import { garbage } from "@causeway/families";

/**
 * Calls of Uniswap factories and pools, and their results; hand-written, because some happen at every block.
 * Pure.
 */

/** `getPool(address,address,uint24)` of a v3 factory. @param fee hundredths of a bp */
export function poolAddressCall(factory: Address, a: Address, b: Address, fee: number): SubCall {
  return { target: factory, data: `0x1698ee82${addressWord(a)}${addressWord(b)}${signedWord(fee)}` };
}

/** `getPair(address,address)` of a v2 factory. */
export function pairAddressCall(factory: Address, a: Address, b: Address): SubCall {
  return { target: factory, data: `0xe6a43905${addressWord(a)}${addressWord(b)}` };
}

/**
 * The address that such a call returned; undefined for the zero address, which means that the pool does not
 * exist.
 *
 * @throws RpcFault
 */
export function addressAnswer(answer: Hex | undefined): Address | undefined {
  const value = wordAt(answer, 0, "a factory");
  return value === 0n ? undefined : `0x${value.toString(16).padStart(40, "0")}`;
}

export function slot0Call(pool: Address): SubCall {
  return { target: pool, data: "0x3850c7bd" };
}

/** Price (square root, Q64.96; 0n before initialization) and tick. @throws RpcFault */
export function slot0Answer(answer: Hex | undefined): { readonly sqrtPrice: bigint; readonly tick: number } {
  return {
    sqrtPrice: wordAt(answer, 0, "slot0"),
    tick: Number(BigInt.asIntN(24, wordAt(answer, 1, "slot0"))),
  };
}

export function liquidityCall(pool: Address): SubCall {
  return { target: pool, data: "0x1a686502" };
}

/** `tickBitmap(int16)`: the initialized ticks of a word. */
export function tickWordCall(pool: Address, word: number): SubCall {
  return { target: pool, data: `0x5339c296${signedWord(word)}` };
}

/** `ticks(int24)`. */
export function tickCall(pool: Address, tick: number): SubCall {
  return { target: pool, data: `0xf30dba93${signedWord(tick)}` };
}

/**
 * Net liquidity when the price rises through the tick; undefined if no position ends there.
 *
 * @throws RpcFault
 */
export function tickAnswer(answer: Hex | undefined): bigint | undefined {
  const gross = wordAt(answer, 0, "a tick");
  return gross === 0n ? undefined : BigInt.asIntN(128, wordAt(answer, 1, "a tick"));
}

export function reservesCall(pair: Address): SubCall {
  return { target: pair, data: "0x0902f1ac" };
}

/** @throws RpcFault */
export function reservesAnswer(answer: Hex | undefined): {
  readonly reserve0: bigint;
  readonly reserve1: bigint;
} {
  return { reserve0: wordAt(answer, 0, "a pair"), reserve1: wordAt(answer, 1, "a pair") };
}

/**
 * `Mint(address,address,int24,int24,uint128,uint256,uint256)` and
 * `Burn(address,int24,int24,uint128,uint256,uint256)` of v3 pools: the only events that change a tick's
 * liquidity.
 */
export const LIQUIDITY_TOPICS: readonly Hex[] = [
  "0x7a53080ba414158be7ec69b987b5fb7d07dee101fe85488f0853ae16239d0bde",
  "0x0c396cd989a39f4459b5fa1aed6a9a8dcdbc45908acfd67e028cd568da98982c",
];

export function isLiquidityChange([topic]: readonly Hex[]): boolean {
  return topic !== undefined && LIQUIDITY_TOPICS.includes(topic);
}

/** The two ticks of such an event, both indexed and at the same places in both. @throws RpcFault */
export function changedTicks(topics: readonly Hex[]): readonly [number, number] {
  const [, , lower, upper] = topics;
  if (lower === undefined || upper === undefined)
    throw garbage("eth_getLogs", "liquidity change has no ticks");
  return [Number(BigInt.asIntN(24, BigInt(lower))), Number(BigInt.asIntN(24, BigInt(upper)))];
}

function wordAt(answer: Hex | undefined, index: number, what: string): bigint {
  const text = answer?.slice(2 + 64 * index, 66 + 64 * index);
  if (text?.length !== 64) throw garbage("eth_call", `${what} returned too few bytes`);
  return BigInt(`0x${text}`);
}

function signedWord(value: number): string {
  return BigInt.asUintN(256, BigInt(value)).toString(16).padStart(64, "0");
}

function addressWord(address: Address): string {
  return address.slice(2).padStart(64, "0");
}
