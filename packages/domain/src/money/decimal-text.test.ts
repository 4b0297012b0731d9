import { expect, test } from "vitest";
import { formatPercent } from "./decimal-text.ts";

test("rounds a percentage to two decimals, half away from zero, and returns 0.00 if the whole is zero", () => {
  expect(formatPercent(-13_698n, 10_000_000n)).toBe("-0.14");
  expect(formatPercent(-19_998n, 10_000_000n)).toBe("-0.20");
  expect(formatPercent(-862n, 10_000_000n)).toBe("-0.01");
  expect(formatPercent(499n, 10_000_000n)).toBe("0.00");
  expect(formatPercent(500n, 10_000_000n)).toBe("0.01");
  expect(formatPercent(1n, 0n)).toBe("0.00");
});
