import { expect, test } from "vitest";
import { confirmationsFor } from "./confirmations.ts";

test("a deposit needs the confirmations of the first tier above its value", () => {
  const tiers = [
    { belowUsd: 100n, confirmations: 0 },
    { belowUsd: 1_000n, confirmations: 1 },
    { belowUsd: undefined, confirmations: 12 },
  ];
  expect([0n, 99n, 100n, 999n, 1_000n].map((usd) => confirmationsFor(tiers, usd))).toEqual([0, 0, 1, 1, 12]);
  expect(() => confirmationsFor([{ belowUsd: 1n, confirmations: 1 }], 5n)).toThrow(RangeError);
});
