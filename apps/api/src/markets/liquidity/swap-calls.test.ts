import type { Address, PoolSource } from "@causeway/domain";
import { encodeFunctionData, encodePacked, erc20Abi, parseAbi } from "viem";
import { expect, test } from "vitest";
import type { BestPath, Leg } from "./best-path.adapter.ts";
import { swapCalls } from "./swap-calls.adapter.ts";

const routers = parseAbi([
  "function exactInput((bytes path, address recipient, uint256 deadline, uint256 amountIn, uint256 amountOutMinimum) params) payable returns (uint256 amountOut)",
  "function exactOutput((bytes path, address recipient, uint256 deadline, uint256 amountOut, uint256 amountInMaximum) params) payable returns (uint256 amountIn)",
  "function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline) returns (uint256[] amounts)",
  "function swapTokensForExactTokens(uint256 amountOut, uint256 amountInMax, address[] path, address to, uint256 deadline) returns (uint256[] amounts)",
]);
const newerRouters = parseAbi([
  "function exactInput((bytes path, address recipient, uint256 amountIn, uint256 amountOutMinimum) params) payable returns (uint256 amountOut)",
  "function exactOutput((bytes path, address recipient, uint256 amountOut, uint256 amountInMaximum) params) payable returns (uint256 amountIn)",
]);
const NEVER = 2n ** 256n - 1n;

const token = (digit: string): Address => `0x${digit.repeat(40)}`;
const [a, b, c, d, router, recipient] = ["a", "b", "c", "d", "e", "f"].map(token) as [
  Address,
  Address,
  Address,
  Address,
  Address,
  Address,
];
const tokens = [a, b, c, d];
const fees = [500, 3_000, 10_000];

function sourceOf(kind: PoolSource["kind"], routerKind: "swap-router" | "swap-router-02"): PoolSource {
  return { kind, routerKind, name: "here", router } as unknown as PoolSource;
}

function pathOver(pools: number, source: PoolSource): BestPath {
  const legs = Array.from(
    { length: pools },
    (_, index) =>
      ({
        pool: { identity: { kind: source.kind, source, fee: fees[index] } },
        tokenIn: tokens[index],
        tokenOut: tokens[index + 1],
      }) as unknown as Leg,
  );
  return { amountIn: 10n ** 21n + 7n, amountOut: 123_456_789n, legs };
}

/** Token, fee, token, … in the routers' format. */
function packed(list: readonly Address[], between: readonly number[]): `0x${string}` {
  const types = list.flatMap((_, index) => (index === 0 ? ["address"] : ["uint24", "address"]));
  const values = list.flatMap((hop, index) => (index === 0 ? [hop] : [between[index - 1], hop]));
  return encodePacked(types, values);
}

for (const pools of [1, 2, 3])
  for (const kind of ["exactIn", "exactOut"] as const) {
    const bound = { kind, limit: 99n * 10n ** 18n, recipient };
    const through = tokens.slice(0, pools + 1);
    const dataOf = (source: PoolSource) =>
      swapCalls(source, router, pathOver(pools, source), bound, false).find(({ to }) => to === router)?.data;

    test(`${kind} over ${pools} v3 pools matches an ABI encoder, with a deadline and without`, () => {
      const common = { recipient };
      const abi = newerRouters;
      const path =
        kind === "exactIn"
          ? packed(through, fees)
          : packed(through.toReversed(), fees.slice(0, pools).toReversed());
      const quotedPath = pathOver(pools, sourceOf("uniswap-v3", "swap-router"));
      const exactInput = { ...common, path, amountIn: quotedPath.amountIn, amountOutMinimum: bound.limit };
      const exactOutput = { ...common, path, amountOut: quotedPath.amountOut, amountInMaximum: bound.limit };
      expect(dataOf(sourceOf("uniswap-v3", "swap-router"))).toBe(
        kind === "exactIn"
          ? encodeFunctionData({
              abi: routers,
              functionName: "exactInput",
              args: [{ ...exactInput, deadline: NEVER }],
            })
          : encodeFunctionData({
              abi: routers,
              functionName: "exactOutput",
              args: [{ ...exactOutput, deadline: NEVER }],
            }),
      );
      expect(dataOf(sourceOf("uniswap-v3", "swap-router-02"))).toBe(
        kind === "exactIn"
          ? encodeFunctionData({ abi, functionName: "exactInput", args: [exactInput] })
          : encodeFunctionData({ abi, functionName: "exactOutput", args: [exactOutput] }),
      );
    });

    test(`${kind} over ${pools} v2 pairs matches an ABI encoder`, () => {
      const source = sourceOf("uniswap-v2", "swap-router");
      const { amountIn, amountOut } = pathOver(pools, source);
      expect(dataOf(source)).toBe(
        kind === "exactIn"
          ? encodeFunctionData({
              abi: routers,
              functionName: "swapExactTokensForTokens",
              args: [amountIn, bound.limit, through, recipient, NEVER],
            })
          : encodeFunctionData({
              abi: routers,
              functionName: "swapTokensForExactTokens",
              args: [amountOut, bound.limit, through, recipient, NEVER],
            }),
      );
    });
  }

test("approves the exact input or the maximum of an exact output, revokes the rest, and revokes a leftover allowance first", () => {
  const source = sourceOf("uniswap-v3", "swap-router");
  const path = pathOver(1, source);
  const callsOf = (kind: "exactIn" | "exactOut", resetsFirst: boolean) =>
    swapCalls(source, router, path, { kind, limit: 55n, recipient }, resetsFirst).map(({ to, data }) =>
      to === a ? data : "swap",
    );
  const approve = (amount: bigint) =>
    encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [router, amount] });
  expect(callsOf("exactIn", false)).toEqual([approve(path.amountIn), "swap"]);
  expect(callsOf("exactOut", true)).toEqual([approve(0n), approve(55n), "swap", approve(0n)]);
});
