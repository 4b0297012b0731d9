import type { Address, ConcentratedPool, ConstantProductPair, Hop, PoolSource } from "@causeway/domain";
import { BPS } from "@causeway/domain";
import type { TokenPair } from "./token-pair.adapter.ts";

/** A known pool and its immutable facts. */
export type PoolIdentity = {
  readonly pair: TokenPair;
  readonly address: Address;
} & (
  | {
      readonly kind: "uniswap-v3";
      readonly source: Extract<PoolSource, { kind: "uniswap-v3" }>;
      /** Hundredths of a bp. */
      readonly fee: number;
      readonly tickSpacing: number;
    }
  | { readonly kind: "uniswap-v2"; readonly source: Extract<PoolSource, { kind: "uniswap-v2" }> }
);

/** A pool at one block, tradable in both directions. */
export interface LivePool {
  readonly identity: PoolIdentity;
  /** Sells token0 for token1. */
  readonly down: Hop;
  /** Sells token1 for token0. */
  readonly up: Hop;
  /** Distance from the pool's lowest to its highest price in recent blocks, bps. */
  readonly movedBps: number;
}

export function concentratedHops(pool: ConcentratedPool): Pick<LivePool, "down" | "up"> {
  return {
    down: { kind: "concentrated", pool, zeroForOne: true },
    up: { kind: "concentrated", pool, zeroForOne: false },
  };
}

export function pairHops(pool: ConstantProductPair): Pick<LivePool, "down" | "up"> {
  return { down: { kind: "pair", pool, zeroForOne: true }, up: { kind: "pair", pool, zeroForOne: false } };
}

/**
 * Price of token0 in token1, in base units, as a floating-point number: to measure price moves, not for
 * amounts. Undefined if the pool is empty.
 */
export function roughPrice({ down }: Pick<LivePool, "down">): number | undefined {
  if (down.kind === "concentrated") return (Number(down.pool.sqrtPrice) / 2 ** 96) ** 2;
  const { reserve0, reserve1 } = down.pool;
  return reserve0 === 0n || reserve1 === 0n ? undefined : Number(reserve1) / Number(reserve0);
}

/** Distance from the lowest to the highest price, bps. */
export function priceRangeBps(prices: readonly number[]): number {
  if (prices.length < 2) return 0;
  return Math.ceil((Math.max(...prices) / Math.min(...prices) - 1) * Number(BPS));
}
