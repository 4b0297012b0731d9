import type { Currency } from "@causeway/domain";
import { expect, test } from "vitest";
import type { PriceBook } from "../../apps/api/src/markets/prices/price-source.port.ts";

/**
 * What every price book must guarantee.
 * @param make creates a book that knows only `ethereum`, at 2500 USD
 */
export function priceBookContract(name: string, make: () => Promise<PriceBook>): void {
  const currency = (priceId: string): Currency => ({ priceId }) as unknown as Currency;

  test(`${name}: a price is USD per whole unit, with 18 decimals`, async () => {
    const book = await make();
    expect(await book.usd(currency("ethereum"))).toBe(2_500n * 10n ** 18n);
  });

  test(`${name}: a known price is answered without waiting`, async () => {
    const book = await make();
    expect(book.usd(currency("ethereum"))).toBeTypeOf("bigint");
  });

  test(`${name}: an unknown price fails with PRICE_FETCH_FAILED`, async () => {
    const book = await make();
    await expect((async () => await book.usd(currency("unknown-price")))()).rejects.toMatchObject({
      code: "PRICE_FETCH_FAILED",
    });
  });
}
