import { sql as text } from "drizzle-orm";
import { defineSql, type Params } from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";

// Postgres shows an advisory lock on a bigint as its two halves.
const held = defineSql(
  "leader_locks_held",
  { name: String },
  ({ names }: Params<{ names: readonly string[] }>) => text`
    with asked as (select name, hashtextextended('causeway:' || name, 0) as key from unnest(${names}::text[]) as name)
    select name from asked where exists (
      select from pg_locks l join pg_database d on d.oid = l.database
      where d.datname = current_database() and l.locktype = 'advisory' and l.granted and l.objsubid = 1
        and l.classid::bigint = (key >> 32) & 4294967295 and l.objid::bigint = key & 4294967295)`,
);

/** Returns which of these leader locks any process holds. */
export function leaderReads(sql: Sql): (names: readonly string[]) => Promise<ReadonlySet<string>> {
  return async (names) => new Set((await held(sql, { names })).map(({ name }) => name));
}
