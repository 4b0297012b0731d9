import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { pruneGauge } from "./prune-gauge.ts";

const KEPT_MS = {
  outbox: 1_000,
  requests: 5_000,
  large_requests: 5_000,
  idempotency_keys: 1_000,
  claims: 1_000,
  attempts: 0,
  hub_executions: 0,
};

test("publishes how overdue the oldest prunable row of each table is, and keeps the last value while the database is unavailable", async () => {
  const registry = new Registry();
  let isDown = false;
  const oldestPrunable = async () => {
    if (isDown) throw new Error("no connection");
    return await Promise.resolve([
      { table: "outbox" as const, sinceMs: 97_000 },
      { table: "requests" as const, sinceMs: 99_000 },
      { table: "claims" as const, sinceMs: undefined },
    ]);
  };
  pruneGauge(registry, { oldestPrunable }, { nowMs: () => 100_000 }, KEPT_MS);
  const metric = (table: string, value: number) =>
    `causeway_prune_overdue_seconds{table="${table}"} ${value}\n`;
  const text = `${await registry.metrics()}\n`;
  expect(text).toContain(metric("outbox", 2));
  expect(text, "its time has not come").toContain(metric("requests", 0));
  expect(text, "it is empty").toContain(metric("claims", 0));
  isDown = true;
  expect(`${await registry.metrics()}\n`).toContain(metric("outbox", 2));
});
