import type { Explorer } from "./explorer.ts";

/**
 * Satoshis per 1 000 virtual bytes below which nothing is relayed, and above which an estimate is taken for a
 * mistake or a siege.
 */
const LEAST = 1_000n;
export const MOST = 500_000n;
/** In force where the explorer has no opinion: twice what is relayed. */
const UNKNOWN = 2_000n;
const WITHIN_BLOCKS = 2;
const KEPT_MS = 10_000;

/** The current fee rate, satoshis per 1 000 virtual bytes, kept for some seconds. @throws RpcFault */
export function keptFeeRate(explorer: Pick<Explorer, "feeRate">, now: () => number): () => Promise<bigint> {
  let kept: { readonly rate: bigint; readonly atMs: number } | undefined;
  return async () => {
    if (kept !== undefined && now() - kept.atMs < KEPT_MS) return kept.rate;
    const estimate = (await explorer.feeRate(WITHIN_BLOCKS)) ?? UNKNOWN;
    const rate = estimate < LEAST ? LEAST : estimate > MOST ? MOST : estimate;
    kept = { rate, atMs: now() };
    return rate;
  };
}
