import type { FillTiming } from "../../scripts/soak/database.ts";
import { percentilesOf, type Percentiles } from "../../scripts/soak/percentiles.ts";

/** How fast some fills were broadcast. */
export interface FillSpeed {
  /** From the moment a fill's deposit block was seen until the fill was first broadcast, ms. */
  readonly toBroadcastMs: Percentiles;
  /** From the first block seen to the last fill broadcast. */
  readonly allWithinSeconds: number;
  readonly fillsPerSecond: number;
}

/**
 * Pure. The speed of these requests' fills.
 * @throws Error if a fill was not broadcast, because the figures would look better than they are
 */
export function fillSpeed(requestIds: readonly string[], timings: readonly FillTiming[]): FillSpeed {
  const ids = new Set(requestIds);
  const fills = timings.filter(({ requestId }) => ids.has(requestId));
  const toBroadcastMs = percentilesOf(
    fills.map(({ seenAtMs, firstBroadcastAtMs }) => firstBroadcastAtMs - seenAtMs),
  );
  if (toBroadcastMs === undefined || fills.length !== ids.size)
    throw new Error(`${fills.length} of ${ids.size} fills were broadcast`);
  const firstSeenMs = Math.min(...fills.map(({ seenAtMs }) => seenAtMs));
  const lastBroadcastMs = Math.max(...fills.map(({ firstBroadcastAtMs }) => firstBroadcastAtMs));
  const allWithinSeconds = (lastBroadcastMs - firstSeenMs) / 1_000;
  return { toBroadcastMs, allWithinSeconds, fillsPerSecond: fills.length / allWithinSeconds };
}
