import { expect, test } from "vitest";
import { valueOfCalls, minRemainder } from "./output-calls.ts";

test("the value of calls is the sum of their values", () => {
  expect(valueOfCalls([])).toBe(0n);
  expect(valueOfCalls([{ value: 3n }, { value: 0n }, { value: 4n }])).toBe(7n);
});

test.each([
  ["calls that spend nothing must leave the whole output", 1_000n, 1_000n, 500, 1_000n],
  ["calls may spend more than in the dry run by the slippage, rounded up", 1_000n, 399n, 100, 392n],
  ["without slippage, calls must leave as much as in the dry run", 1_000n, 400n, 0, 400n],
  ["the minimum is never negative", 1_000n, 5n, 100, 0n],
  ["calls that add to the output must leave as much as in the dry run", 1_000n, 1_500n, 100, 1_500n],
])("%s", (_what, received, remainder, slippageBps, minimum) => {
  expect(minRemainder(received, remainder, slippageBps)).toBe(minimum);
});
