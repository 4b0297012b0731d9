import { expect, test } from "vitest";
import { minimumOutput } from "./minimum-output.ts";

test("the guaranteed minimum is the expected amount less slippage, rounded up, and never less for an exact output", () => {
  expect(minimumOutput("EXACT_INPUT", 1_001n, 50)).toBe(996n);
  expect(minimumOutput("EXPECTED_OUTPUT", 10_000n, 100)).toBe(9_900n);
  expect(minimumOutput("EXPECTED_OUTPUT", 10_000n, 0)).toBe(10_000n);
  expect(minimumOutput("EXACT_INPUT", 7n, 10_000)).toBe(0n);
  expect(minimumOutput("EXACT_OUTPUT", 10_000n, 500)).toBe(10_000n);
});
