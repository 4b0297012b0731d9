import type { Events } from "../db/events.port.ts";

/**
 * Logs the first response with unrequested logs, and again whenever their number grew tenfold, because such a
 * node sends them constantly.
 */
export function reportUnrequestedLogs(events: Pick<Events, "alarm">, chain: string): (count: number) => void {
  let total = 0;
  let nextAt = 1;
  return (count) => {
    total += count;
    if (total < nextAt) return;
    events.alarm("logs_not_asked", { chain, total });
    while (nextAt <= total) nextAt *= 10;
  };
}
