import { expect, test } from "vitest";
import type { PriceSource, UsdPrice } from "./price-source.port.ts";
import { createConfirmedPrices } from "./confirmed-prices.adapter.ts";

const aSource = (name: string, prices: Record<string, bigint>): PriceSource => ({
  name,
  fetch: async () => new Map(Object.entries(prices).map(([id, usd]) => [id, { usd, asOfMs: 1 }])),
});
const disputedOf = (prices: ReadonlyMap<string, UsdPrice>) =>
  [...prices].filter(([, price]) => price.isDisputed === true).map(([id]) => id);
const IDS = ["ethereum", "usd-coin", "rare"];
const maxBps = (id: string) => (id === "usd-coin" ? 50 : 150);
const { signal } = new AbortController();

test("disputes a price that the second source does not confirm within the limit", async () => {
  const primary = aSource("first", { ethereum: 10_150n, "usd-coin": 10_000n, rare: 5n });
  const second = aSource("second", { ethereum: 10_000n, "usd-coin": 9_949n });
  const prices = await createConfirmedPrices(primary, second, maxBps, 60_000, () => {}).fetch(IDS, signal);
  expect(prices.get("ethereum")?.usd).toBe(10_150n);
  expect(disputedOf(prices)).toEqual(["usd-coin", "rare"]);
});

test("disputes every price while the second source is down, and reports its failure", async () => {
  const faults: unknown[] = [];
  const down: PriceSource = { name: "second", fetch: async () => Promise.reject(new Error("down")) };
  const primary = aSource("first", { ethereum: 10_000n });
  const prices = await createConfirmedPrices(primary, down, maxBps, 60_000, (error) =>
    faults.push(error),
  ).fetch(IDS, signal);
  expect([disputedOf(prices), faults.length]).toEqual([["ethereum"], 1]);
});

test("disputes a price that only an old price of the second source confirms", async () => {
  const sourceAsOf = (asOfMs: number): PriceSource => ({
    name: `as of ${asOfMs}`,
    fetch: async () => new Map([["ethereum", { usd: 10_000n, asOfMs }]]),
  });
  const disputed = async (primaryMs: number, secondMs: number) =>
    disputedOf(
      await createConfirmedPrices(
        sourceAsOf(primaryMs),
        sourceAsOf(secondMs),
        maxBps,
        60_000,
        () => {},
      ).fetch(IDS, signal),
    );
  expect(await disputed(100_000, 40_000)).toEqual([]);
  expect(await disputed(100_001, 40_000)).toEqual(["ethereum"]);
});
