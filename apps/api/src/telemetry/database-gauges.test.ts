import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { databaseGauges } from "./database-gauges.ts";

test("publishes size and oldest snapshot of the database, and keeps the last values while it is unavailable", async () => {
  const registry = new Registry();
  let isDown = false;
  const unlessDown = async <T>(value: T): Promise<T> =>
    await (isDown ? Promise.reject(new Error("no connection")) : Promise.resolve(value));
  databaseGauges(
    registry,
    {
      oldestSnapshot: () => unlessDown({ seconds: 7, transactions: 40 }),
      bytes: () => unlessDown(9_000),
      tableBytes: () => unlessDown(new Map([["requests", 8_000]])),
      oldestRows: () => unlessDown(new Map([["request_history", 4_000]])),
      defaultPartitionRows: () => unlessDown(new Map([["request_events", 3]])),
    },
    { nowMs: () => 10_000 },
  );
  const expected =
    /snapshot_seconds 7\n[^]*snapshot_transactions 40\n[^]*causeway_database_bytes 9000\n[^]*causeway_database_table_bytes\{table="requests"\} 8000\n[^]*oldest_row_seconds\{table="request_history"\} 6\n[^]*default_partition_rows\{table="request_events"\} 3\n/;
  expect(await registry.metrics()).toMatch(expected);
  isDown = true;
  expect(await registry.metrics()).toMatch(expected);
});
