import fc from "fast-check";
import { expect, test } from "vitest";
import { BPS } from "../money/bps.ts";
import { ONE_USD } from "../money/usd.ts";
import { isSaleBeyondHonor, salePrice } from "./sale-price.ts";

test("adds the fee to the price, rounded up", () => {
  expect(salePrice(2_500n * ONE_USD, 26)).toBe((25_065n * ONE_USD) / 10n);
  expect(salePrice(1n, 1)).toBe(2n);
  expect(salePrice(2_500n * ONE_USD, 0)).toBe(2_500n * ONE_USD);
});

const usd = fc.bigInt({ min: 1n, max: 10n ** 24n });
const bps = fc.integer({ min: 0, max: 1_000 });

test("a sale within the tolerance pays today's price, including its fee", () => {
  fc.assert(
    fc.property(usd, usd, usd, usd, bps, (agreedPriceUsd, reservedUsd, worthUsd, salePriceUsd, honorBps) => {
      const isBeyond = isSaleBeyondHonor(agreedPriceUsd, { reservedUsd, worthUsd, salePriceUsd, honorBps });
      // What the reserved part buys is worth no more than the part now, plus the tolerance.
      const soldUsd = reservedUsd * salePriceUsd * BPS;
      const paidUsd = agreedPriceUsd * worthUsd * (BPS + BigInt(honorBps));
      expect(isBeyond).toBe(soldUsd > paidUsd);
      // At the agreed prices, a sale is always within the tolerance.
      const unchanged = { reservedUsd, worthUsd: reservedUsd, salePriceUsd: agreedPriceUsd, honorBps };
      expect(isSaleBeyondHonor(agreedPriceUsd, unchanged)).toBe(false);
    }),
  );
});

test("a paying token that lost value counts like a native token that gained value", () => {
  const isBeyondAt = (worthUsd: bigint, salePriceUsd: bigint) =>
    isSaleBeyondHonor(1_000n, { reservedUsd: 10_000n, worthUsd, salePriceUsd, honorBps: 10 });
  expect(isBeyondAt(10_000n, 1_001n)).toBe(false);
  expect(isBeyondAt(10_000n, 1_002n)).toBe(true);
  expect(isBeyondAt(9_989n, 1_000n)).toBe(true);
  // Both changed by the same factor.
  expect(isBeyondAt(20_000n, 2_000n)).toBe(false);
});
