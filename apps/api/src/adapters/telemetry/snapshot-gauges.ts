import { Gauge } from "prom-client";
import type { Registry } from "prom-client";

/** How old the oldest snapshot is: vacuum removes no row version that it may see. Read from the database with each scrape. */
export function snapshotGauges(
  registry: Registry,
  oldest: () => Promise<{ readonly seconds: number; readonly transactions: number }>,
): void {
  const shown = (part: "seconds" | "transactions", help: string): void =>
    void new Gauge({
      name: `causeway_database_oldest_snapshot_${part}`,
      help,
      registers: [registry],
      async collect(): Promise<void> {
        const snapshot = await oldest().catch(() => undefined);
        // Unknown is not zero: the last known value stays.
        if (snapshot !== undefined) this.set(snapshot[part]);
      },
    });
  shown("seconds", "Age of the oldest transaction that keeps vacuum from removing dead rows");
  shown(
    "transactions",
    "Transactions since the oldest snapshot (backend_xmin), also of replication slots and prepared transactions",
  );
}
