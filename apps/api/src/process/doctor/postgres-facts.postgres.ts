import { sql as text } from "drizzle-orm";
import { checkSessions, SessionsNotKept } from "../../db/check-sessions.postgres.ts";
import { withDatabaseProblems } from "../../db/database-problem.postgres.ts";
import { runSql } from "../../db/define-query.postgres.ts";
import { appliedMigrations, MIGRATIONS_DIR, migrationsOf } from "../../db/migrations.postgres.ts";
import { createPool, sqlOn, type Sql } from "../../db/pool.postgres.ts";
import { waitingDeliveries } from "../../push/webhook-report.postgres.ts";
import type { ClockReading } from "./clock-check.ts";
import type { PostgresFacts } from "./postgres-check.ts";

/**
 * Reads the settings of a server. Changes nothing.
 * @throws StartProblem when it is unreachable, with host and remedy; errors of the driver
 */
export async function readPostgres(
  url: string,
): Promise<{ readonly facts: PostgresFacts; readonly clock: ClockReading }> {
  return await withDatabaseProblems(url, async () => {
    const sessionProblem = await readSessionProblem(url);
    const pool = createPool(url, {
      max: 1,
      statementTimeoutMs: 5_000,
      applicationName: "causeway operator",
    });
    try {
      const sql = sqlOn(pool);
      const { clock, ...settings } = await readServer(sql);
      const [expected, applied] = await Promise.all([migrationsOf(MIGRATIONS_DIR), appliedMigrations(pool)]);
      const missingMigrations = expected.filter((name) => !applied.has(name));
      const failingWebhooks = missingMigrations.length > 0 ? 0 : (await waitingDeliveries(sql)).failing;
      return { facts: { ...settings, sessionProblem, missingMigrations, failingWebhooks }, clock };
    } finally {
      await pool.end();
    }
  });
}

async function readSessionProblem(url: string): Promise<string | undefined> {
  try {
    await checkSessions(url);
    return undefined;
  } catch (error) {
    if (error instanceof SessionsNotKept) return error.finding;
    throw error;
  }
}

async function readServer(sql: Sql) {
  const startedAtMs = Date.now();
  const [row] = await runSql(
    sql,
    {
      versionNumber: Number,
      isInRecovery: Boolean,
      synchronousCommit: String,
      synchronousStandbys: String,
      standbys: Number,
      fsync: String,
      fullPageWrites: String,
      maxConnections: Number,
      nowMs: Number,
    },
    text`select current_setting('server_version_num')::integer as version_number,
      pg_is_in_recovery() as is_in_recovery,
      current_setting('synchronous_commit') as synchronous_commit,
      current_setting('synchronous_standby_names') as synchronous_standbys,
      (select count(*)::integer from pg_stat_replication) as standbys,
      current_setting('fsync') as fsync,
      current_setting('full_page_writes') as full_page_writes,
      current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer as max_connections,
      floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms`,
  );
  if (row === undefined) throw new Error("invariant violated: a select without a table has no row");
  const { nowMs, fsync, fullPageWrites, ...settings } = row;
  return {
    ...settings,
    fsync: fsync === "on",
    fullPageWrites: fullPageWrites === "on",
    clock: { theirsMs: nowMs, oursMs: (startedAtMs + Date.now()) / 2 },
  };
}
