import type { Env } from "@causeway/config";
import type pg from "pg";
import { readDatabaseUrl } from "../config/database-url.ts";
import { checkSessions } from "../db/check-sessions.postgres.ts";
import { databaseNowMs } from "../db/database-clock.postgres.ts";
import { withDatabaseProblems } from "../db/database-problem.postgres.ts";
import { createPool, sqlOn } from "../db/pool.postgres.ts";
import { isUnlocked, lockShared, tryLock } from "../db/session-lock.postgres.ts";
import { configureSession } from "../db/session-settings.postgres.ts";
import { archiveFiles } from "../reconcile/archive/archive-files.adapter.ts";
import { ARCHIVE_SESSION, archiveStore } from "../reconcile/archive/archive.postgres.ts";
import { MAX_CONNECTIONS, type OpenArchives } from "./commands/archive-command.ts";

const LOCK = "causeway:archive";
/**
 * Every session of a run shares this lock: if a run lost its first session, its other sessions may still be
 * at work.
 */
const WORK_LOCK = "causeway:archive work";
/** Maximum difference between the clocks of the host and of the database. */
const MAX_CLOCK_DIFFERENCE_MS = 60_000;
/** Six hours: selecting the requests of a large month takes minutes, and blocks no other session. */
const STATEMENT_TIMEOUT_MS = 6 * 3_600_000;

/**
 * The dependencies of `operator archive`: the database and a folder.
 * @throws ConfigError
 */
export function openArchives(env: Env): ReturnType<OpenArchives> {
  const url = readDatabaseUrl(env);
  const pool = createPool(url, {
    max: MAX_CONNECTIONS,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    applicationName: "causeway archive",
    plans: "per use",
  });
  return {
    async begin(connections) {
      // A pooler in transaction mode would not keep the session, and so the lock, with this process.
      await withDatabaseProblems(url, async () => await checkSessions(url));
      const clients: pg.PoolClient[] = [];
      // Destroys the connections: that ends statements in progress and releases their locks.
      const close = (): void => {
        for (const client of clients) client.release(true);
      };
      try {
        const first = await pool.connect();
        clients.push(first);
        if (!(await tryLock(first, LOCK)) || !(await isUnlocked(first, WORK_LOCK)))
          throw new Error("another `operator archive` is running on this database; wait until it has ended");
        await checkClock(first);
        while (clients.length < connections) clients.push(await pool.connect());
        for (const client of clients) {
          await lockShared(client, WORK_LOCK);
          await configureSession(client, ARCHIVE_SESSION);
        }
        return { store: archiveStore(first), otherConnections: clients.slice(1).map(archiveStore), close };
      } catch (error) {
        close();
        throw error;
      }
    },
    filesIn: archiveFiles,
    nowMs: () => Date.now(),
    async close() {
      await pool.end();
    },
  };
}

/**
 * The host's clock decides which requests are old enough: if it is ahead, the command would archive requests
 * that the service still reads.
 */
async function checkClock(client: pg.PoolClient): Promise<void> {
  const databaseMs = await databaseNowMs(sqlOn(client));
  const aheadMs = Date.now() - databaseMs;
  if (Math.abs(aheadMs) <= MAX_CLOCK_DIFFERENCE_MS) return;
  throw new Error(
    `the clock of this host is ${Math.round(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? "ahead of" : "behind"} the clock of the database; ` +
      `correct them until they differ by at most ${MAX_CLOCK_DIFFERENCE_MS / 1000} s, then run the command again`,
  );
}
