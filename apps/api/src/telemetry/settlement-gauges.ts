import { Gauge } from "prom-client";
import type { Registry } from "prom-client";
import type { Clock } from "../db/clock.port.ts";
import type { SettlementReads } from "../settlement/settlement.port.ts";

/** Publish every state, even at zero: an alert cannot fire on a missing series. */
const STATES = ["due", "rejected", "attested", "before_deposit"];

/** Payments that wait for settlement and the age of the oldest, read from the database with each scrape. */
export function settlementGauges(
  registry: Registry,
  reads: Pick<SettlementReads, "waiting">,
  clock: Clock,
): void {
  const addGauge = (
    name: string,
    help: string,
    value: (row: { readonly count: number; readonly oldestMs: number }) => number,
  ): void =>
    void new Gauge({
      name,
      help,
      labelNames: ["state"],
      registers: [registry],
      // Each gauge reads the database itself, because gauges are collected concurrently.
      async collect(): Promise<void> {
        const waiting = await reads.waiting().catch(() => undefined);
        // Unknown is not zero: the last known value stays.
        if (waiting === undefined) return;
        for (const state of STATES) {
          const row = waiting.find((candidate) => candidate.state === state);
          this.set({ state }, row === undefined ? 0 : value(row));
        }
      },
    });
  addGauge(
    "causeway_settlement_waiting",
    "Unsettled payments: due (no quorum yet), rejected (by the oracles), attested (not final on the hub), or a fast fill waiting for its deposit",
    ({ count }) => count,
  );
  addGauge(
    "causeway_settlement_oldest_seconds",
    "Age of the oldest unsettled payment",
    ({ oldestMs }) => (clock.nowMs() - oldestMs) / 1000,
  );
}
