import type { Currency } from "@causeway/domain";
import { expect, test } from "vitest";
import { withPoolVeto } from "./pool-veto.adapter.ts";

const usdc = { priceId: "usd-coin", class: "stable" } as Currency;

/** A stablecoin at 1 USD by its source, and at `poolUsd` by its pools. */
function aVeto(poolUsd: bigint | undefined) {
  const world = { poolUsd, nowMs: 0, depths: [] as (bigint | undefined)[] };
  const book = {
    usd: () => 10_000n,
    lastUsd: () => 10_000n,
    reading: () => ({ ageMs: 5, volatilityBps: 0 }),
  };
  const pools = (_token: unknown, minDepthUsd?: bigint) => {
    world.depths.push(minDepthUsd);
    return world.poolUsd;
  };
  const prices = withPoolVeto(book, pools, () => 50, { nowMs: () => world.nowMs });
  return { world, disputedBy: () => prices.reading(usdc)?.disputedBy };
}

test("a deep pool vetoes the price of a stablecoin that has lost its peg", () => {
  const { world, disputedBy } = aVeto(9_949n);
  expect(disputedBy()).toBe("pool");
  expect(world.depths).toEqual([250_000n * 10n ** 18n]);
});

test("pools that agree with the price, or are too shallow, veto no price", () => {
  expect(aVeto(9_951n).disputedBy()).toBeUndefined();
  expect(aVeto(undefined).disputedBy()).toBeUndefined();
});

test("the pools are read again after half a second, not for each quote", () => {
  const { world, disputedBy } = aVeto(9_951n);
  disputedBy();
  world.poolUsd = 9_000n;
  world.nowMs = 499;
  expect(disputedBy()).toBeUndefined();
  world.nowMs = 500;
  expect(disputedBy()).toBe("pool");
});
