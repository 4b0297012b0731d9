import { expect, test } from "vitest";
import { withHeadroom } from "./price-execution.ts";

test("gives a transaction 30% more gas than it needed in simulation", () => {
  expect(withHeadroom(100_000n)).toBe(130_000n);
});

test("caps the headroom at the maximum gas per transaction", () => {
  const cap = 16_777_216n;
  expect(withHeadroom(13_000_000n)).toBe(cap);
  expect(withHeadroom(cap)).toBe(cap);
  // A chain that ran such a transaction does not have the cap.
  expect(withHeadroom(20_000_000n)).toBe(26_000_000n);
});
