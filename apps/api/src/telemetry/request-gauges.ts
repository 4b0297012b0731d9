import { Gauge } from "prom-client";
import type { Registry } from "prom-client";
import type { Clock } from "../db/clock.port.ts";
import type { StateUnderWay } from "../requests/requests-under-way.port.ts";

/** Open requests per state and the age of the oldest, read with each scrape. */
export function requestGauges(
  registry: Registry,
  read: () => Promise<readonly StateUnderWay[]>,
  clock: Clock,
): void {
  const addGauge = (name: string, help: string, value: (row: StateUnderWay) => number): void =>
    void new Gauge({
      name,
      help,
      labelNames: ["state"],
      registers: [registry],
      async collect(): Promise<void> {
        // Unknown is not zero, so the last known value remains.
        for (const row of await read().catch(() => [])) this.set({ state: row.state }, value(row));
      },
    });
  addGauge(
    "causeway_requests_under_way",
    "Paid requests that are not finished, by state; only the 10000 least recently updated are counted",
    ({ count }) => count,
  );
  addGauge(
    "causeway_requests_oldest_seconds",
    "Time that the oldest paid, unfinished request has been in its state",
    ({ oldestMs }) => (oldestMs === undefined ? 0 : Math.max(0, clock.nowMs() - oldestMs) / 1000),
  );
}
