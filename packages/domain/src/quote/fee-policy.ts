import type { Currency } from "../chain/chain.ts";

/**
 * How two currencies of a route relate. `sameAsset`: one asset on two chains. `wrap`: two forms of one asset, known by one price id.
 * Otherwise the dearer of the two currency classes.
 */
export type PairClass = "sameAsset" | "wrap" | "stable" | "major" | "minor";

/** One number for each pair class. */
export type ByPairClass = Readonly<Record<PairClass, number>>;

/** What the service charges and promises; configuration, the same for every chain. The parts that differ by chain are in `ChainFees`. */
export interface FeePolicy {
  /** Service fee, bps of the input. */
  readonly serviceBps: ByPairClass;
  /** Slippage allowed when the client names none, bps of the expected output. */
  readonly automaticSlippageBps: ByPairClass;
  /** For so long after the quote the quoted output is kept although prices move. */
  readonly firmSeconds: number;
  /** How far the repriced output may lie below the quoted one and the quoted one is still paid while firm, bps: bounds what a price jump can cost the solver. */
  readonly honourBps: number;
  /** Seconds after the quote at which an unfilled order expires, when the client names no ttl. */
  readonly orderLifetimeSeconds: number;
  /** Longest ttl a client may ask for, seconds. */
  readonly maxTtlSeconds: number;
}

const RANK = { stable: 0, major: 1, minor: 2 } as const;

/** The class by which a pair is priced. */
export function pairClassOf(origin: Currency, destination: Currency): PairClass {
  if (origin.id === destination.id) return "sameAsset";
  if (origin.priceId === destination.priceId) return "wrap";
  return RANK[origin.class] >= RANK[destination.class] ? origin.class : destination.class;
}
