import type { Address, ConcentratedPool } from "@causeway/domain";
import { sqrtRatioAtTick } from "@causeway/domain";
import { expect, test } from "vitest";
import { aChain, ORIGIN, usdcOn } from "../../../../../test/fakes/quote-world.ts";
import { concentratedHops } from "./live-pool.adapter.ts";
import { createPoolUsd, type PricedChain } from "./pool-usd.adapter.ts";
import { tokenPair } from "./token-pair.adapter.ts";

/** Sorts before any other token of a pool. */
const TOKEN: Address = `0x${"00".repeat(19)}01`;
const USDC = usdcOn(ORIGIN);
const USD = 10n ** 18n;

/** A pool of the token (token0) with USDC, both with 6 decimals, with one position around its price. */
function aPool(tick: number, halfWidth: number, liquidity: bigint): ConcentratedPool {
  return {
    sqrtPrice: sqrtRatioAtTick(tick),
    tick,
    liquidity,
    fee: 500n,
    tickSpacing: 10,
    ticks: {
      from: tick - 20_000,
      to: tick + 20_000,
      indexes: [tick - halfWidth, tick + halfWidth],
      net: [liquidity, -liquidity],
    },
  };
}

/** USD of a whole token by these pools, to a cent. */
function worth(...pools: readonly ConcentratedPool[]): number | undefined {
  const chain = aChain(ORIGIN);
  const live = new Map([[tokenPair(TOKEN, USDC).key, pools.map((pool) => concentratedHops(pool))]]);
  const usd = createPoolUsd(
    [
      {
        chainId: ORIGIN,
        native: chain.native,
        tokens: chain.tokens,
        liquidity: { connectors: [USDC] },
        pools: { cached: () => ({ live }), read: () => ({ live }) },
      } as unknown as PricedChain,
    ],
    { usd: () => USD },
  )({ chainId: ORIGIN, address: TOKEN, decimals: 6 });
  return usd === undefined ? undefined : Number(usd / 10n ** 16n) / 100;
}

const million = 10n ** 12n;

test("a narrow position at a false price does not outweigh a pool with more money", () => {
  const honest = aPool(0, 10_000, million);
  // A hundred times the price. It has ten times the liquidity in USD at that price, and half the money in
  // total.
  const manipulated = aPool(46_054, 10, million);
  expect(worth(manipulated)).toBeCloseTo(100, 0);
  expect(worth(honest)).toBeCloseTo(1, 2);
  expect(worth(honest, manipulated)).toBeCloseTo(1, 2);
  expect(worth(manipulated, honest)).toBeCloseTo(1, 2);
});

test("ignores a price with almost no liquidity", () => {
  expect(worth(aPool(0, 10, 10_000n * 10n ** 6n))).toBeUndefined();
  expect(worth(aPool(0, 10_000, 10_000n * 10n ** 6n))).toBeCloseTo(1, 2);
});
