import fc from "fast-check";
import { expect, test } from "vitest";
import { proportionalFees } from "./fee-rounding.ts";

const bps = fc.record({
  serviceBps: fc.integer({ min: 0, max: 5_000 }),
  appBps: fc.integer({ min: 0, max: 4_900 }),
});

test("rounds the sum of proportional fees up, and the app's part down", () => {
  expect(proportionalFees(1n, { serviceBps: 6, appBps: 10 })).toEqual({ service: 1n, app: 0n });
  expect(proportionalFees(10_000n, { serviceBps: 6, appBps: 10 })).toEqual({ service: 6n, app: 10n });
  expect(proportionalFees(10_001n, { serviceBps: 6, appBps: 10 })).toEqual({ service: 7n, app: 10n });
  expect(proportionalFees(1n, { serviceBps: 0, appBps: 0 })).toEqual({ service: 0n, app: 0n });
});

test("one more unit of input raises the sum by at most one unit", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 30n }), bps, (input, fees) => {
      const sumOf = ({ service, app }: ReturnType<typeof proportionalFees>): bigint => service + app;
      const rise = sumOf(proportionalFees(input + 1n, fees)) - sumOf(proportionalFees(input, fees));
      expect([0n, 1n]).toContain(rise);
    }),
  );
});
