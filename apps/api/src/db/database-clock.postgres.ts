import { sql as text } from "drizzle-orm";
import { runSql } from "./define-query.postgres.ts";
import type { Sql } from "./pool.postgres.ts";

/** The clock of the database server, ms since the epoch. */
export async function databaseNowMs(sql: Sql): Promise<number> {
  const [row] = await runSql(
    sql,
    { nowMs: Number },
    text`select extract(epoch from clock_timestamp())::float8 * 1000 as now_ms`,
  );
  if (row === undefined) throw new Error("invariant violated: the database did not return its time");
  return row.nowMs;
}
