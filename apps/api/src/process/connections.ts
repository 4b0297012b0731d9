import type { Logger } from "@causeway/service-kit";
import type { ServerLimits } from "../db/check-sessions.postgres.ts";
import type { ApiConfig } from "../config/config.ts";
import { SEARCHES } from "../requests/history/searches.wiring.ts";

/** Maximum number of Postgres connections of a process, by purpose. processes.md has the same table. */
export function connectionsOf(
  process: "api" | "worker",
  { poolSize }: Pick<ApiConfig["database"], "poolSize">,
): Readonly<Record<string, number>> {
  return process === "api"
    ? { pool: poolSize, searches: SEARCHES.max, listeners: 2 }
    : { pool: poolSize, listeners: 2, leaderLocks: 1 };
}

/** Logs the connections that this process needs, and warns if the server does not allow as many. */
export function logConnections(
  log: Pick<Logger, "info" | "warn">,
  connections: Readonly<Record<string, number>>,
  { maxConnections }: ServerLimits,
): void {
  const total = Object.values(connections).reduce((sum, count) => sum + count, 0);
  log.info({ event: "database_connections", ...connections, total, maxConnections });
  if (total > maxConnections)
    log.warn({
      event: "configuration",
      warning: `DATABASE_POOL_SIZE: this process needs up to ${total} connections, but Postgres allows ${maxConnections}: lower it, or raise max_connections`,
    });
}
