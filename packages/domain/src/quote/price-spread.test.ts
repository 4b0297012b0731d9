import fc from "fast-check";
import { expect, test } from "vitest";
import { pairSpread, priceDoubt, type PairSpread } from "./price-spread.ts";

const usdc = { id: "usdc", priceId: "usd-coin", class: "stable" } as const;
const usdt = { id: "usdt", priceId: "tether", class: "stable" } as const;
const eth = { id: "eth", priceId: "ethereum", class: "major" } as const;
const weth = { id: "weth", priceId: "ethereum", class: "major" } as const;
const MAX_AGE_MS = 90_000;
const aged = (ageMs: number, volatilityBps = 0) => ({ ageMs, volatilityBps });

test("one asset on two chains, or wrapped, needs no spread regardless of the age of its price", () => {
  for (const secondCurrency of [eth, weth])
    expect(
      pairSpread(
        [
          { currency: eth, reading: { ...aged(3_600_000), disputedBy: "pool" } },
          { currency: secondCurrency, reading: aged(3_600_000) },
        ],
        MAX_AGE_MS,
      ),
    ).toEqual({ kind: "spread", bps: 0 });
});

test("charges two standard deviations over the age of a volatile price", () => {
  const spread = (ageMs: number, volatilityBps = 0) =>
    pairSpread(
      [
        { currency: usdc, reading: aged(0) },
        { currency: eth, reading: aged(ageMs, volatilityBps) },
      ],
      MAX_AGE_MS,
    );
  expect(spread(0)).toEqual({ kind: "spread", bps: 0 });
  expect(spread(15_000)).toEqual({ kind: "spread", bps: 8 });
  expect(spread(60_000)).toEqual({ kind: "spread", bps: 16 });
  expect(spread(60_000, 25)).toEqual({ kind: "spread", bps: 50 });
});

test("refuses a pair whose spread would exceed a tenth, and names the asset that moves most", () => {
  const spread = (volatilityBps: number) =>
    pairSpread(
      [
        { currency: usdc, reading: aged(60_000) },
        { currency: eth, reading: aged(60_000, volatilityBps) },
      ],
      MAX_AGE_MS,
    );
  expect(spread(500)).toEqual({ kind: "spread", bps: 1_000 });
  expect(spread(501)).toEqual({ kind: "tooVolatile", priceId: "ethereum", spreadBps: 1_002 });
});

test("refuses a volatile price beyond the age limit, but not a stablecoin's", () => {
  const pair = (ethAgeMs: number, usdcAgeMs: number) =>
    pairSpread(
      [
        { currency: eth, reading: aged(ethAgeMs) },
        { currency: usdc, reading: aged(usdcAgeMs) },
      ],
      MAX_AGE_MS,
    );
  expect(pair(90_001, 0)).toEqual({ kind: "tooOld", priceId: "ethereum", ageMs: 90_001 });
  expect(pair(0, 300_000)).toEqual({ kind: "spread", bps: 0 });
});

test("refuses two stablecoins if either price is disputed", () => {
  const disputed = { ...aged(0), disputedBy: "pool" } as const;
  expect(
    pairSpread(
      [
        { currency: usdc, reading: disputed },
        { currency: usdt, reading: aged(0) },
      ],
      MAX_AGE_MS,
    ),
  ).toEqual({ kind: "disputed", priceId: "usd-coin", by: "pool" });
});

test("a single price is trusted unless it is disputed, or volatile and too old", () => {
  expect(priceDoubt(eth, aged(MAX_AGE_MS), MAX_AGE_MS)).toBeUndefined();
  expect(priceDoubt(usdc, aged(10 * MAX_AGE_MS), MAX_AGE_MS)).toBeUndefined();
  expect(priceDoubt(eth, aged(MAX_AGE_MS + 1), MAX_AGE_MS)).toMatchObject({ kind: "tooOld" });
  const disputedBy = "second source" as const;
  expect(priceDoubt(usdc, { ...aged(0), disputedBy }, MAX_AGE_MS)).toMatchObject({ kind: "disputed" });
});

const bpsOf = (spread: PairSpread): number => {
  if (spread.kind === "spread") return spread.bps;
  if (spread.kind === "tooVolatile") return spread.spreadBps;
  throw new Error("expected a spread");
};

test("the spread never shrinks as a price gets older or more volatile", () => {
  const reading = fc.record({ ageMs: fc.integer({ min: 0, max: MAX_AGE_MS }), volatilityBps: fc.nat(500) });
  fc.assert(
    fc.property(reading, fc.nat(10_000), fc.nat(100), (usdtReading, olderMs, wilderBps) => {
      const spread = (ageMs: number, volatilityBps: number) =>
        pairSpread(
          [
            { currency: eth, reading: aged(Math.min(ageMs, MAX_AGE_MS), volatilityBps) },
            { currency: usdt, reading: usdtReading },
          ],
          MAX_AGE_MS,
        );
      const before = spread(usdtReading.ageMs, usdtReading.volatilityBps);
      const after = spread(usdtReading.ageMs + olderMs, usdtReading.volatilityBps + wilderBps);
      expect(bpsOf(after)).toBeGreaterThanOrEqual(bpsOf(before));
    }),
  );
});
