import { Gauge } from "prom-client";
import type { Registry } from "prom-client";

/** Figures of the database for the metrics. */
export interface DatabaseFigures {
  /** Age of the oldest snapshot: vacuum removes no row version that it may see. */
  oldestSnapshot(): Promise<{ readonly seconds: number; readonly transactions: number }>;
  /** Bytes on disk, indexes and dead rows included. */
  bytes(): Promise<number>;
  /** The same per table. */
  tableBytes(): Promise<ReadonlyMap<string, number>>;
}

/** Read from the database with each scrape. */
export function databaseGauges(
  registry: Registry,
  { oldestSnapshot, bytes, tableBytes }: DatabaseFigures,
): void {
  const shown = (name: string, help: string, read: () => Promise<number>): void =>
    void new Gauge({
      name: `causeway_database_${name}`,
      help,
      registers: [registry],
      async collect(): Promise<void> {
        const value = await read().catch(() => undefined);
        // Unknown is not zero: the last known value stays.
        if (value !== undefined) this.set(value);
      },
    });
  shown(
    "oldest_snapshot_seconds",
    "Age of the oldest transaction that keeps vacuum from removing dead rows",
    async () => (await oldestSnapshot()).seconds,
  );
  shown(
    "oldest_snapshot_transactions",
    "Transactions since the oldest snapshot (backend_xmin), also of replication slots and prepared transactions",
    async () => (await oldestSnapshot()).transactions,
  );
  shown("bytes", "Size of the database on disk", bytes);
  void new Gauge({
    name: "causeway_database_table_bytes",
    help: "Size of a table on disk with its indexes",
    labelNames: ["table"],
    registers: [registry],
    async collect(): Promise<void> {
      const sizes = await tableBytes().catch(() => new Map<string, number>());
      for (const [table, size] of sizes) this.set({ table }, size);
    },
  });
}
