import type { Env } from "@causeway/config";
import { readDatabaseUrl } from "../config/database-url.ts";
import { checkSessions } from "../db/check-sessions.postgres.ts";
import { withDatabaseProblems } from "../db/database-problem.postgres.ts";
import { createPool } from "../db/pool.postgres.ts";
import { archiveFiles } from "../reconcile/archive/archive-files.adapter.ts";
import { archiveStore } from "../reconcile/archive/archive.postgres.ts";
import type { OpenArchives } from "./commands/archive-command.ts";

const LOCK = "select pg_try_advisory_lock(hashtextextended('causeway:archive', 0)) as taken";
/** Choosing the requests of a large month takes minutes, and blocks no other session. */
const STATEMENT_TIMEOUT_MS = 6 * 3_600_000;

/**
 * What `operator archive` uses: the database and a folder.
 * @throws ConfigError
 */
export function openArchives(env: Env): ReturnType<OpenArchives> {
  const url = readDatabaseUrl(env);
  const pool = createPool(url, {
    max: 1,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    applicationName: "causeway archive",
  });
  return {
    async begin() {
      // Behind a pooler in transaction mode, the lock belongs to no process.
      await withDatabaseProblems(url, async () => await checkSessions(url));
      const client = await pool.connect();
      const { rows } = await client.query<{ taken: boolean }>(LOCK);
      if (rows[0]?.taken !== true) {
        client.release();
        throw new Error("another `operator archive` is running on this database; wait until it has ended");
      }
      return { store: archiveStore(client), close: () => client.release(true) };
    },
    filesIn: archiveFiles,
    nowMs: () => Date.now(),
    async close() {
      await pool.end();
    },
  };
}
