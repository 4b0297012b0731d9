import type { Currency } from "../chain/chain.ts";

/**
 * How two currencies of a route relate. `sameAsset`: one asset on two chains. `wrap`: two forms of one asset,
 * known by one price id. Otherwise the dearer of the two currency classes.
 */
export type PairClass = "sameAsset" | "wrap" | "stable" | "major" | "minor";

/** One number for each pair class. */
export type ByPairClass = Readonly<Record<PairClass, number>>;

/**
 * What the service charges and promises; configuration, the same for every chain. The parts that differ by
 * chain are in `ChainFees`.
 */
export interface FeePolicy {
  /** Service fee, bps of the input. */
  readonly serviceBps: ByPairClass;
  /** Slippage allowed when the client names none, bps of the expected output. */
  readonly automaticSlippageBps: ByPairClass;
  /** For so long after the quote the quoted output is kept although prices move. */
  readonly firmSeconds: number;
  /**
   * A quote whose exchanges cost more than this, bps of the input's value, is given only to clients that ask
   * for it all the same.
   */
  readonly maxSwapImpactBps: number;
  /**
   * How far the repriced output may lie below the quoted one and the quoted one is still paid while firm,
   * bps: bounds what a price jump can cost the solver.
   */
  readonly honourBps: number;
  /** Seconds after the quote at which an unfilled order expires, when the client names no ttl. */
  readonly orderLifetimeSeconds: number;
  /**
   * Seconds by which the order's deadline lies behind the last moment at which a fill is begun: what is sent
   * then must still be mined in time to be attested.
   */
  readonly fillGraceSeconds: number;
  /** Seconds by which the deadline of a refund lies behind the deadline of the output. */
  readonly refundGraceSeconds: number;
  /**
   * The least refund that an order promises leaves room for (10000 + this) / 10000 of today's gas: a refund
   * may come days later, and the same promise, scaled down, must hold for a deposit of a part of what was
   * agreed, or its refund could not be attested.
   */
  readonly refundGasMarginBps: number;
  /** An older price of a volatile currency is not used for a pair of different assets, ms. */
  readonly maxVolatilePriceAgeMs: number;
}

/** The documented defaults of the fee policy. */
export const defaultFeePolicy: FeePolicy = {
  serviceBps: { sameAsset: 0, wrap: 0, stable: 1, major: 6, minor: 15 },
  automaticSlippageBps: { sameAsset: 50, wrap: 50, stable: 50, major: 100, minor: 200 },
  maxSwapImpactBps: 1_500,
  firmSeconds: 60,
  honourBps: 100,
  orderLifetimeSeconds: 7 * 24 * 3600,
  fillGraceSeconds: 15 * 60,
  refundGraceSeconds: 7 * 24 * 3600,
  refundGasMarginBps: 90_000,
  maxVolatilePriceAgeMs: 90_000,
};

const RANK = { stable: 0, major: 1, minor: 2 } as const;

/** The class by which a pair is priced. */
export function pairClassOf(
  origin: Pick<Currency, "id" | "priceId" | "class">,
  destination: Pick<Currency, "id" | "priceId" | "class">,
): PairClass {
  if (origin.id === destination.id) return "sameAsset";
  if (origin.priceId === destination.priceId) return "wrap";
  return RANK[origin.class] >= RANK[destination.class] ? origin.class : destination.class;
}

/** The two currencies are one asset: whatever its price is, it cancels out. */
export function isOneAsset(pairClass: PairClass): boolean {
  return pairClass === "sameAsset" || pairClass === "wrap";
}
