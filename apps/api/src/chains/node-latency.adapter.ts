import type { ObserveCall } from "@causeway/chains";

/** Calls that count: the newest ones. */
const KEPT_CALLS = 31;
/** Fewer say nothing. */
const MIN_CALLS = 10;
/** A bridge takes some twenty calls in a row, so that an endpoint this slow makes it take half a minute. */
const SLOW_MS = 1_000;

/** How long the node of one chain takes to answer. */
export interface NodeLatency {
  readonly observe: ObserveCall;
  /** Median of the newest calls, ms; undefined before there were enough. */
  medianMs(): number | undefined;
}

/** @param onChange called when the node becomes slow, and when it no longer is */
export function createNodeLatency(
  onChange: (isSlow: boolean, medianMs: number) => void = () => undefined,
): NodeLatency {
  const kept: number[] = [];
  let calls = 0;
  let isSlow = false;
  const medianMs = (): number | undefined =>
    kept.length < MIN_CALLS ? undefined : kept.toSorted((a, b) => a - b)[Math.floor(kept.length / 2)];
  return {
    observe: (_method, _outcome, tookMs) => {
      kept.push(tookMs);
      if (kept.length > KEPT_CALLS) kept.shift();
      calls += 1;
      // Sorting for every call would cost more than the call's own bookkeeping.
      if (calls % MIN_CALLS !== 0) return;
      const median = medianMs();
      // It must be clearly faster again, or it would be reported again and again.
      if (median === undefined || (isSlow ? median > SLOW_MS / 2 : median <= SLOW_MS)) return;
      isSlow = !isSlow;
      onChange(isSlow, Math.round(median));
    },
    medianMs: () => {
      const median = medianMs();
      return median === undefined ? undefined : Math.round(median);
    },
  };
}
