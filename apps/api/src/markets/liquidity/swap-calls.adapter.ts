import type { CallPlan } from "@causeway/chains";
import type { Address, Hex, PoolSource } from "@causeway/domain";
import { approveCalldata } from "@causeway/domain";
import type { SwapBound } from "./liquidity.port.ts";
import type { BestPath, Leg } from "./best-path.adapter.ts";

/** No router deadline, because the order that contains the calls has one. */
const NO_DEADLINE = (1n << 256n) - 1n;

/** The contract that trades for a source; undefined: this source cannot trade. */
export function routerOf(source: PoolSource): Address | undefined {
  return source.router;
}

/**
 * Approval, swap and revocation, for the holder of the input. Pure.
 * @param resetsFirst whether to revoke a remaining allowance first, because the token may refuse to change a
 * nonzero allowance
 */
export function swapCalls(
  source: PoolSource,
  router: Address,
  path: BestPath,
  bound: SwapBound,
  resetsFirst: boolean,
): CallPlan[] {
  const isExactInput = bound.kind === "exactIn";
  const token = (path.legs[0] as Leg).tokenIn;
  const allowance = isExactInput ? path.amountIn : bound.limit;
  return [
    ...(resetsFirst ? [approval(token, router, 0n)] : []),
    approval(token, router, allowance),
    { to: router, data: swapData(source, path, bound), value: 0n },
    // An exact input leaves no allowance; an exact output nearly always leaves a part of the maximum.
    ...(isExactInput ? [] : [approval(token, router, 0n)]),
  ];
}

function approval(token: Address, spender: Address, amount: bigint): CallPlan {
  return { to: token, data: approveCalldata(spender, amount), value: 0n };
}

/** Encodes the swap by hand, because an ABI encoder would take longer than finding the swap. */
function swapData(
  source: PoolSource,
  { amountIn, amountOut, legs }: BestPath,
  { kind, limit, recipient }: SwapBound,
): Hex {
  const isExactInput = kind === "exactIn";
  const amount = isExactInput ? amountIn : amountOut;
  if (source.kind === "uniswap-v2") {
    const tokens = [(legs[0] as Leg).tokenIn, ...legs.map(({ tokenOut }) => tokenOut)];
    // swapExactTokensForTokens, swapTokensForExactTokens (uint256, uint256, address[] path, address to,
    // uint256 deadline)
    return `${isExactInput ? "0x38ed1739" : "0x8803dbee"}${uint(amount)}${uint(limit)}${uint(5 * WORD)}${address(recipient)}${uint(NO_DEADLINE)}${uint(tokens.length)}${tokens.map(address).join("")}`;
  }
  const path = isExactInput ? concentratedPath(legs) : reversedPath(legs);
  // exactInput, exactOutput ((bytes path, address recipient, uint256 deadline, uint256, uint256)); newer
  // routers have no deadline.
  return source.routerKind === "swap-router"
    ? `${isExactInput ? "0xc04b8d59" : "0xf28c0498"}${uint(WORD)}${uint(5 * WORD)}${address(recipient)}${uint(NO_DEADLINE)}${uint(amount)}${uint(limit)}${bytes(path)}`
    : `${isExactInput ? "0xb858183f" : "0x09b81346"}${uint(WORD)}${uint(4 * WORD)}${address(recipient)}${uint(amount)}${uint(limit)}${bytes(path)}`;
}

/** Packs the path for the v3 routers and the quoter: token, fee, token, … from input to output. */
export function concentratedPath(legs: readonly Leg[]): Hex {
  let path = (legs[0] as Leg).tokenIn;
  for (const leg of legs) path = `${path}${feeOf(leg)}${leg.tokenOut.slice(2)}`;
  return path;
}

/** Packs the path from output to input, for exact outputs. */
export function reversedPath(legs: readonly Leg[]): Hex {
  const back = legs.toReversed();
  let path = (back[0] as Leg).tokenOut;
  for (const leg of back) path = `${path}${feeOf(leg)}${leg.tokenIn.slice(2)}`;
  return path;
}

function feeOf({ pool }: Leg): string {
  if (pool.identity.kind !== "uniswap-v3")
    throw new RangeError("invariant violated: fee tier on a constant-product pair");
  return pool.identity.fee.toString(16).padStart(6, "0");
}

const WORD = 32;
const TWELVE_ZERO_BYTES = "0".repeat(24);

function address(value: Address): string {
  return TWELVE_ZERO_BYTES + value.slice(2);
}

function uint(value: bigint | number): string {
  return value.toString(16).padStart(64, "0");
}

/** Encodes bytes: length and content, padded to whole words. */
function bytes(value: Hex): string {
  const count = value.length / 2 - 1;
  return uint(count) + value.slice(2) + "0".repeat(((WORD - (count % WORD)) % WORD) * 2);
}
