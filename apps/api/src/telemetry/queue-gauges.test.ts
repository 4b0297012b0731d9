import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { queueGauges } from "./queue-gauges.ts";

test("publishes the jobs that wait in Postgres and in each queue", async () => {
  const registry = new Registry();
  queueGauges(
    registry,
    {
      outbox: async () => await Promise.resolve({ waiting: 2, oldestMs: 7_000 }),
      queues: async () => await Promise.resolve([{ queue: "fill", state: "wait", jobs: 5 }]),
    },
    { nowMs: () => 10_000 },
  );
  const text = await registry.metrics();
  expect(text).toContain("causeway_outbox_waiting 2");
  expect(text).toContain("causeway_outbox_oldest_seconds 3");
  expect(text).toContain('causeway_queue_jobs{queue="fill",state="wait"} 5');
});

test("publishes the outbox while Redis does not answer", async () => {
  const registry = new Registry();
  queueGauges(
    registry,
    {
      outbox: async () => await Promise.resolve({ waiting: 2, oldestMs: undefined }),
      queues: async () => await Promise.reject(new Error("Redis did not respond in time")),
    },
    { nowMs: () => 0 },
  );
  const text = await registry.metrics();
  expect(text).toContain("causeway_outbox_waiting 2");
  expect(text).toContain("causeway_outbox_oldest_seconds 0");
  expect(text).not.toContain("causeway_queue_jobs{");
});
