import { RpcFault } from "@causeway/families";
import { expect, test } from "vitest";
import { keptFeeRate } from "./fee-rate.ts";

const down = new RpcFault({ kind: "network", method: "fee-estimates", reason: "refused" });

/** Satoshis per 1000 virtual bytes, from sources that answer this. */
async function rateOf(...answers: readonly (bigint | undefined | RpcFault)[]): Promise<bigint> {
  const sources = answers.map((answer) => ({
    feeRate: async () => {
      if (answer instanceof RpcFault) throw answer;
      return await Promise.resolve(answer);
    },
  }));
  return await keptFeeRate(sources, () => 0)();
}

test.each<[string, readonly (bigint | undefined | RpcFault)[], bigint]>([
  ["the explorer invents a high fee", [400_000n, 3_000n], 3_000n],
  ["the node invents a high fee", [3_000n, 400_000n], 3_000n],
  ["the node has no estimate", [3_000n, undefined], 3_000n],
  ["the explorer is down", [down, 3_000n], 3_000n],
  ["no source has an estimate", [undefined, undefined], 2_000n],
  ["below what nodes relay", [1n, 3_000n], 1_000n],
  ["above the maximum", [900_000n, 900_000n], 500_000n],
])("the lowest estimate counts, within limits: %s", async (_, answers, expected) => {
  expect(await rateOf(...answers)).toBe(expected);
});

test("without any answer there is no fee rate", async () => {
  await expect(rateOf(down, down)).rejects.toBe(down);
});
