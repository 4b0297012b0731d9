import { expect, test } from "vitest";
import { availableFor, balancePurposes } from "./available-balance.ts";
import { haircutOf } from "./collateral-haircut.ts";

test("holds reduce fast fills and claims but not sponsorship; debts reduce everything; nothing goes below zero", () => {
  const standing = { balanceUsd: 10n, owedUsd: 1n, heldUsd: 4n, haircutUsd: 0n };
  expect(balancePurposes.map((purpose) => [purpose, availableFor(purpose, standing)])).toEqual([
    ["fastFill", 5n],
    ["claim", 5n],
    ["sponsorship", 9n],
  ]);
  for (const purpose of balancePurposes)
    expect(availableFor(purpose, { balanceUsd: 3n, owedUsd: 4n, heldUsd: 0n, haircutUsd: 0n })).toBe(0n);
  expect(availableFor("claim", { balanceUsd: 3n, owedUsd: 0n, heldUsd: 4n, haircutUsd: 0n })).toBe(0n);
});

test("volatile balances back fast fills at a haircut, which claims must leave while there are holds", () => {
  expect(
    (["stable", "major", "minor"] as const).map((currencyClass) => haircutOf(currencyClass, 1_000n)),
  ).toEqual([0n, 500n, 700n]);
  const volatile = { balanceUsd: 1_000n, owedUsd: 0n, heldUsd: 0n, haircutUsd: 500n };
  expect(balancePurposes.map((purpose) => availableFor(purpose, volatile))).toEqual([500n, 1_000n, 1_000n]);
  const withHold = { ...volatile, heldUsd: 400n };
  expect(balancePurposes.map((purpose) => availableFor(purpose, withHold))).toEqual([100n, 100n, 1_000n]);
});
