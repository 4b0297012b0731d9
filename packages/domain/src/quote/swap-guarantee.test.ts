import fc from "fast-check";
import { expect, test } from "vitest";
import { pairOutput } from "../liquidity/constant-product-pair.ts";
import { bpsOfUp } from "../money/bps.ts";
import { pow10 } from "../money/pow10.ts";
import { priceInput } from "./output-for-input.ts";
import type { PricingFacts } from "./output-for-input.ts";
import { inputForOutput } from "./input-for-output.ts";
import { splitSlippage, swapGuarantee } from "./swap-guarantee.ts";

const facts: PricingFacts = {
  origin: { decimals: 6, priceUsd: pow10(18) },
  destination: { decimals: 18, priceUsd: 2_000n * pow10(18) },
  destinationNative: { decimals: 18, priceUsd: 2_000n * pow10(18) },
  fillGasCostWei: 200_000n * 10n ** 9n,
  flatUsd: 2n * 10n ** 16n,
  serviceBps: 15,
  appBps: 0,
};

test("the client's slippage is divided like the automatic one, and never exceeded", () => {
  expect(splitSlippage(undefined, { origin: 30, destination: 50 })).toEqual({ origin: 30, destination: 50 });
  expect(splitSlippage(80, { origin: 30, destination: 50 })).toEqual({ origin: 30, destination: 50 });
  expect(splitSlippage(1, { origin: 30, destination: 50 })).toEqual({ origin: 0, destination: 1 });
  expect(splitSlippage(100, { origin: 30, destination: 0 })).toEqual({ origin: 100, destination: 0 });
  expect(splitSlippage(100, { origin: 0, destination: 0 })).toEqual({ origin: 0, destination: 100 });
  expect(splitSlippage(undefined, { origin: 9_000, destination: 9_000 })).toEqual({
    origin: 9_000,
    destination: 1_000,
  });
});

const deposit = fc.bigInt({ min: 1_000_000n, max: 10n ** 13n });
const bps = fc.integer({ min: 0, max: 3_000 });

test("at unchanged prices, every deposit of at least the minimum yields the guaranteed output despite the fill's slippage", () => {
  fc.assert(
    fc.property(deposit, bps, bps, fc.bigInt(0n, 1000n), (whole, origin, destination, part) => {
      const paid = priceInput(whole, facts).output;
      if (paid === 0n) return;
      const expected = paid;
      const slippage = { origin, destination };
      const guarantee = swapGuarantee(
        { tradeType: "EXACT_INPUT", expected, deposit: whole, paid, slippage, honorBps: 100 },
        facts,
      );
      expect(guarantee.minimumAmount).toBe(bpsOfUp(expected, 10_000 - origin - destination));
      expect(guarantee.minDeposit <= whole && guarantee.minDeposit > 0n).toBe(true);
      const between = guarantee.minDeposit + ((whole - guarantee.minDeposit) * part) / 1000n;
      const afterSlippage = (priceInput(between, facts).output * BigInt(10_000 - destination)) / 10_000n;
      expect(afterSlippage + 1n >= guarantee.minimumAmount).toBe(true);
    }),
  );
});

test("the minimum deposit also buys enough through a swap in the fill", () => {
  const pool = { reserve0: 10n ** 22n, reserve1: 10n ** 25n, feeBps: 30n };
  fc.assert(
    fc.property(deposit, bps, bps, (whole, origin, destination) => {
      const paid = priceInput(whole, facts).output;
      const expected = pairOutput(pool, true, paid);
      if (expected === 0n) return;
      const { minDeposit, neededOutput } = swapGuarantee(
        {
          tradeType: "EXACT_INPUT",
          expected,
          deposit: whole,
          paid,
          slippage: { origin, destination },
          honorBps: 100,
        },
        facts,
      );
      expect(pairOutput(pool, true, priceInput(minDeposit, facts).output) + 1n >= neededOutput).toBe(true);
    }),
  );
});

test("without slippage the minimum is the expected amount, and the deposit must be exact", () => {
  const exact = {
    tradeType: "EXACT_INPUT",
    slippage: { origin: 0, destination: 0 },
    honorBps: 100,
  } as const;
  const paid = priceInput(5_000_000n, facts).output;
  expect(swapGuarantee({ ...exact, expected: paid, deposit: 5_000_000n, paid }, facts)).toEqual({
    minimumAmount: paid,
    neededOutput: paid,
    minDeposit: 5_000_000n,
  });
});

test("an exact output is guaranteed in full, from the smallest deposit that the solver still accepts", () => {
  const expected = 10n ** 16n;
  const exactDeposit = inputForOutput(expected, facts);
  const guarantee = (origin: number, honorBps: number) =>
    swapGuarantee(
      {
        tradeType: "EXACT_OUTPUT",
        expected,
        deposit: exactDeposit,
        paid: expected,
        slippage: { origin, destination: 0 },
        honorBps,
      },
      facts,
    );
  const { minimumAmount, minDeposit } = guarantee(1_000, 15);
  expect(minimumAmount).toBe(expected);
  const accepts = (amount: bigint) =>
    priceInput(amount, facts).output * 10_000n >= expected * (10_000n - 15n);
  expect(accepts(minDeposit)).toBe(true);
  expect(accepts(minDeposit - 1n)).toBe(false);
  // The client's slippage on the origin bounds it as well.
  expect(guarantee(0, 15).minDeposit).toBe(exactDeposit);
  expect(guarantee(5, 100).minDeposit).toBe(bpsOfUp(exactDeposit, 9_995));
});

test("with unlimited slippage there is no minimum, but a zero deposit buys nothing", () => {
  const paid = priceInput(5_000_000n, facts).output;
  const { minimumAmount, minDeposit } = swapGuarantee(
    {
      tradeType: "EXACT_INPUT",
      expected: paid,
      deposit: 5_000_000n,
      paid,
      slippage: { origin: 0, destination: 10_000 },
      honorBps: 100,
    },
    facts,
  );
  expect(minimumAmount).toBe(0n);
  expect(priceInput(minDeposit, facts).output).toBeGreaterThan(0n);
});
