import { sql as text } from "drizzle-orm";
import { defineSql } from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { requestHistory } from "../requests/history/history.tables.ts";
import { requestEvents, statusEvents } from "../requests/requests.tables.ts";

/** Sessions that keep vacuum from removing dead rows of this database. */
export interface OldestSnapshot {
  /** Age of the oldest transaction of a session that has a snapshot. */
  readonly seconds: number;
  /**
   * Transactions since the oldest snapshot, including replication slots, standbys and prepared transactions.
   */
  readonly transactions: number;
}

const read = defineSql(
  "oldest_snapshot",
  { seconds: Number, transactions: Number },
  () => text`with sessions as (
     select xact_start, backend_xmin from pg_stat_activity
     where datname = current_database() and backend_type = 'client backend' and backend_xmin is not null and pid <> pg_backend_pid())
   select
     coalesce((select extract(epoch from clock_timestamp() - min(xact_start)) from sessions), 0)::float8 as seconds,
     coalesce(greatest(
       (select max(age(backend_xmin)) from sessions),
       (select max(age(backend_xmin)) from pg_stat_replication),
       (select max(age(xmin)) from pg_replication_slots),
       (select max(age(transaction)) from pg_prepared_xacts where database = current_database())), 0) as transactions`,
);

export async function oldestSnapshot(sql: Sql): Promise<OldestSnapshot> {
  const [row] = await read(sql, {});
  return row ?? { seconds: 0, transactions: 0 };
}

const size = defineSql(
  "database_bytes",
  { bytes: Number },
  () => text`select pg_database_size(current_database()) as bytes`,
);

const tableSizes = defineSql(
  "database_table_bytes",
  { name: String, bytes: Number },
  () => text`
    select coalesce(pg_partition_root(oid), oid)::regclass::text as name, sum(pg_total_relation_size(oid)) as bytes from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace group by 1`,
);

// Each table's oldest row is the first row of an index. Ids of events are in the order of their times.
const oldest = defineSql(
  "database_oldest_rows",
  { name: String, atMs: Number },
  () => text`
    (select 'request_events' as name, ${requestEvents.atMs} from ${requestEvents} order by ${requestEvents.id} limit 1)
    union all (select 'request_history', ${requestHistory.createdAtMs} from ${requestHistory} order by ${requestHistory.createdAtMs} limit 1)
    union all (select 'status_events', ${statusEvents.atMs} from ${statusEvents} order by ${statusEvents.atMs} limit 1)`,
);

/**
 * The time of the oldest row, ms, of each table that grows until its rows are archived or pruned. Empty
 * tables are absent.
 */
export async function oldestRows(sql: Sql): Promise<ReadonlyMap<string, number>> {
  return new Map((await oldest(sql, {})).map(({ name, atMs }) => [name, atMs]));
}

/** Bytes on disk of each table, with its partitions, indexes and dead rows. */
export async function tableBytes(sql: Sql): Promise<ReadonlyMap<string, number>> {
  return new Map((await tableSizes(sql, {})).map(({ name, bytes }) => [name, bytes]));
}

/** Bytes on disk of the database, including indexes and dead rows. */
export async function databaseBytes(sql: Sql): Promise<number> {
  const [row] = await size(sql, {});
  return row?.bytes ?? 0;
}
