import type { CallPlan } from "@causeway/chains";
import type { Address, Hex, PoolSource } from "@causeway/domain";
import { approveCalldata } from "@causeway/domain";
import type { SwapBound } from "./liquidity.port.ts";
import type { BestPath, Leg } from "./best-path.adapter.ts";

/** No router deadline: the order that contains the calls has its own. */
const NEVER = (1n << 256n) - 1n;

/** The contract that trades for a source; undefined: this source cannot trade. */
export function routerOf(source: PoolSource): Address | undefined {
  return source.router;
}

/**
 * Approval, swap and revocation, for the holder of the input. Pure.
 * @param resetsFirst the token may refuse to change a nonzero allowance, so a leftover is revoked first
 */
export function swapCalls(
  source: PoolSource,
  router: Address,
  path: BestPath,
  bound: SwapBound,
  resetsFirst: boolean,
): CallPlan[] {
  const exactIn = bound.kind === "exactIn";
  const token = (path.legs[0] as Leg).tokenIn;
  const allowance = exactIn ? path.amountIn : bound.limit;
  return [
    ...(resetsFirst ? [approval(token, router, 0n)] : []),
    approval(token, router, allowance),
    { to: router, data: swapData(source, path, bound), value: 0n },
    // An exact input leaves no allowance; an exact output nearly always leaves a part of the maximum.
    ...(exactIn ? [] : [approval(token, router, 0n)]),
  ];
}

function approval(token: Address, spender: Address, amount: bigint): CallPlan {
  return { to: token, data: approveCalldata(spender, amount), value: 0n };
}

/** Encoded by hand, like all calldata of a quote: an ABI encoder takes longer than finding the swap. */
function swapData(
  source: PoolSource,
  { amountIn, amountOut, legs }: BestPath,
  { kind, limit, recipient }: SwapBound,
): Hex {
  const exactIn = kind === "exactIn";
  const amount = exactIn ? amountIn : amountOut;
  if (source.kind === "uniswap-v2") {
    const tokens = [(legs[0] as Leg).tokenIn, ...legs.map(({ tokenOut }) => tokenOut)];
    // swapExactTokensForTokens, swapTokensForExactTokens (uint256, uint256, address[] path, address to,
    // uint256 deadline)
    return `${exactIn ? "0x38ed1739" : "0x8803dbee"}${uint(amount)}${uint(limit)}${uint(5 * WORD)}${address(recipient)}${uint(NEVER)}${uint(tokens.length)}${tokens.map(address).join("")}`;
  }
  const path = exactIn ? concentratedPath(legs) : reversedPath(legs);
  // exactInput, exactOutput ((bytes path, address recipient, uint256 deadline, uint256, uint256)); newer
  // routers have no deadline.
  return source.routerKind === "swap-router"
    ? `${exactIn ? "0xc04b8d59" : "0xf28c0498"}${uint(WORD)}${uint(5 * WORD)}${address(recipient)}${uint(NEVER)}${uint(amount)}${uint(limit)}${bytes(path)}`
    : `${exactIn ? "0xb858183f" : "0x09b81346"}${uint(WORD)}${uint(4 * WORD)}${address(recipient)}${uint(amount)}${uint(limit)}${bytes(path)}`;
}

/** Token, fee, token, … from input to output, packed for the v3 routers and the quoter. */
export function concentratedPath(legs: readonly Leg[]): Hex {
  let path = (legs[0] as Leg).tokenIn;
  for (const leg of legs) path = `${path}${feeOf(leg)}${leg.tokenOut.slice(2)}`;
  return path;
}

/** The same from output to input, for exact outputs. */
export function reversedPath(legs: readonly Leg[]): Hex {
  const back = legs.toReversed();
  let path = (back[0] as Leg).tokenOut;
  for (const leg of back) path = `${path}${feeOf(leg)}${leg.tokenIn.slice(2)}`;
  return path;
}

function feeOf({ pool }: Leg): string {
  if (pool.known.kind !== "uniswap-v3")
    throw new RangeError("invariant violated: fee tier on a constant-product pair");
  return pool.known.fee.toString(16).padStart(6, "0");
}

const WORD = 32;
const TWELVE_ZERO_BYTES = "0".repeat(24);

function address(value: Address): string {
  return TWELVE_ZERO_BYTES + value.slice(2);
}

function uint(value: bigint | number): string {
  return value.toString(16).padStart(64, "0");
}

/** Length and content, padded to whole words. */
function bytes(value: Hex): string {
  const count = value.length / 2 - 1;
  return uint(count) + value.slice(2) + "0".repeat(((WORD - (count % WORD)) % WORD) * 2);
}
