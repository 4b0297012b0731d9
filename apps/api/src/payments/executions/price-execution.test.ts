import { expect, test } from "vitest";
import { withHeadroom } from "./price-execution.ts";

test("a transaction gets 30 % more gas than it was seen to need", () => {
  expect(withHeadroom(100_000n)).toBe(130_000n);
});

test("the room ends where no transaction may have more gas, whatever a block has", () => {
  const most = 16_777_216n;
  expect(withHeadroom(13_000_000n)).toBe(most);
  expect(withHeadroom(most)).toBe(most);
  // A chain that ran such a transaction does not have the cap.
  expect(withHeadroom(20_000_000n)).toBe(26_000_000n);
});
