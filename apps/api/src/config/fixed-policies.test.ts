import { expect, test } from "vitest";
import { fixedEnginePolicy } from "./engine.ts";
import { fixedQuotePolicy } from "./quotes.ts";
import { aggregatorProblems, fixedAggregatorPolicy } from "./swaps.ts";

test("an order outlives its fill deadline by more than it takes to cancel a late fill", () => {
  const cancelSeconds = fixedEnginePolicy.cancelAfterDeadlineMs / 1000;
  expect(fixedQuotePolicy.fillGraceSeconds).toBeGreaterThanOrEqual(2 * cancelSeconds);
});

test("rejects a chain's swap source with the name of the aggregator, once an aggregator is configured", () => {
  const liquidity = (name: string) => ({
    wrappedNative: undefined,
    connectors: [],
    sources: [{ kind: "uniswap-v2" as const, name, factory: `0x${"ab".repeat(20)}` as const, feeBps: 30 }],
  });
  const chains = [
    { name: "one", liquidity: liquidity("pools") },
    { name: "two", liquidity: liquidity(fixedAggregatorPolicy.name) },
    { name: "three", liquidity: undefined },
  ];
  const configured = { swapAggregatorUrl: "https://swaps.test" };
  expect(aggregatorProblems(configured, chains)).toEqual([
    "chain two: swap source aggregator has the name of the aggregator of SWAP_AGGREGATOR_URL; rename it",
  ]);
  expect(aggregatorProblems({ swapAggregatorUrl: undefined }, chains)).toEqual([]);
});
