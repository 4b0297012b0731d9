import { Gauge } from "prom-client";
import type { Registry } from "prom-client";
import type { Clock } from "../db/clock.port.ts";

interface Waiting {
  readonly waiting: number;
  readonly oldestMs: number | undefined;
  readonly failing: number;
}

/** How far webhook deliveries lag behind, read from the database with each scrape. */
export function webhookGauges(registry: Registry, read: () => Promise<Waiting>, clock: Clock): void {
  const addGauge = (name: string, help: string, valueOf: (waiting: Waiting) => number): void =>
    void new Gauge({
      name,
      help,
      registers: [registry],
      async collect(): Promise<void> {
        const waiting = await read().catch(() => undefined);
        // Unknown is not zero: the last known value stays.
        if (waiting !== undefined) this.set(valueOf(waiting));
      },
    });
  addGauge("causeway_webhooks_waiting", "Waiting deliveries", ({ waiting }) => waiting);
  addGauge("causeway_webhooks_lag_seconds", "Age of the oldest undelivered event", ({ oldestMs }) =>
    oldestMs === undefined ? 0 : Math.max(0, clock.nowMs() - oldestMs) / 1000,
  );
  addGauge("causeway_webhooks_failing", "Endpoints whose last attempt failed", ({ failing }) => failing);
}
