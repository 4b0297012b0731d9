import { Gauge } from "prom-client";
import type { Registry } from "prom-client";
import type { Clock } from "../../ports/clock.ts";
import type { SettlementReads } from "../../ports/settlement.ts";

/** Every state is shown, also when nothing is in it: a series that vanishes raises no alarm. */
const STATES = ["due", "rejected", "attested"];

/** How many payments wait to be settled, and for how long the oldest: asked of the database when somebody reads the metrics. */
export function settlementGauges(
  registry: Registry,
  reads: Pick<SettlementReads, "waiting">,
  clock: Clock,
): void {
  const oldest = new Gauge({
    name: "causeway_settlement_oldest_seconds",
    help: "Age of the oldest payment that is not settled",
    labelNames: ["state"],
    registers: [registry],
  });
  void new Gauge({
    name: "causeway_settlement_waiting",
    help: "Payments that are not settled: due (no quorum yet), rejected (an oracle says no), attested (not final on the hub)",
    labelNames: ["state"],
    registers: [registry],
    async collect(): Promise<void> {
      const waiting = await reads.waiting().catch(() => undefined);
      // Unknown is not zero: what was last known stands.
      if (waiting === undefined) return;
      for (const state of STATES) {
        const row = waiting.find((one) => one.state === state);
        this.set({ state }, row?.count ?? 0);
        oldest.set({ state }, row === undefined ? 0 : (clock.nowMs() - row.oldestMs) / 1000);
      }
    },
  });
}
