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
  const wanted = new Set(requestIds);
  const found = timings.filter(({ requestId }) => wanted.has(requestId));
  const toBroadcastMs = percentilesOf(
    found.map(({ seenAtMs, firstBroadcastAtMs }) => firstBroadcastAtMs - seenAtMs),
  );
  if (toBroadcastMs === undefined || found.length !== wanted.size)
    throw new Error(`${found.length} of ${wanted.size} fills were broadcast`);
  const firstSeenMs = Math.min(...found.map(({ seenAtMs }) => seenAtMs));
  const lastBroadcastMs = Math.max(...found.map(({ firstBroadcastAtMs }) => firstBroadcastAtMs));
  const allWithinSeconds = (lastBroadcastMs - firstSeenMs) / 1_000;
  return { toBroadcastMs, allWithinSeconds, fillsPerSecond: found.length / allWithinSeconds };
}
