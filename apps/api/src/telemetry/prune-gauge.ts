import { Gauge } from "prom-client";
import type { Registry } from "prom-client";
import type { Clock } from "../db/clock.port.ts";
import type { PrunableTable } from "../db/prunable.port.ts";
import type { Reads } from "../db/reads.port.ts";

/** Publishes by how much the oldest row of each table is overdue for pruning. */
export function pruneGauge(
  registry: Registry,
  reads: Pick<Reads, "oldestPrunable">,
  clock: Clock,
  keptMs: Readonly<Record<PrunableTable, number>>,
): void {
  void new Gauge({
    name: "causeway_prune_overdue_seconds",
    help: "How long pruning of the oldest row of a table is overdue; 0 if nothing is overdue",
    labelNames: ["table"],
    registers: [registry],
    async collect(): Promise<void> {
      const oldest = await reads.oldestPrunable().catch(() => undefined);
      // Unknown is not zero, so the last known value remains.
      if (oldest === undefined) return;
      for (const { table, sinceMs } of oldest) {
        const overdueMs = sinceMs === undefined ? 0 : clock.nowMs() - keptMs[table] - sinceMs;
        this.set({ table }, Math.max(0, overdueMs / 1000));
      }
    },
  });
}
