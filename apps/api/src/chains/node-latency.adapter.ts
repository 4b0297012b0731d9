import type { ObserveCall } from "@causeway/chains";

/** Number of recent calls that count. */
const KEPT_CALLS = 31;
/** Fewer calls are not representative. */
const MIN_CALLS = 10;
/**
 * Median latency above which a node counts as slow. A bridge takes about twenty sequential calls, so it would
 * take half a minute.
 */
const SLOW_MS = 1_000;

/** How long the node of one chain takes to answer. */
export interface NodeLatency {
  readonly observe: ObserveCall;
  /** Median of the newest calls, ms; undefined while there are too few. */
  medianMs(): number | undefined;
}

/** @param onChange called when the node becomes slow, and when it recovers */
export function createNodeLatency(
  onChange: (isSlow: boolean, medianMs: number) => void = () => undefined,
): NodeLatency {
  const latencies: number[] = [];
  let calls = 0;
  let isSlow = false;
  const medianMs = (): number | undefined =>
    latencies.length < MIN_CALLS
      ? undefined
      : latencies.toSorted((a, b) => a - b)[Math.floor(latencies.length / 2)];
  return {
    observe: (_method, _outcome, tookMs) => {
      latencies.push(tookMs);
      if (latencies.length > KEPT_CALLS) latencies.shift();
      calls += 1;
      // Sorting on every call would cost more than the rest of the bookkeeping.
      if (calls % MIN_CALLS !== 0) return;
      const median = medianMs();
      // Hysteresis: the node must become clearly faster, or it would be reported repeatedly.
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
