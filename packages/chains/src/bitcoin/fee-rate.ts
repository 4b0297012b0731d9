import type { Explorer } from "./explorer.ts";

/**
 * Bounds in satoshis per 1000 virtual bytes: nodes relay nothing below the minimum, and estimates above the
 * maximum are not trusted.
 */
const MIN_RATE = 1_000n;
export const MAX_RATE = 500_000n;
/** Used when the explorer has no estimate: twice the minimum. */
const DEFAULT_RATE = 2_000n;
const WITHIN_BLOCKS = 2;
const CACHE_MS = 10_000;

/** The current fee rate in satoshis per 1000 virtual bytes, cached for some seconds. @throws RpcFault */
export function keptFeeRate(explorer: Pick<Explorer, "feeRate">, now: () => number): () => Promise<bigint> {
  let cached: { readonly rate: bigint; readonly atMs: number } | undefined;
  return async () => {
    if (cached !== undefined && now() - cached.atMs < CACHE_MS) return cached.rate;
    const estimate = (await explorer.feeRate(WITHIN_BLOCKS)) ?? DEFAULT_RATE;
    const rate = estimate < MIN_RATE ? MIN_RATE : estimate > MAX_RATE ? MAX_RATE : estimate;
    cached = { rate, atMs: now() };
    return rate;
  };
}
