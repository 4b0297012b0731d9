import fc from "fast-check";
import { expect, test } from "vitest";
import { pairInput, pairOutput } from "../liquidity/constant-product-pair.ts";
import { pow10 } from "../money/pow10.ts";
import type { Exchange, Exchanged } from "./exchange.ts";
import { routeInput, routeOutput } from "./exchange.ts";
import type { PricingFacts } from "./forward.ts";
import { minAmount } from "./least-amount.ts";
import { settle, soon } from "./soon.ts";
import type { MaybePromise, Soon } from "./soon.ts";

type Answer<T> = MaybePromise<T>;

/** A constant-product pool; `later`: it answers over a network. */
function pair(reserve0: bigint, reserve1: bigint, later = false): Exchange {
  const pool = { reserve0, reserve1, feeBps: 30n };
  const given = <T>(value: T): Answer<T> => (later ? Promise.resolve(value) : value);
  return {
    exactIn: (amountIn): Answer<Exchanged | undefined> =>
      given({ amountIn, amountOut: pairOutput(pool, true, amountIn) }),
    exactOut: (amountOut): Answer<Exchanged | undefined> => {
      const amountIn = pairInput(pool, true, amountOut);
      return given(amountIn === undefined ? undefined : { amountIn, amountOut });
    },
  };
}

const facts = (change: Partial<PricingFacts> = {}): PricingFacts => ({
  origin: { decimals: 6, priceUsd: pow10(18) },
  destination: { decimals: 18, priceUsd: 2_000n * pow10(18) },
  destinationNative: { decimals: 18, priceUsd: 2_000n * pow10(18) },
  fillGasCostWei: 200_000n * 10n ** 9n,
  flatUsd: 2n * 10n ** 16n,
  serviceBps: 15,
  appBps: 0,
  ...change,
});

function now<T>(work: Soon<T>): T {
  const value = settle(work);
  if (value instanceof Promise) throw new Error("this had to wait");
  return value;
}

const reserve = fc.bigInt({ min: 10n ** 9n, max: 10n ** 26n });

test("the smallest input through both swaps buys the output, and one unit less does not", () => {
  const side = fc.option(fc.tuple(reserve, reserve), { nil: undefined });
  let found = 0;
  fc.assert(
    fc.property(
      side,
      side,
      fc.bigInt({ min: 1n, max: 10n ** 20n }),
      fc.nat(100),
      (o, d, output, serviceBps) => {
        const parts = {
          origin: o && pair(...o),
          destination: d && pair(...d),
          facts: facts({ serviceBps }),
        };
        const smallest = now(routeInput(output, parts));
        if (smallest === undefined) return;
        found++;
        const reached = now(routeOutput(smallest.input, parts));
        expect(reached!.expected).toBeGreaterThanOrEqual(output);
        const less = smallest.input > 1n ? now(routeOutput(smallest.input - 1n, parts)) : undefined;
        expect(less === undefined || less.expected < output).toBe(true);
        expect(smallest.expected).toBe(output);
      },
    ),
    { numRuns: 1_000 },
  );
  expect(found).toBeGreaterThan(300);
});

test("the output never falls when the input grows", () => {
  fc.assert(
    fc.property(
      fc.tuple(reserve, reserve, reserve, reserve),
      fc.bigInt({ min: 1n, max: 10n ** 24n }),
      fc.bigInt({ min: 0n, max: 10n ** 12n }),
      ([a, b, c, d], input, more) => {
        const parts = { origin: pair(a, b), destination: pair(c, d), facts: facts() };
        const output = (amount: bigint) => now(routeOutput(amount, parts))?.expected ?? 0n;
        expect(output(input + more) >= output(input)).toBe(true);
      },
    ),
  );
});

test("an asynchronous swap gives the same result", async () => {
  const reserves = [10n ** 24n, 10n ** 12n] as const;
  const at = (later: boolean) => ({
    origin: pair(...reserves, later),
    destination: undefined,
    facts: facts(),
  });
  const asked = settle(routeInput(10n ** 15n, at(true)));
  expect(asked).toBeInstanceOf(Promise);
  expect(await asked).toEqual(now(routeInput(10n ** 15n, at(false))));
});

test("an error of a swap is thrown by the work that asked it", async () => {
  const failing: Exchange = {
    exactIn: async () => Promise.reject(new Error("gone")),
    exactOut: () => undefined,
  };
  const parts = { origin: failing, destination: undefined, facts: facts() };
  await expect(settle(routeOutput(1n, parts))).rejects.toThrow("gone");
  expect(now(routeInput(1n, parts))).toBeUndefined();
});

test("pools that cannot fill an amount give no route", () => {
  const parts = { origin: undefined, destination: pair(10n ** 18n, 1_000n), facts: facts() };
  expect(now(routeInput(1_000n, parts))).toBeUndefined();
  expect(now(routeOutput(1n, parts))).toBeUndefined();
});

test("finds the smallest amount from any guess, with two calls from the right one", () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: 10n ** 12n }),
      fc.integer({ min: -40, max: 300 }),
      (smallest, percentOff) => {
        const guess = smallest + (smallest * BigInt(percentOff)) / 100n;
        let asked = 0;
        const reaches = function* (amount: bigint): Soon<boolean> {
          asked++;
          return yield* soon(amount >= smallest);
        };
        expect(now(minAmount(guess, reaches))).toBe(smallest);
        if (guess === smallest) expect(asked).toBeLessThanOrEqual(2);
      },
    ),
  );
  const never = function* (): Soon<boolean> {
    return yield* soon(false);
  };
  expect(now(minAmount(10n, never))).toBeUndefined();
});
