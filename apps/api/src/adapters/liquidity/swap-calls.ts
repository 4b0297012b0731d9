import type { CallPlan } from "@causeway/chains";
import type { Address, Hex, PoolSource } from "@causeway/domain";
import { concat, encodeFunctionData, numberToHex, parseAbi, erc20Abi } from "viem";
import type { SwapBound } from "../../ports/liquidity.ts";
import type { BestPath, Leg } from "./best-path.ts";

const withDeadline = parseAbi([
  "function exactInput((bytes path, address recipient, uint256 deadline, uint256 amountIn, uint256 amountOutMinimum) params) payable returns (uint256 amountOut)",
  "function exactOutput((bytes path, address recipient, uint256 deadline, uint256 amountOut, uint256 amountInMaximum) params) payable returns (uint256 amountIn)",
]);
const withoutDeadline = parseAbi([
  "function exactInput((bytes path, address recipient, uint256 amountIn, uint256 amountOutMinimum) params) payable returns (uint256 amountOut)",
  "function exactOutput((bytes path, address recipient, uint256 amountOut, uint256 amountInMaximum) params) payable returns (uint256 amountIn)",
]);
const pairRouter = parseAbi([
  "function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline) returns (uint256[] amounts)",
  "function swapTokensForExactTokens(uint256 amountOut, uint256 amountInMax, address[] path, address to, uint256 deadline) returns (uint256[] amounts)",
]);

/** Routers refuse after it. Whoever holds the calls has a deadline of his own, the order's, so that theirs is as far as it goes. */
const NEVER = (1n << 256n) - 1n;

/** The contract of a source that trades; undefined: nothing is traded there. */
export function routerOf(source: PoolSource): Address | undefined {
  return source.router;
}

/**
 * Allowance, exchange, and the allowance's end, for whoever holds the input. Pure.
 *
 * @param resetsFirst the token may refuse to change one allowance into another, so that what anybody left over is taken back before
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
    { to: router, data: exchangeData(source, path, bound), value: 0n },
    // Of an exact input nothing is left; of the most that an output may cost something nearly always is.
    ...(exactIn ? [] : [approval(token, router, 0n)]),
  ];
}

function approval(token: Address, spender: Address, amount: bigint): CallPlan {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [spender, amount] });
  return { to: token, data, value: 0n };
}

function exchangeData(
  source: PoolSource,
  { amountIn, amountOut, legs }: BestPath,
  { kind, limit, recipient }: SwapBound,
): Hex {
  if (source.kind === "uniswap-v2") {
    const tokens = [(legs[0] as Leg).tokenIn, ...legs.map(({ tokenOut }) => tokenOut)];
    return kind === "exactIn"
      ? encodeFunctionData({
          abi: pairRouter,
          functionName: "swapExactTokensForTokens",
          args: [amountIn, limit, tokens, recipient, NEVER],
        })
      : encodeFunctionData({
          abi: pairRouter,
          functionName: "swapTokensForExactTokens",
          args: [amountOut, limit, tokens, recipient, NEVER],
        });
  }
  const hasDeadline = source.routerKind === "swap-router";
  if (kind === "exactIn") {
    const params = { path: concentratedPath(legs), recipient, amountIn, amountOutMinimum: limit };
    return hasDeadline
      ? encodeFunctionData({
          abi: withDeadline,
          functionName: "exactInput",
          args: [{ ...params, deadline: NEVER }],
        })
      : encodeFunctionData({ abi: withoutDeadline, functionName: "exactInput", args: [params] });
  }
  const params = { path: reversedPath(legs), recipient, amountOut, amountInMaximum: limit };
  return hasDeadline
    ? encodeFunctionData({
        abi: withDeadline,
        functionName: "exactOutput",
        args: [{ ...params, deadline: NEVER }],
      })
    : encodeFunctionData({ abi: withoutDeadline, functionName: "exactOutput", args: [params] });
}

/** Token, fee, token, … from input to output, packed as the v3 routers and the quoter take it. */
export function concentratedPath(legs: readonly Leg[]): Hex {
  return concat([(legs[0] as Leg).tokenIn, ...legs.flatMap((leg) => [feeOf(leg), leg.tokenOut])]);
}

/** The same from output to input, as exact outputs take it. */
export function reversedPath(legs: readonly Leg[]): Hex {
  const back = legs.toReversed();
  return concat([(back[0] as Leg).tokenOut, ...back.flatMap((leg) => [feeOf(leg), leg.tokenIn])]);
}

function feeOf({ pool }: Leg): Hex {
  if (pool.known.kind !== "uniswap-v3") throw new RangeError("a pair has no fee of its own");
  return numberToHex(pool.known.fee, { size: 3 });
}
