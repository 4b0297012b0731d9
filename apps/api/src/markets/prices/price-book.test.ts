import type { Currency } from "@causeway/domain";
import { ServiceError } from "@causeway/domain";
import { expect, test } from "vitest";
import type { UsdPrice } from "./price-source.port.ts";
import { createFixedPrices } from "./fixed.adapter.ts";
import { createPriceBook } from "./price-book.adapter.ts";

const eth = { priceId: "ethereum" } as Currency;
const rare = { priceId: "rare" } as Currency;

/** A book whose source the test answers manually. */
function aBook(options: { readonly maxMoveBps?: number } = {}) {
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
    ...options,
    onFault: (error) => faults.push(error),
  });
  const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
  return {
    book,
    fetches,
    faults,
    nextTurn: nextTurn,
    now: () => nowMs,
    wait: (ms: number) => {
      nowMs += ms;
    },
    /** Answers the newest fetch with a price of ETH. */
    answer: async (usd: bigint, asOfMs = nowMs) => {
      fetches.at(-1)!.resolve([["ethereum", { usd, asOfMs }]]);
      await nextTurn();
    },
  };
}

test("waits for the first price in one shared fetch, then answers from memory", async () => {
  const { book, fetches, answer } = aBook();
  const waiting = Promise.all([book.usd(eth), book.usd(eth), book.usd(eth)]);
  await answer(2_000n);
  expect(await waiting).toEqual([2_000n, 2_000n, 2_000n]);
  expect(fetches).toHaveLength(1);
  expect(book.usd(eth)).toBe(2_000n);
});

test("returns a stale price immediately while one background fetch replaces it", async () => {
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

test("an expired price is not used: the call waits for a new one", async () => {
  const { book, answer, wait } = aBook();
  const first = book.usd(eth);
  await answer(2_000n);
  await first;
  wait(60_001);
  const next = book.usd(eth);
  expect(next).toBeInstanceOf(Promise);
  await answer(1_700n);
  expect(await next).toBe(1_700n);
});

test("a price fetched three refreshes ago is not served, regardless of its source timestamp: one fetch is awaited", async () => {
  const { book, fetches, answer, wait } = aBook();
  const first = book.usd(eth);
  await answer(2_000n);
  await first;
  wait(30_000);
  expect(book.usd(eth)).toBe(2_000n);
  expect(fetches).toHaveLength(2);
  wait(1);
  const waiting = Promise.all([book.usd(eth), Promise.resolve(book.usd(eth))]);
  expect(book.usd(eth)).toBeInstanceOf(Promise);
  // The running background fetch is the one awaited.
  expect(fetches).toHaveLength(2);
  await answer(2_100n);
  expect(await waiting).toEqual([2_100n, 2_100n]);
});

test("a price that its source no longer returns expires", async () => {
  const { book, fetches, nextTurn: settled, answer, wait } = aBook();
  const first = book.usd(eth);
  await answer(2_000n);
  await first;
  wait(30_001);
  const refused = expect(book.usd(eth)).rejects.toMatchObject({ code: "PRICE_FETCH_FAILED" });
  fetches.at(-1)!.resolve([]);
  await settled();
  await refused;
});

test("refuses an unknown price immediately and limits how often it is refetched", async () => {
  const { book, fetches, answer, wait } = aBook();
  const first = book.usd(eth);
  await answer(2_000n);
  await first;
  const refused = expect.objectContaining({ code: "PRICE_FETCH_FAILED" });
  expect(() => book.usd(rare)).toThrow(refused);
  wait(10_000);
  expect(() => book.usd(rare)).toThrow(refused);
  expect(fetches).toHaveLength(1);
  wait(1);
  expect(() => book.usd(rare)).toThrow(refused);
  expect(fetches).toHaveLength(2);
  fetches.at(-1)!.resolve([["rare", { usd: 7n, asOfMs: 1_010_001 }]]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(book.usd(rare)).toBe(7n);
});

test("a price that was unknown long ago is fetched again and awaited", async () => {
  const { book, fetches, answer, wait } = aBook();
  const first = book.usd(eth);
  await answer(2_000n);
  await first;
  wait(30_001);
  const next = book.usd(rare);
  expect(next).toBeInstanceOf(Promise);
  fetches.at(-1)!.resolve([["rare", { usd: 7n, asOfMs: 1_030_001 }]]);
  expect(await next).toBe(7n);
});

test("a price in constant use is never awaited and never old", async () => {
  const { book, answer, wait, fetches } = aBook();
  const first = book.usd(eth);
  await answer(2_000n);
  await first;
  for (let refresh = 1n; refresh <= 10n; refresh++) {
    wait(10_001);
    expect(book.usd(eth)).toBe(2_000n + refresh - 1n);
    await answer(2_000n + refresh);
  }
  expect(fetches).toHaveLength(11);
});

/** A book that holds 2,000 and just received another price. */
async function aBookAfterJump(usd: bigint, options: { readonly maxMoveBps?: number } = {}) {
  const world = aBook(options);
  const first = world.book.usd(eth);
  await world.answer(2_000n);
  await first;
  world.wait(10_001);
  void world.book.usd(eth);
  await world.answer(usd);
  /** Asks again after `ms`, answers that fetch, and returns what the caller got. */
  const askAgain = async (next: bigint, asOfMs?: number, ms = 1_000): Promise<unknown> => {
    world.wait(ms);
    const asked = Promise.resolve(world.book.usd(eth)).catch((error: unknown) => error);
    await world.answer(next, asOfMs);
    return await asked;
  };
  return { ...world, askAgain };
}

test.each([2_400n, 1_600n])("a move of 20 % to %s is accepted at once", async (usd) => {
  const { book, faults } = await aBookAfterJump(usd);
  expect(book.usd(eth)).toBe(usd);
  expect(faults).toEqual([]);
});

test.each([2_401n, 1_599n])(
  "a larger move to %s is reported, and neither it nor the old price is served",
  async (usd) => {
    const { book, faults, fetches } = await aBookAfterJump(usd);
    expect(faults).toMatchObject([{ code: "PRICE_FETCH_FAILED", facts: { data: { priceId: "ethereum" } } }]);
    await expect(book.usd(eth)).rejects.toMatchObject({ code: "PRICE_FETCH_FAILED" });
    // Fetching is paused, so that the next reading is a new one.
    expect(fetches).toHaveLength(2);
  },
);

test("a larger move is accepted when a second reading is near the first", async () => {
  const { book, askAgain } = await aBookAfterJump(4_000n);
  expect(await askAgain(4_800n)).toBe(4_800n);
  expect(book.usd(eth)).toBe(4_800n);
});

test("a repeated reading does not confirm a move", async () => {
  const { askAgain, now, faults } = await aBookAfterJump(4_000n);
  const readAtMs = now();
  expect(await askAgain(4_000n, readAtMs)).toMatchObject({ code: "PRICE_FETCH_FAILED" });
  expect(await askAgain(2_000n, readAtMs - 10_000)).toMatchObject({ code: "PRICE_FETCH_FAILED" });
  expect(faults).toHaveLength(1);
  expect(await askAgain(4_000n)).toBe(4_000n);
});

test("a second reading near the old price shows that the first was wrong", async () => {
  const { book, askAgain, fetches } = await aBookAfterJump(4_000n);
  expect(await askAgain(2_010n)).toBe(2_010n);
  expect(book.usd(eth)).toBe(2_010n);
  expect(fetches).toHaveLength(3);
});

test("a second reading that is near neither price needs a confirmation of its own", async () => {
  const { askAgain, faults } = await aBookAfterJump(4_000n);
  expect(await askAgain(8_000n)).toMatchObject({ code: "PRICE_FETCH_FAILED" });
  expect(await askAgain(4_000n)).toMatchObject({ code: "PRICE_FETCH_FAILED" });
  expect(faults).toHaveLength(3);
  expect(await askAgain(4_100n)).toBe(4_100n);
});

test("lastUsd is the highest price in memory, including expired and unconfirmed ones", async () => {
  const { book, wait } = await aBookAfterJump(4_000n);
  expect(book.lastUsd(eth)).toBe(4_000n);
  expect(book.lastUsd({ priceId: "unheard-of" })).toBeUndefined();
  wait(3_600_000);
  expect(book.lastUsd(eth)).toBe(4_000n);
});

test("the limit of a move is configurable", async () => {
  const { book } = await aBookAfterJump(2_101n, { maxMoveBps: 500 });
  await expect(book.usd(eth)).rejects.toMatchObject({ code: "PRICE_FETCH_FAILED" });
});

test("a source that repeats an old price does not make it newer", async () => {
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
  await answer(2_000n);
});

test("fails with PRICE_FETCH_FAILED without a price, and pauses fetching", async () => {
  const { book, fetches, nextTurn: settled, wait } = aBook();
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

test("a failed background fetch is reported, and the cached price serves until it expires", async () => {
  const { book, fetches, faults, answer, nextTurn: settled, wait } = aBook();
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

test("a price that the source does not know does not affect others", async () => {
  const { book, answer } = aBook();
  const [known, unknown] = [book.usd(eth), Promise.resolve(book.usd(rare)).catch((error: unknown) => error)];
  await answer(2_000n);
  expect(await known).toBe(2_000n);
  expect(await unknown).toMatchObject({ code: "PRICE_FETCH_FAILED", facts: { data: { priceId: "rare" } } });
});

test("fixed prices are always current", async () => {
  let nowMs = 5;
  const source = createFixedPrices(new Map([["ethereum", 7n]]), { nowMs: () => nowMs });
  nowMs = 9;
  expect(await source.fetch(["ethereum", "rare"], new AbortController().signal)).toEqual(
    new Map([["ethereum", { usd: 7n, asOfMs: 9 }]]),
  );
});

test("a reading has the age of the price by its source and its recent volatility", async () => {
  const { book, answer, wait, now } = aBook();
  const first = book.usd(eth);
  await answer(10_000n, now() - 20_000);
  await first;
  expect(book.reading(eth)).toEqual({ ageMs: 20_000, volatilityBps: 0 });
  wait(60_000);
  const refreshed = book.refresh();
  // 1 % in 60 s.
  await answer(10_100n, now() - 20_000);
  await refreshed;
  expect(book.reading(eth)?.volatilityBps).toBeCloseTo(100);
  wait(15 * 60_000);
  const calm = book.refresh();
  await answer(10_100n, now() - 20_000);
  await calm;
  // Half of the variance has decayed.
  expect(book.reading(eth)?.volatilityBps).toBeCloseTo(100 / Math.SQRT2);
});

test("configured prices never age", async () => {
  let nowMs = 0;
  const clock = { nowMs: () => nowMs };
  const book = createPriceBook({
    source: createFixedPrices(new Map([["ethereum", 1n]]), clock),
    clock,
    priceIds: ["ethereum"],
    refreshMs: 10_000,
    maxAgeMs: 60_000,
    retryMs: 1_000,
    onFault: () => {},
  });
  await book.refresh();
  nowMs = 30_000;
  expect([book.reading(eth), book.agesMs().get("ethereum")]).toEqual([undefined, 0]);
});
