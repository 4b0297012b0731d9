import type { Currency, PriceReading } from "@causeway/domain";
import { expect, test } from "vitest";
import { createMarket, type MarketSources } from "./market.ts";

const token = { chainId: 1, address: "0x01", decimals: 18, priceId: "token" } as unknown as Currency;

function marketOf(prices: MarketSources["prices"]) {
  const liquidity = {} as MarketSources["liquidity"];
  return createMarket({ prices, recipientCodes: { hasCode: () => false }, liquidity });
}

test("a price that is refreshed while the quote waits keeps its value and its age", async () => {
  let [usd, ageMs] = [100n, 50_000];
  const reading = (): PriceReading => ({ ageMs, volatilityBps: 3 });
  const market = marketOf({ usd: () => usd, reading });
  expect(await market.decide(() => market.usd(token))).toBe(100n);
  [usd, ageMs] = [120n, 1_000];
  const second = await market.decide(() => ({ usd: market.usd(token), reading: market.reading(token) }));
  expect(second).toMatchObject({ usd: 100n, reading: { volatilityBps: 3 } });
  expect(second.reading?.ageMs).toBeGreaterThanOrEqual(50_000);
});

test("the reading of a fetched price is from the moment when the price arrived", async () => {
  let ageMs = 90_000;
  const fetched = async (): Promise<bigint> => {
    await Promise.resolve();
    ageMs = 2_000;
    return 7n;
  };
  const market = marketOf({ usd: fetched, reading: () => ({ ageMs, volatilityBps: 0 }) });
  const ages = await market.decide(() => market.reading(token)?.ageMs);
  expect(ages).toBeLessThan(60_000);
});

test("a dispute about a price counts even if the quote read the price before", async () => {
  const book: { reading: PriceReading } = { reading: { ageMs: 0, volatilityBps: 0 } };
  const market = marketOf({ usd: () => 1n, reading: () => book.reading });
  expect(await market.decide(() => market.reading(token)?.disputedBy)).toBeUndefined();
  book.reading = { ...book.reading, disputedBy: "pool" };
  expect(await market.decide(() => market.reading(token)?.disputedBy)).toBe("pool");
});
