import fc from "fast-check";
import { expect, test } from "vitest";
import { haircutUsd } from "./collateral-haircut.ts";

test("the haircut of an asset applies to its balance or its holds, whichever is larger", () => {
  const position = (balanceUsd: bigint, heldUsd: bigint, priceId = "ethereum") =>
    ({ priceId, class: "major", balanceUsd, heldUsd }) as const;
  expect(haircutUsd([position(1_000n, 0n)])).toBe(500n);
  expect(haircutUsd([position(0n, 1_000n)])).toBe(500n);
  expect(haircutUsd([position(1_000n, 0n), position(0n, 1_400n)]), "one asset").toBe(700n);
  expect(haircutUsd([position(1_000n, 0n), position(0n, 1_400n, "bitcoin")])).toBe(1_200n);
  expect(haircutUsd([{ ...position(9n, 9n), class: "stable" }])).toBe(0n);
});

test("a claim never raises the haircut", () => {
  const usd = fc.bigInt({ min: 0n, max: 10n ** 24n });
  fc.assert(
    fc.property(usd, usd, usd, (balanceUsd, heldUsd, claimed) => {
      const position = { priceId: "ethereum", class: "minor", heldUsd } as const;
      const remaining = balanceUsd > claimed ? balanceUsd - claimed : 0n;
      expect(haircutUsd([{ ...position, balanceUsd: remaining }])).toBeLessThanOrEqual(
        haircutUsd([{ ...position, balanceUsd }]),
      );
    }),
  );
});
