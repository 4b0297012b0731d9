import type { Env } from "@causeway/config";
import { createLogger, createMetrics } from "@causeway/service-kit";
import { readDatabaseUrl } from "../config/database-url.ts";
import { createPool, sqlOn } from "../db/pool.postgres.ts";
import { pauseAdmin } from "../payments/policy/pause-admin.ts";
import { pauseStore } from "../payments/policy/policy.postgres.ts";
import { loggedEvents } from "../telemetry/logged-events.ts";
import type { OpenPauses } from "./commands/pause-command.ts";
import { chainsToName } from "./named-rows.ts";

/**
 * The dependencies of `operator pause`: the database, and the configured chains if it runs in the service's
 * environment.
 * @throws ConfigError without a database
 */
export function openPauses(env: Env): ReturnType<OpenPauses> {
  const pool = createPool(readDatabaseUrl(env), {
    max: 1,
    statementTimeoutMs: 30_000,
    applicationName: "causeway operator",
  });
  const chains = chainsToName(env);
  const log = createLogger({ name: "causeway-operator", level: "error" });
  return {
    admin: pauseAdmin({
      store: pauseStore(sqlOn(pool)),
      clock: { nowMs: () => Date.now() },
      events: loggedEvents(log, createMetrics("causeway-operator").registry),
      isKnownChain: chains.length === 0 ? undefined : (chainId) => chains.some(({ id }) => id === chainId),
    }),
    close: async () => await pool.end(),
  };
}
