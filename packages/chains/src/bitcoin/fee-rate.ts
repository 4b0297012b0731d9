import { RpcFault } from "@causeway/families";
import type { Explorer } from "./explorer.ts";

/**
 * Bounds in satoshis per 1000 virtual bytes: nodes relay nothing below the minimum, and estimates above the
 * maximum are not trusted.
 */
const MIN_RATE = 1_000n;
export const MAX_RATE = 500_000n;
/** Used when no source has an estimate: twice the minimum. */
const DEFAULT_RATE = 2_000n;
const WITHIN_BLOCKS = 2;
const CACHE_MS = 10_000;

/**
 * The current fee rate in satoshis per 1000 virtual bytes, cached for some seconds: the lowest estimate, so
 * that no source can raise it alone. A payment whose fee is too low is replaced.
 *
 * @param sources an explorer, and the node if it serves estimates
 * @throws RpcFault if no source answers
 */
export function keptFeeRate(
  sources: readonly Pick<Explorer, "feeRate">[],
  now: () => number,
): () => Promise<bigint> {
  let cached: { readonly rate: bigint; readonly atMs: number } | undefined;
  return async () => {
    if (cached !== undefined && now() - cached.atMs < CACHE_MS) return cached.rate;
    const answers = await Promise.allSettled(
      sources.map(async (source) => await source.feeRate(WITHIN_BLOCKS)),
    );
    const faults = answers.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
    const fault = faults.find((one) => !(one instanceof RpcFault)) ?? faults[0];
    if (faults.length === sources.length || (fault !== undefined && !(fault instanceof RpcFault)))
      throw fault;
    const rates = answers.flatMap((one) => (one.status === "fulfilled" ? (one.value ?? []) : []));
    const estimate = rates.length === 0 ? DEFAULT_RATE : rates.reduce((min, one) => (one < min ? one : min));
    const rate = estimate < MIN_RATE ? MIN_RATE : estimate > MAX_RATE ? MAX_RATE : estimate;
    cached = { rate, atMs: now() };
    return rate;
  };
}
