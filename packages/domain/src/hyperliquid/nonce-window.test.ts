import fc from "fast-check";
import { expect, test } from "vitest";
import { hyperliquidNonceWindow, isInNonceWindow } from "./nonce-window.ts";

const DAY = 86_400_000n;

test("a nonce is strictly within two days before and one day after a block's time", () => {
  const time = 1_763_761_234_567n;
  for (const outside of [time - 2n * DAY, time + DAY]) expect(isInNonceWindow(outside, time)).toBe(false);
  for (const inside of [time - 2n * DAY + 1n, time, time + DAY - 1n])
    expect(isInNonceWindow(inside, time)).toBe(true);
});

test("the window of a nonce is exactly the times at which it is accepted", () => {
  const near = fc.bigInt({ min: -3n * DAY, max: 3n * DAY });
  fc.assert(
    fc.property(fc.bigInt({ min: 3n * DAY, max: 2n ** 53n }), near, (nonce, offset) => {
      const time = nonce + offset;
      const { opensAt, closesAt } = hyperliquidNonceWindow(nonce);
      expect(time >= opensAt && time <= closesAt).toBe(time - 2n * DAY < nonce && nonce < time + DAY);
    }),
  );
});
