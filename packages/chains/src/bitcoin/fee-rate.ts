import type { NonEvmChain } from "@causeway/domain";
import { RpcFault } from "@causeway/families";
import type { Explorer } from "./explorer.ts";

/** Estimates fee rates. */
export type FeeSource = Pick<Explorer, "feeRate">;

/**
 * Bounds in satoshis per 1000 virtual bytes: nodes relay nothing below the minimum, and estimates above the
 * maximum are not trusted.
 */
const MIN_RATE = 1_000n;
const MAX_RATE = 500_000n;
/** How many times the next lower estimate the highest one counts: if others are down, it may be invented. */
const MAX_LONE_FACTOR = 3n;
/** Used when no source has an estimate: twice the minimum. */
const DEFAULT_RATE = 2_000n;
const WITHIN_BLOCKS = 2;
const CACHE_MS = 10_000;

/**
 * The current fee rate in satoshis per 1000 virtual bytes, cached for some seconds: the lower one of the
 * explorer's estimate and the nodes' upper median. No source can raise it alone, and of several nodes, none
 * can lower it alone: a payment with a low fee would wait until it is canceled. If so few sources have an
 * estimate that the highest one decides, it counts up to three times the next lower one.
 *
 * @param nodes all nodes of the chain; a node without an estimate does not lower the median
 * @param maxRate the operator's limit, satoshis per 1000 virtual bytes
 * @throws RpcFault if a source failed and no other one has an estimate
 */
export function cachedFeeRate(
  explorer: FeeSource,
  nodes: readonly FeeSource[],
  now: () => number,
  maxRate: bigint = MAX_RATE,
): () => Promise<bigint> {
  let cached: { readonly rate: bigint; readonly atMs: number } | undefined;
  return async () => {
    if (cached !== undefined && now() - cached.atMs < CACHE_MS) return cached.rate;
    const faults: RpcFault[] = [];
    const estimateOf = async (source: FeeSource): Promise<bigint | undefined> => {
      try {
        return await source.feeRate(WITHIN_BLOCKS);
      } catch (fault) {
        if (!(fault instanceof RpcFault)) throw fault;
        faults.push(fault);
        return undefined;
      }
    };
    const estimates = await Promise.all([explorer, ...nodes].map(estimateOf));
    const [explorerRate, ...nodeRates] = estimates;
    const limit = upperMedian(nodeRates);
    const [fault] = faults;
    if (explorerRate === undefined && limit === undefined && fault !== undefined) throw fault;
    const secondHighestRate = secondHighest(estimates);
    const estimate =
      lower(lower(explorerRate, limit), secondHighestRate && secondHighestRate * MAX_LONE_FACTOR) ??
      DEFAULT_RATE;
    const rate = estimate < MIN_RATE ? MIN_RATE : estimate > maxRate ? maxRate : estimate;
    cached = { rate, atMs: now() };
    return rate;
  };
}

/** The highest fee rate that may be paid on a chain, satoshis per 1000 virtual bytes. */
export function maxFeeRate({ bitcoin }: Pick<NonEvmChain, "bitcoin">): bigint {
  return bitcoin?.maxSatPerVbyte === undefined ? MAX_RATE : BigInt(bitcoin.maxSatPerVbyte) * 1_000n;
}

/** An absent value counts as the highest one. */
function upperMedian(values: readonly (bigint | undefined)[]): bigint | undefined {
  return values.toSorted(ascending)[Math.floor(values.length / 2)];
}

/** Undefined with fewer than two values. */
function secondHighest(values: readonly (bigint | undefined)[]): bigint | undefined {
  return values
    .filter((value) => value !== undefined)
    .toSorted(ascending)
    .at(-2);
}

/** An absent value comes last. */
function ascending(a: bigint | undefined, b: bigint | undefined): number {
  return a === b ? 0 : lower(a, b) === a ? -1 : 1;
}

function lower(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  return a === undefined || (b !== undefined && b < a) ? b : a;
}
