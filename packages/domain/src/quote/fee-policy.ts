import type { Currency } from "../chain/chain.ts";
import { DEFAULT_FIRM_SECONDS } from "./firm-until.ts";

/**
 * How the two currencies of a route relate. `sameAsset`: one asset on two chains. `wrap`: two forms of one
 * asset with the same price id. Otherwise the more expensive of the two currency classes.
 */
export type PairClass = "sameAsset" | "wrap" | "stable" | "major" | "minor";

/** One number for each pair class. */
export type ByPairClass = Readonly<Record<PairClass, number>>;

/**
 * Configured fees and guarantees, the same for every chain. The parts that differ by chain are in
 * `ChainFees`.
 */
export interface FeePolicy {
  /** Service fee, bps of the input. */
  readonly serviceBps: ByPairClass;
  /** Slippage when the client sets none, bps of the expected output. */
  readonly automaticSlippageBps: ByPairClass;
  /** How long after the quote its output is guaranteed even if prices move. */
  readonly firmSeconds: number;
  /**
   * A quote whose swaps cost more than this, bps of the input's value, is refused unless the client
   * explicitly allows it.
   */
  readonly maxSwapImpactBps: number;
  /**
   * While a quote is firm, the quoted output is paid if the repriced output is at most this far below it,
   * bps. Bounds the solver's loss from a price jump.
   */
  readonly honorBps: number;
  /** Seconds after the quote at which an unfilled order expires, if the client sets no ttl. */
  readonly orderLifetimeSeconds: number;
  /**
   * Seconds between the last moment at which a fill may start and the order's deadline: the fill must be
   * mined by then to be attested.
   */
  readonly fillGraceSeconds: number;
  /** Seconds between the deadline of the output and the deadline of a refund. */
  readonly refundGraceSeconds: number;
  /**
   * The order's minimum refund leaves room for (10000 + this) / 10000 of today's gas: a refund may come days
   * later, and the scaled minimum must also hold for a smaller deposit, or its refund could not be attested.
   */
  readonly refundGasMarginBps: number;
  /** Maximum price age of a volatile currency in a pair of different assets, ms. */
  readonly maxVolatilePriceAgeMs: number;
}

/** The documented defaults of the fee policy. */
export const defaultFeePolicy: FeePolicy = {
  serviceBps: { sameAsset: 0, wrap: 0, stable: 1, major: 6, minor: 15 },
  automaticSlippageBps: { sameAsset: 50, wrap: 50, stable: 50, major: 100, minor: 200 },
  maxSwapImpactBps: 1_500,
  firmSeconds: DEFAULT_FIRM_SECONDS,
  honorBps: 100,
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

/** Whether both currencies are the same asset, whose price cancels out. */
export function isOneAsset(pairClass: PairClass): boolean {
  return pairClass === "sameAsset" || pairClass === "wrap";
}
