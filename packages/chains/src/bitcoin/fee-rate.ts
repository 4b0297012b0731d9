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
 * explorer's estimate and the nodes' upper median. No source can raise it alone. While several nodes have
 * estimates, none of them can lower it alone: a low fee would delay a payment. If so few sources have an
 * estimate that the highest one decides, it counts up to three times the next lower one, which may be too
 * low. So each replacement of a payment triples that limit.
 *
 * @param nodes all nodes of the chain; a node without an estimate does not lower the median
 * @param maxRate the operator's limit, satoshis per 1000 virtual bytes
 * @returns a function of the number of earlier attempts of the payment, 0 by default
 * @throws RpcFault if a source failed and no other one has an estimate
 */
export function cachedFeeRate(
  explorer: FeeSource,
  nodes: readonly FeeSource[],
  now: () => number,
  maxRate: bigint = MAX_RATE,
): (earlierAttempts?: number) => Promise<bigint> {
  let cached: (Estimates & { readonly atMs: number }) | undefined;
  const readEstimates = async (): Promise<Estimates> => {
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
    return { agreed: lower(explorerRate, limit), secondHighest: secondHighest(estimates) };
  };
  return async (earlierAttempts = 0) => {
    if (cached === undefined || now() - cached.atMs >= CACHE_MS)
      cached = { ...(await readEstimates()), atMs: now() };
    const loneLimit =
      cached.secondHighest && cached.secondHighest * MAX_LONE_FACTOR ** BigInt(earlierAttempts + 1);
    const estimate = lower(cached.agreed, loneLimit) ?? DEFAULT_RATE;
    return estimate < MIN_RATE ? MIN_RATE : estimate > maxRate ? maxRate : estimate;
  };
}

/** Satoshis per 1000 virtual bytes; undefined if too few sources have an estimate. */
interface Estimates {
  /** The lower one of the explorer's estimate and the nodes' upper median. */
  readonly agreed: bigint | undefined;
  readonly secondHighest: bigint | undefined;
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
