import { statement } from "../db/pool.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";

/** A lock by a bigint shows as its two halves. */
const read = statement(
  "leader_locks_held",
  `with asked as (select name, hashtextextended('causeway:' || name, 0) as key from unnest($1::text[]) as name)
   select name from asked where exists (
     select from pg_locks l join pg_database d on d.oid = l.database
     where d.datname = current_database() and l.locktype = 'advisory' and l.granted and l.objsubid = 1
       and l.classid::bigint = (key >> 32) & 4294967295 and l.objid::bigint = key & 4294967295)`,
);

/** Those of the leader locks that any process holds. */
export function leaderReads(sql: Sql): (names: readonly string[]) => Promise<ReadonlySet<string>> {
  return async (names) => {
    const rows = await sql.query<{ name: string }>(read, [names]);
    return new Set(rows.map(({ name }) => name));
  };
}
