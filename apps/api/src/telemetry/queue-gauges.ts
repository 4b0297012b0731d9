import type { OutboxDepth, QueueDepth } from "../db/queue-depth.port.ts";
import { Gauge } from "prom-client";
import type { Registry } from "prom-client";
import type { Clock } from "../db/clock.port.ts";

/** Pending jobs: committed in Postgres, and queued in Redis. */
export function queueGauges(
  registry: Registry,
  reads: {
    readonly outbox: () => Promise<OutboxDepth>;
    readonly queues: () => Promise<readonly QueueDepth[]>;
  },
  clock: Clock,
): void {
  const addOutboxGauge = (name: string, help: string, value: (depth: OutboxDepth) => number): void =>
    void new Gauge({
      name,
      help,
      registers: [registry],
      async collect(): Promise<void> {
        const depth = await reads.outbox().catch(() => undefined);
        // Unknown is not zero, so the last known value remains.
        if (depth !== undefined) this.set(value(depth));
      },
    });
  addOutboxGauge(
    "causeway_outbox_waiting",
    "Committed jobs that are not in a queue yet, counted up to 10000",
    ({ waiting }) => waiting,
  );
  addOutboxGauge(
    "causeway_outbox_oldest_seconds",
    "Age of the oldest committed job that is not in a queue yet",
    ({ oldestMs }) => (oldestMs === undefined ? 0 : Math.max(0, clock.nowMs() - oldestMs) / 1000),
  );
  void new Gauge({
    name: "causeway_queue_jobs",
    help: "Jobs in Redis by queue and state (wait, active, delayed, failed)",
    labelNames: ["queue", "state"],
    registers: [registry],
    async collect(): Promise<void> {
      for (const { queue, state, jobs } of await reads.queues().catch(() => []))
        this.set({ queue, state }, jobs);
    },
  });
}
