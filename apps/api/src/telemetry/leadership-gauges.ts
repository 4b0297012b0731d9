import { Gauge } from "prom-client";
import type { Registry } from "prom-client";
import { SETTLEMENT, type LedTask, type WorkedAgo } from "../db/leadership.port.ts";

/** The tasks that this worker leads, and how long ago it last worked on each. */
export function leadershipGauges(
  registry: Registry,
  tasks: readonly LedTask[],
  workedAgoMs: WorkedAgo,
): void {
  const chains = tasks.filter(({ lock }) => lock !== SETTLEMENT);
  void new Gauge({
    name: "causeway_chain_leader",
    help: "1 if this worker leads the chain, otherwise 0; the sum over all workers should be 1",
    labelNames: ["chain"],
    registers: [registry],
    collect(): void {
      for (const { label, lock } of chains)
        this.set({ chain: label }, workedAgoMs(lock) === undefined ? 0 : 1);
    },
  });
  void new Gauge({
    name: "causeway_chain_scan_age_seconds",
    help: "Seconds since this worker last scanned a chain that it leads; absent for chains that it does not lead",
    labelNames: ["chain"],
    registers: [registry],
    collect(): void {
      this.reset();
      for (const { label, lock } of chains) {
        const agoMs = workedAgoMs(lock);
        if (agoMs !== undefined) this.set({ chain: label }, agoMs / 1000);
      }
    },
  });
  if (!tasks.some(({ lock }) => lock === SETTLEMENT)) return;
  void new Gauge({
    name: "causeway_settlement_leader",
    help: "1 if this worker leads settlement, otherwise 0; the sum over all workers should be 1",
    registers: [registry],
    collect(): void {
      this.set(workedAgoMs(SETTLEMENT) === undefined ? 0 : 1);
    },
  });
}
