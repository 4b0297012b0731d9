import type { Explorer } from "./explorer.ts";

/**
 * Bounds in satoshis per 1000 virtual bytes: nodes relay nothing below, and higher estimates are not trusted.
 */
const MIN_RATE = 1_000n;
export const MAX_RATE = 500_000n;
/** Used when the explorer has no estimate: twice the minimum. */
const UNKNOWN = 2_000n;
const WITHIN_BLOCKS = 2;
const KEPT_MS = 10_000;

/** The current fee rate in satoshis per 1000 virtual bytes, cached for some seconds. @throws RpcFault */
export function keptFeeRate(explorer: Pick<Explorer, "feeRate">, now: () => number): () => Promise<bigint> {
  let kept: { readonly rate: bigint; readonly atMs: number } | undefined;
  return async () => {
    if (kept !== undefined && now() - kept.atMs < KEPT_MS) return kept.rate;
    const estimate = (await explorer.feeRate(WITHIN_BLOCKS)) ?? UNKNOWN;
    const rate = estimate < MIN_RATE ? MIN_RATE : estimate > MAX_RATE ? MAX_RATE : estimate;
    kept = { rate, atMs: now() };
    return rate;
  };
}
