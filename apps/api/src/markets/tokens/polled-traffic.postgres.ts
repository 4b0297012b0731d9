import type { Clock } from "../../db/clock.port.ts";
import type { RecentTraffic, TokenTraffic } from "./token-traffic.port.ts";
import type { Sql } from "../../db/pool.postgres.ts";
import { readTokenTraffic } from "./token-traffic.postgres.ts";

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;

export interface PolledTrafficOptions {
  readonly clock: Clock;
  readonly everyMs: number;
  /** Receives a failed read; the previous result stays. */
  readonly onFault: (error: unknown) => void;
}

/**
 * Reads in the background, immediately and then every `everyMs`, so that no caller waits for a read. Empty
 * before the first read.
 */
export function pollTraffic(
  sql: Sql,
  { clock, everyMs, onFault }: PolledTrafficOptions,
): RecentTraffic & { close(): Promise<void> } {
  let latest: readonly TokenTraffic[] = [];
  let running: Promise<void> | undefined;
  const round = (): void => {
    const nowMs = clock.nowMs();
    running ??= readTokenTraffic(sql, nowMs - WEEK_MS, nowMs - DAY_MS)
      .then((traffic) => {
        latest = traffic;
      })
      .catch(onFault)
      .finally(() => {
        running = undefined;
      });
  };
  round();
  const timer = setInterval(round, everyMs);
  timer.unref();
  return {
    latest: () => latest,
    close: async () => {
      clearInterval(timer);
      await running;
    },
  };
}
