import { NATIVE_CURRENCY, ServiceError } from "@causeway/domain";
import type { QuoteInput } from "@causeway/wire";
import { expect, test } from "vitest";
import { aQuoteInput, DESTINATION, quoteWorld, usdcOn } from "../../../../../test/fakes/quote-world.ts";
import { createPriceBook } from "./price-book.adapter.ts";
import type { PriceBook } from "./price-source.port.ts";
import { createQuote } from "../../quotes/create-quote.ts";

// A day of prices, and a trader who knows them before the price source does.

const STEP_MS = 15_000;
const DAY_STEPS = (24 * 3600 * 1000) / STEP_MS;
const START_MS = 1_700_000_000_000;
const TRADE_USD = 10_000;

/** Uniform numbers in [0, 1), the same in every run. */
function uniforms(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/**
 * ETH in USD every 15 seconds: 8 bps a minute, as in a calm year, and five times as much for one hour in six.
 */
function dayOfPrices(seed: number): readonly number[] {
  const next = uniforms(seed);
  const prices = [2_000];
  for (let step = 1; step <= DAY_STEPS; step++) {
    const isWild = Math.floor((step * STEP_MS) / 3_600_000) % 6 === 5;
    const deviation = ((isWild ? 40 : 8) / 10_000) * Math.sqrt(STEP_MS / 60_000);
    const normal = Array.from({ length: 12 }, next).reduce((sum, uniform) => sum + uniform, -6);
    prices.push((prices.at(-1) ?? 0) * (1 + deviation * normal));
  }
  return prices;
}

const usdOf = (price: number): bigint => BigInt(Math.round(price * 1e6)) * 10n ** 12n;

interface Day {
  readonly trades: number;
  /** The trader's profit from all trades, at market prices. */
  readonly wonUsd: number;
  /** The same for a trader who makes only the profitable ones. */
  readonly selectedUsd: number;
}

/**
 * Asks for a quote in both directions every minute.
 * @param lagMs how far the price source is behind the market
 */
async function tradeForADay(
  prices: readonly number[],
  lagMs: number,
  change: (book: PriceBook) => PriceBook = (book) => book,
): Promise<Day> {
  let nowMs = START_MS;
  const clock = { nowMs: () => nowMs };
  const priceAt = (timeMs: number): number =>
    prices[Math.max(0, Math.floor((timeMs - START_MS) / STEP_MS))] ?? 0;
  const book = createPriceBook({
    source: {
      name: "behind",
      fetch: async () => {
        const asOfMs = nowMs - lagMs;
        return new Map([
          ["ethereum", { usd: usdOf(priceAt(asOfMs)), asOfMs }],
          ["usd-coin", { usd: 10n ** 18n, asOfMs }],
        ]);
      },
    },
    clock,
    priceIds: ["ethereum", "usd-coin"],
    refreshMs: STEP_MS,
    maxAgeMs: 300_000,
    retryMs: 1_000,
    onFault: (error) => {
      throw error;
    },
  });
  const services = { ...quoteWorld(), clock, prices: change(book) };
  const outputOf = async (input: Partial<QuoteInput>): Promise<number | undefined> => {
    try {
      const { details } = await createQuote(services, aQuoteInput(input));
      return Number(details.currencyOut.amount);
    } catch (error) {
      if (error instanceof ServiceError && error.code === "PRICE_FETCH_FAILED") return undefined;
      throw error;
    }
  };
  let [wonUsd, selectedUsd, trades] = [0, 0, 0];
  for (let step = 0; step < DAY_STEPS; step++, nowMs += STEP_MS) {
    await book.refresh();
    if (step % 4 !== 0) continue;
    const market = priceAt(nowMs);
    const bought = await outputOf({ amount: `${TRADE_USD}000000` });
    const sold = await outputOf({
      originCurrency: NATIVE_CURRENCY,
      destinationCurrency: usdcOn(DESTINATION),
      amount: BigInt(Math.round((TRADE_USD / market) * 1e18)).toString(),
    });
    if (bought === undefined || sold === undefined) continue;
    const won = Math.max((bought / 1e18) * market, sold / 1e6) - TRADE_USD;
    wonUsd += won;
    selectedUsd += Math.max(0, won);
    trades++;
  }
  return { wonUsd, selectedUsd, trades };
}

const day = dayOfPrices(1);
const ageless = (book: PriceBook): PriceBook => ({ usd: (currency) => book.usd(currency) });

test.each([15_000, 30_000, 75_000])(
  "a trader who knows prices %i ms before the service and always takes the better direction loses money",
  async (lagMs) => {
    const { trades, wonUsd, selectedUsd } = await tradeForADay(day, lagMs);
    expect(trades).toBe(DAY_STEPS / 4);
    expect(wonUsd).toBeLessThan(0);
    // Trading only in the rare minutes in which the price moved further than the spread gains almost nothing.
    expect(selectedUsd).toBeLessThan(trades * TRADE_USD * 0.000_01);
  },
);

test("without the spread for the age of prices, the same trader makes a profit", async () => {
  const { wonUsd } = await tradeForADay(day, 75_000, ageless);
  expect(wonUsd).toBeGreaterThan(1_000);
});

test("refuses quotes between two assets when prices are five minutes behind the market", async () => {
  expect(await tradeForADay(day, 300_000)).toEqual({ trades: 0, wonUsd: 0, selectedUsd: 0 });
});
