import type { Currency } from "@causeway/domain";
import { ServiceError } from "@causeway/domain";
import { expect, test } from "vitest";
import type { UsdPrice } from "../../ports/price-source.ts";
import { createFixedPrices } from "./fixed.ts";
import { createPriceBook } from "./price-book.ts";

const eth = { priceId: "ethereum" } as Currency;
const rare = { priceId: "rare" } as Currency;

/** A book over a source that the test answers by hand. */
function aBook() {
  let nowMs = 1_000_000;
  const fetches: { resolve(prices: [string, UsdPrice][]): void; reject(error: Error): void }[] = [];
  const faults: unknown[] = [];
  const book = createPriceBook({
    source: {
      name: "by hand",
      fetch: () =>
        new Promise((resolve, reject) =>
          fetches.push({ resolve: (prices) => resolve(new Map(prices)), reject }),
        ),
    },
    clock: { nowMs: () => nowMs },
    priceIds: ["ethereum", "rare"],
    refreshMs: 10_000,
    maxAgeMs: 60_000,
    retryMs: 1_000,
    onFault: (error) => faults.push(error),
  });
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return {
    book,
    fetches,
    faults,
    settled,
    now: () => nowMs,
    wait: (ms: number) => {
      nowMs += ms;
    },
    /** Answers the newest fetch with a price of ETH. */
    answer: async (usd: bigint, asOfMs = nowMs) => {
      fetches.at(-1)!.resolve([["ethereum", { usd, asOfMs }]]);
      await settled();
    },
  };
}

test("the first price is waited for, by many in one fetch, and then answered at once", async () => {
  const { book, fetches, answer } = aBook();
  const waiting = Promise.all([book.usd(eth), book.usd(eth), book.usd(eth)]);
  await answer(2_000n);
  expect(await waiting).toEqual([2_000n, 2_000n, 2_000n]);
  expect(fetches).toHaveLength(1);
  expect(book.usd(eth)).toBe(2_000n);
});

test("a stale price is answered at once while one fetch in the background replaces it", async () => {
  const { book, fetches, answer, wait } = aBook();
  const first = book.usd(eth);
  await answer(2_000n);
  await first;
  wait(10_001);
  expect([book.usd(eth), book.usd(eth)]).toEqual([2_000n, 2_000n]);
  expect(fetches).toHaveLength(2);
  await answer(2_100n);
  expect(book.usd(eth)).toBe(2_100n);
});

test("an expired price is not used: the answer waits for a new one", async () => {
  const { book, answer, wait } = aBook();
  const first = book.usd(eth);
  await answer(2_000n);
  await first;
  wait(60_001);
  const next = book.usd(eth);
  expect(next).toBeInstanceOf(Promise);
  await answer(1_500n);
  expect(await next).toBe(1_500n);
});

test("a source that repeats an old price does not make it younger", async () => {
  const { book, answer, now } = aBook();
  const refused = expect(book.usd(eth)).rejects.toMatchObject({ code: "PRICE_FETCH_FAILED" });
  await answer(2_000n, now() - 60_001);
  await refused;
});

test("a price from the future is as old as its arrival", async () => {
  const { book, answer, wait, now } = aBook();
  const first = book.usd(eth);
  await answer(2_000n, now() + 3_600_000);
  await first;
  wait(60_001);
  expect(book.usd(eth)).toBeInstanceOf(Promise);
  await answer(1n);
});

test("without a price there is PRICE_FETCH_FAILED, and the source is left alone for a moment", async () => {
  const { book, fetches, settled, wait } = aBook();
  const first = book.usd(eth);
  fetches[0]!.reject(new Error("down"));
  const refusal: unknown = await Promise.resolve(first).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(ServiceError);
  expect(refusal).toMatchObject({ code: "PRICE_FETCH_FAILED", retryable: true });
  await expect(book.usd(eth)).rejects.toMatchObject({ code: "PRICE_FETCH_FAILED" });
  expect(fetches).toHaveLength(1);
  wait(1_000);
  const again = Promise.resolve(book.usd(eth)).catch(() => undefined);
  expect(fetches).toHaveLength(2);
  fetches[1]!.reject(new Error("still down"));
  await again;
  await settled();
});

test("a failed fetch in the background is told, and the price in memory serves until it expires", async () => {
  const { book, fetches, faults, answer, settled, wait } = aBook();
  const first = book.usd(eth);
  await answer(2_000n);
  await first;
  wait(10_001);
  expect(book.usd(eth)).toBe(2_000n);
  fetches[1]!.reject(new Error("down"));
  await settled();
  expect(faults).toHaveLength(1);
  expect(book.usd(eth)).toBe(2_000n);
  expect(fetches).toHaveLength(2);
});

test("a price that the source does not know is missing alone", async () => {
  const { book, answer } = aBook();
  const [known, unknown] = [book.usd(eth), Promise.resolve(book.usd(rare)).catch((error: unknown) => error)];
  await answer(2_000n);
  expect(await known).toBe(2_000n);
  expect(await unknown).toMatchObject({ code: "PRICE_FETCH_FAILED", facts: { data: { priceId: "rare" } } });
});

test("fixed prices are always as of now", async () => {
  let nowMs = 5;
  const source = createFixedPrices(new Map([["ethereum", 7n]]), { nowMs: () => nowMs });
  nowMs = 9;
  expect(await source.fetch(["ethereum", "rare"], new AbortController().signal)).toEqual(
    new Map([["ethereum", { usd: 7n, asOfMs: 9 }]]),
  );
});
