import type { Events } from "../db/events.port.ts";

/**
 * One line for the first answer with logs that were not asked for, and again whenever there are ten times as
 * many: the node gives them all the time.
 */
export function reportUnaskedLogs(events: Pick<Events, "alarm">, chain: string): (count: number) => void {
  let total = 0;
  let nextAt = 1;
  return (count) => {
    total += count;
    if (total < nextAt) return;
    events.alarm("logs_not_asked", { chain, total });
    while (nextAt <= total) nextAt *= 10;
  };
}
