import { ConfigError, readSettings, withVaultSecrets, type Env } from "@causeway/config";
import { createLogger, createMetrics } from "@causeway/service-kit";
import { readDatabaseUrl } from "../config/database-url.ts";
import { noticeConfig, noticeSettings } from "../config/notices.ts";
import type { Events } from "../db/events.port.ts";
import { createPool, sqlOn } from "../db/pool.postgres.ts";
import { alarmInbox } from "../notices/stored-alarms.postgres.ts";
import { pauseAdmin } from "../payments/policy/pause-admin.ts";
import { pauseStore } from "../payments/policy/policy.postgres.ts";
import { loggedEvents } from "../telemetry/logged-events.ts";
import type { OpenPauses } from "./commands/pause-command.ts";
import { chainsToName } from "./named-rows.ts";

/**
 * The dependencies of `operator pause`: the database, and the configured chains if the environment has them.
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
  const clock = { nowMs: () => Date.now() };
  const sql = sqlOn(pool);
  const events = loggedEvents(log, createMetrics("causeway-operator").registry);
  const inbox = alarmInbox(clock);
  const alarmWrites: Promise<void>[] = [];
  // Stores the alarm: the service's processes deliver stored notices.
  const alarm: Events["alarm"] = (event, facts) => {
    events.alarm(event, facts);
    if (hasChannels(env))
      alarmWrites.push(
        inbox.store(sql, event, facts).catch((error: unknown) => {
          events.fault("notice_fault", error, { part: "store" });
        }),
      );
  };
  return {
    admin: pauseAdmin({
      store: pauseStore(sql),
      clock,
      events: { alarm },
      isKnownChain: chains.length === 0 ? undefined : (chainId) => chains.some(({ id }) => id === chainId),
    }),
    close: async () => {
      await Promise.all(alarmWrites);
      await pool.end();
    },
  };
}

/**
 * Whether notification channels are configured. An invalid `NOTIFY_URLS` is reported, but must not prevent a
 * pause.
 */
function hasChannels(env: Env): boolean {
  try {
    return noticeConfig(readSettings(noticeSettings, withVaultSecrets(env))).channels.length > 0;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`warning: no notice will be sent: ${error.problems.join("; ")}\n`);
    return false;
  }
}
