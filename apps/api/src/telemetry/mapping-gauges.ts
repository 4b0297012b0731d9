import { Gauge } from "prom-client";
import type { Registry } from "prom-client";
import type { Clock } from "../db/clock.port.ts";
import type { NonceMappingStore } from "../chains/nonce-mappings.port.ts";

/** Publish every state, even at zero: an alert cannot fire on a missing series. */
const STATES = ["stored", "signed"];

/**
 * Nonce mappings that are not on the hub yet, and the age of the oldest, read from the database with each
 * scrape. A mapping not set within an hour of its transfer has no effect.
 */
export function mappingGauges(
  registry: Registry,
  nonceMappings: Pick<NonceMappingStore, "waiting">,
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
      async collect(): Promise<void> {
        const waiting = await nonceMappings.waiting().catch(() => undefined);
        // Unknown is not zero: the last known value stays.
        if (waiting === undefined) return;
        for (const state of STATES) {
          const row = waiting.find((candidate) => candidate.state === state);
          this.set({ state }, row === undefined ? 0 : value(row));
        }
      },
    });
  addGauge(
    "causeway_mappings_waiting",
    "Nonce mappings that are not on the hub yet: stored (not signed by oracles), signed (not final on the hub)",
    ({ count }) => count,
  );
  addGauge(
    "causeway_mappings_oldest_seconds",
    "Age of the oldest nonce mapping that is not on the hub yet",
    ({ oldestMs }) => (clock.nowMs() - oldestMs) / 1000,
  );
}
