import { RpcFault } from "@causeway/families";
import { expect, test } from "vitest";
import { cachedFeeRate, maxFeeRate } from "./fee-rate.ts";

const networkFault = new RpcFault({ kind: "network", method: "fee-estimates", reason: "refused" });

type Estimate = bigint | undefined | RpcFault;

/** Satoshis per 1000 virtual bytes, from an explorer and nodes that answer this. */
async function rateOf(explorer: Estimate, ...nodes: readonly Estimate[]): Promise<bigint> {
  const sourceOf = (answer: Estimate) => ({
    feeRate: async () => {
      if (answer instanceof RpcFault) throw answer;
      return await Promise.resolve(answer);
    },
  });
  return await cachedFeeRate(sourceOf(explorer), nodes.map(sourceOf), () => 0)();
}

test.each<[string, readonly [Estimate, ...Estimate[]], bigint]>([
  ["the explorer invents a high fee", [400_000n, 3_000n], 3_000n],
  ["the node invents a high fee", [3_000n, 400_000n], 3_000n],
  ["the node has no estimate", [3_000n, undefined], 3_000n],
  ["the explorer is down", [networkFault, 3_000n], 3_000n],
  ["no source has an estimate", [undefined, undefined], 2_000n],
  ["one of two nodes invents a low fee", [3_000n, 1_000n, 3_500n], 3_000n],
  ["one of two nodes invents a low fee, and the other one is down", [3_000n, 1_000n, networkFault], 3_000n],
  ["one of three nodes invents a low fee", [3_000n, 2_800n, 1_000n, 2_900n], 2_800n],
  [
    "one of three nodes invents a low fee, and another one is down",
    [3_000n, networkFault, 1_000n, 2_900n],
    2_900n,
  ],
  ["one of three nodes and the explorer invent a high fee", [400_000n, 3_000n, 400_000n, 3_000n], 3_000n],
  ["the explorer invents a high fee, and one of two nodes is down", [400_000n, 3_000n, networkFault], 9_000n],
  [
    "the explorer invents a high fee, and one of two nodes has no estimate",
    [400_000n, undefined, 3_000n],
    9_000n,
  ],
  ["one of two nodes invents a high fee, and the explorer is down", [networkFault, 400_000n, 3_000n], 9_000n],
  ["fees rise while one of two nodes is down", [40_000n, 30_000n, networkFault], 40_000n],
  ["fees rise while the explorer is down", [networkFault, 30_000n, 40_000n], 40_000n],
  ["below what nodes relay", [1n, 3_000n], 1_000n],
  ["above the maximum", [900_000n, 900_000n], 500_000n],
])("the lowest estimate counts, within limits: %s", async (_, answers, expected) => {
  expect(await rateOf(...answers)).toBe(expected);
});

test("no estimate sets more than the operator allows", async () => {
  const source = { feeRate: async () => await Promise.resolve(400_000n) };
  const maxRate = maxFeeRate({ bitcoin: { network: "mainnet", maxSatPerVbyte: 100 } });
  expect(await cachedFeeRate(source, [source], () => 0, maxRate)()).toBe(100_000n);
  expect(maxFeeRate({})).toBe(500_000n);
});

test.each<[string, readonly [Estimate, ...Estimate[]]]>([
  ["all sources are down", [networkFault, networkFault]],
  ["the explorer is down, and the node has no estimate", [networkFault, undefined]],
  ["the explorer has no estimate, and the node is down", [undefined, networkFault]],
])("a fault is never taken for a low fee rate: %s", async (_, answers) => {
  await expect(rateOf(...answers)).rejects.toBe(networkFault);
});

test("replacements reach the explorer's rate although the only node with an estimate is too low", async () => {
  const sourceOf = (answer: bigint | undefined) => ({ feeRate: async () => await Promise.resolve(answer) });
  const rate = cachedFeeRate(sourceOf(40_000n), [sourceOf(undefined), sourceOf(1_000n)], () => 0);
  expect([await rate(0), await rate(1), await rate(2), await rate(3)]).toEqual([
    3_000n,
    9_000n,
    27_000n,
    40_000n,
  ]);
});
