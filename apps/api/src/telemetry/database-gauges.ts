import { Gauge } from "prom-client";
import type { Registry } from "prom-client";
import type { Clock } from "../db/clock.port.ts";

/** Figures of the database for the metrics. */
export interface DatabaseFigures {
  /** Age of the oldest snapshot: vacuum cannot remove row versions that it may still see. */
  oldestSnapshot(): Promise<{ readonly seconds: number; readonly transactions: number }>;
  /** Bytes on disk of the database, including indexes and dead rows. */
  bytes(): Promise<number>;
  /** Bytes on disk by table. */
  tableBytes(): Promise<ReadonlyMap<string, number>>;
  /** Time of the oldest row by table, ms. */
  oldestRows(): Promise<ReadonlyMap<string, number>>;
  /** Rows in the default partition, by table: no monthly partition exists for them. */
  defaultPartitionRows(): Promise<ReadonlyMap<string, number>>;
}

/** Publishes figures that are read from the database with each scrape. */
export function databaseGauges(
  registry: Registry,
  { oldestSnapshot, bytes, tableBytes, oldestRows, defaultPartitionRows }: DatabaseFigures,
  clock: Clock,
): void {
  const addGauge = (name: string, help: string, read: () => Promise<number>): void =>
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
  addGauge(
    "oldest_snapshot_seconds",
    "Age of the oldest transaction that keeps vacuum from removing dead rows",
    async () => (await oldestSnapshot()).seconds,
  );
  addGauge(
    "oldest_snapshot_transactions",
    "Age in transactions of the oldest snapshot that a session, standby, replication slot or prepared transaction holds",
    async () => (await oldestSnapshot()).transactions,
  );
  addGauge("bytes", "Size of the database on disk", bytes);
  const addTableGauge = (
    name: string,
    help: string,
    read: () => Promise<ReadonlyMap<string, number>>,
    valueOf = (value: number): number => value,
  ): void =>
    void new Gauge({
      name: `causeway_database_${name}`,
      help,
      labelNames: ["table"],
      registers: [registry],
      async collect(): Promise<void> {
        const values = await read().catch(() => undefined);
        if (values === undefined) return;
        // A table that has become empty no longer has an oldest row.
        this.reset();
        for (const [table, value] of values) this.set({ table }, valueOf(value));
      },
    });
  addTableGauge("table_bytes", "Size of a table on disk with its partitions and indexes", tableBytes);
  addTableGauge(
    "oldest_row_seconds",
    "Age of the oldest row of a table whose rows are archived or pruned",
    oldestRows,
    (atMs) => Math.max(0, (clock.nowMs() - atMs) / 1000),
  );
  addTableGauge(
    "default_partition_rows",
    "Rows in the default partition of a table, which belong to no monthly partition, counted up to 10,000",
    defaultPartitionRows,
  );
}
