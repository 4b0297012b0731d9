import { expect, test } from "vitest";
import { aBalanceCurrency as currency } from "../../../../test/fakes/app-balance.ts";
import { refuseTinySwap } from "./minimum-swap.ts";

const unit = { decimals: 6, priceUsd: 2n * 10n ** 18n };

test("refuses a swap on one chain below $0.05, naming the minimum amount", () => {
  expect(() => refuseTinySwap(4n * 10n ** 16n, { unit, currency })).toThrow(
    expect.objectContaining({
      code: "AMOUNT_TOO_LOW",
      message: expect.stringContaining("which is 25000") as string,
    }) as Error,
  );
  expect(() => refuseTinySwap(5n * 10n ** 16n, { unit, currency })).not.toThrow();
});

test("refuses a swap of a token whose price rounds to zero, like any other swap below the minimum", () => {
  expect(() => refuseTinySwap(0n, { unit: { ...unit, priceUsd: 0n }, currency })).toThrow(
    expect.objectContaining({ code: "AMOUNT_TOO_LOW" }) as Error,
  );
});
