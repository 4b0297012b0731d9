import type { Lifecycle } from "@causeway/service-kit";
import { Gauge, type Registry } from "prom-client";
import type pg from "pg";
import type { ApiConfig } from "../config/config.ts";
import type { Services } from "../db/services.port.ts";
import { httpSender } from "../push/http-sender.adapter.ts";
import type { Check } from "./checks.ts";
import { deliverNotices } from "./deliver-notices.ts";
import { foldNotices, WINDOW_MS } from "./fold-notices.ts";
import { noticeStore } from "./notice-store.postgres.ts";

const ROUND_MS = 5_000;
const TIMEOUT_MS = 10_000;
const DAY_MS = 24 * 3_600_000;
const RETENTION_MS = { deliveries: DAY_MS, states: 7 * DAY_MS };

interface NoticeNeeds extends Pick<Services, "clock" | "events"> {
  readonly config: Pick<ApiConfig, "notices" | "environment">;
  readonly pool: pg.Pool;
  readonly lifecycle: Lifecycle;
  readonly registry: Registry;
}

/**
 * Notifies operators until the process ends; does nothing without channels. May run in any number of
 * processes.
 */
export function startNotices(needs: NoticeNeeds, checks: readonly Check[]): void {
  const { clock, events, config, pool, lifecycle, registry } = needs;
  const { channels } = config.notices;
  if (channels.length === 0) return;
  const store = noticeStore(pool);
  // Operators run the receivers, often on their own network.
  const sender = httpSender({ allowPrivate: true, timeoutMs: TIMEOUT_MS });
  lifecycle.add("notice connections", () => sender.close());
  const closing = new AbortController();

  const reportFault = (part: string) => (error: unknown) => events.fault("notice_fault", error, { part });
  const fold = async (): Promise<void> => {
    // A check that fails proves nothing about its conditions.
    const results = await Promise.all(checks.map(async (check) => await check().catch(() => [])));
    const nowMs = clock.nowMs();
    const findings = results.flat();
    await store.fold(
      { findings, channels: channels.map(({ id }) => id), sinceMs: nowMs - WINDOW_MS, nowMs },
      (read) => foldNotices({ ...read, findings }, nowMs),
    );
    await store.prune({
      createdBeforeMs: nowMs - RETENTION_MS.deliveries,
      seenBeforeMs: nowMs - RETENTION_MS.states,
    });
  };
  const delivery = {
    store,
    sender,
    clock,
    events,
    channels,
    environment: config.environment,
    chance: Math.random,
  };
  let running: Promise<void> | undefined;
  const runRound = (): void => {
    running ??= fold()
      .catch(reportFault("fold"))
      .then(async () => await deliverNotices(delivery, closing.signal))
      .catch(reportFault("deliver"))
      .finally(() => {
        running = undefined;
      });
  };
  const timer = setInterval(runRound, ROUND_MS);
  lifecycle.add("notices", async () => {
    clearInterval(timer);
    closing.abort();
    await running;
  });
  void new Gauge({
    name: "causeway_notices_oldest_seconds",
    help: "Age of the oldest notice that a channel has not accepted",
    registers: [registry],
    async collect(): Promise<void> {
      const waiting = await store.waiting().catch(() => undefined);
      // Unknown is not zero: the last known value stays.
      if (waiting === undefined) return;
      this.set(waiting.oldestMs === undefined ? 0 : Math.max(0, clock.nowMs() - waiting.oldestMs) / 1_000);
    },
  });
}
