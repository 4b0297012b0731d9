import { sql as text } from "drizzle-orm";
import type pg from "pg";
import { runSql } from "./define-query.postgres.ts";
import { sqlOn } from "./pool.postgres.ts";

/** Describes the oldest open transaction of another session, for a message; undefined if there is none. */
export async function oldestTransaction(client: pg.Client): Promise<string | undefined> {
  const [row] = await runSql(
    sqlOn(client),
    { text: String },
    text`select format('pid %s, %s, open for %s s', pid, coalesce(nullif(application_name, ''), usename),
        floor(extract(epoch from clock_timestamp() - xact_start))) as text
      from pg_stat_activity
      where datname = current_database() and xact_start is not null and pid <> pg_backend_pid()
      order by xact_start limit 1`,
  );
  return row?.text;
}
