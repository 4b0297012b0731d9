import { getTableName, sql as text, type SQL } from "drizzle-orm";
import pg from "pg";
import { defineSql, nameOf, nullable, runSql } from "../db/define-query.postgres.ts";
import { inTransaction } from "../db/in-transaction.postgres.ts";
import type { Month } from "../db/month.port.ts";
import { endOfMonth, monthAfter, monthOf, startOfMonth, toMonth } from "../db/month.ts";
import { sqlOn, type Sql } from "../db/pool.postgres.ts";
import { requestEvents } from "./requests.tables.ts";

const PARENT = getTableName(requestEvents);
/** Takes rows of months that have no partition, so that no insert fails. */
const DEFAULT = `${PARENT}_default`;
/** Partitions exist for the current month and this many months after it. */
const MONTHS_AHEAD = 2;
/**
 * While a change of partitions waits for a table, every later statement on that table waits behind it. So the
 * change gives up after this time and is retried.
 */
const LOCK_TIMEOUT = "500ms";
const LOCK_NOT_AVAILABLE = "55P03";
/** Counting stops here: any row in the default partition is one too many. */
const MAX_COUNTED = text.raw("10000");

/** Rows of the default partition that one statement reads. */
const PAGE = 20_000;

/** An SQL name. */
const sqlName = (name: string): SQL => text`${text.identifier(name)}`;
const partitionName = (month: Month): string => `${PARENT}_${month.replace("-", "_")}`;

const readPartitions = defineSql(
  "event_partitions",
  { name: String },
  () => text`select inhrelid::regclass::text as name from pg_inherits
    where inhparent = ${text.raw(`'${PARENT}'`)}::regclass order by 1`,
);
const countDefaultRows = defineSql(
  "event_partition_default_rows",
  { count: Number },
  () => text`select count(*) as count from (select from ${sqlName(DEFAULT)} limit ${MAX_COUNTED}) counted`,
);

/** Months that have a partition, in order. */
export async function partitionedMonths(sql: Sql): Promise<readonly Month[]> {
  const rows = await readPartitions(sql, {});
  return rows
    .filter(({ name }) => name !== DEFAULT)
    .map(({ name }) => toMonth(name.slice(PARENT.length + 1).replace("_", "-")));
}

/** Rows in default partitions by table, counted up to 10,000. */
export async function defaultPartitionRows(sql: Sql): Promise<ReadonlyMap<string, number>> {
  const [row] = await countDefaultRows(sql, {});
  return new Map([[PARENT, row?.count ?? 0]]);
}

/** Months of rows in the default partition. */
export async function monthsInDefault(sql: Sql): Promise<readonly Month[]> {
  const rows = await runSql(
    sql,
    { month: String },
    text`select distinct to_char(to_timestamp(${nameOf(requestEvents.atMs)} / 1000) at time zone 'utc', 'YYYY-MM') as month
      from ${sqlName(DEFAULT)} order by 1`,
  );
  return rows.map(({ month }) => toMonth(month));
}

/**
 * Makes the partitions of the current and the coming months. Any number of processes may run it at once.
 * A partition that cannot be made because its table is locked is made by a later call.
 */
export async function makePartitionsAhead(pool: pg.Pool, nowMs: number): Promise<void> {
  const existing = new Set(await partitionedMonths(sqlOn(pool)));
  for (let ahead = 0; ahead <= MONTHS_AHEAD; ahead++) {
    const month = monthAfter(monthOf(nowMs), ahead);
    if (!existing.has(month))
      await unlessLocked(() => inTransaction(pool, (client) => makePartition(client, month)));
  }
}

/**
 * Makes the partition of a month unless it exists, in the running transaction, and moves the month's rows
 * there from the default partition.
 * @throws DatabaseError when a table stays locked
 */
export async function makePartition(client: pg.PoolClient, month: Month): Promise<void> {
  await lockPartitions(client);
  const sql = sqlOn(client);
  if ((await partitionedMonths(sql)).includes(month)) return;
  const partition = sqlName(partitionName(month));
  await createLike(sql, partition, month);
  // After months without a partition there are more rows than one statement may move. While pages are moved,
  // other transactions still read these rows and write new ones.
  for await (const page of pagesOfDefault(sql)) await move(sql, takeFromDefault(month, page), partition);
  // Writers wait at the parent. A writer that waited at the default partition would fail: when it continues,
  // its row belongs to the new partition.
  await runSql(sql, {}, text`lock table only ${requestEvents} in share row exclusive mode`);
  await runSql(sql, {}, text`lock table ${sqlName(DEFAULT)} in access exclusive mode`);
  await move(sql, takeFromDefault(month, text`true`), partition);
  await attach(sql, month);
}

/**
 * Removes the events of a month except those that `keepCondition` selects, in the running transaction.
 * Deletes no single rows: replaces the partition with a new one that has the remaining rows.
 * @param keepCondition condition on the columns of `request_events`
 * @throws DatabaseError when the table stays locked
 */
export async function removeEvents(client: pg.PoolClient, month: Month, keepCondition: SQL): Promise<void> {
  const sql = sqlOn(client);
  if ((await monthsInDefault(sql)).includes(month)) await makePartition(client, month);
  await lockPartitions(client);
  if (!(await partitionedMonths(sql)).includes(month)) return;
  const [partition, keptTable] = [sqlName(partitionName(month)), sqlName(`${PARENT}_staying`)];
  // Events written after `move` would be dropped with the old partition.
  await runSql(sql, {}, text`lock table ${partition} in share mode`);
  await createLike(sql, keptTable, month);
  await move(sql, text`select * from ${partition} as ${requestEvents} where ${keepCondition}`, keptTable);
  const [row] = await runSql(
    sql,
    { hasRows: Boolean },
    text`select exists (select from ${keptTable}) as has_rows`,
  );
  // From here until the commit, other transactions wait for the trace.
  await runSql(sql, {}, text`drop table ${partition}`);
  if (row?.hasRows === true) {
    await runSql(sql, {}, text`alter table ${keptTable} rename to ${partition}`);
    await attach(sql, month);
  } else await runSql(sql, {}, text`drop table ${keptTable}`);
}

/** Runs `change`; false when a table stayed locked and nothing was changed. */
export async function unlessLocked(change: () => Promise<void>): Promise<boolean> {
  try {
    await change();
    return true;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === LOCK_NOT_AVAILABLE) return false;
    throw error;
  }
}

/** One change of partitions at a time, for the rest of the transaction. */
async function lockPartitions(client: pg.PoolClient): Promise<void> {
  await runSql(sqlOn(client), {}, text`select set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`);
  await runSql(
    sqlOn(client),
    {},
    text`select pg_advisory_xact_lock(hashtextextended('causeway:partitions of ' || ${PARENT}::text, 0))`,
  );
}

const takeFromDefault = (month: Month, page: SQL): SQL => text`delete from ${sqlName(DEFAULT)}
  where ${nameOf(requestEvents.atMs)} >= ${startOfMonth(month)}::bigint and ${nameOf(requestEvents.atMs)} < ${endOfMonth(month)}::bigint
    and ${page} returning *`;

/** Conditions that divide the rows of the default partition by their ids. */
async function* pagesOfDefault(sql: Sql): AsyncGenerator<SQL> {
  const id = nameOf(requestEvents.id);
  for (let after = 0; ;) {
    const [page] = await runSql(
      sql,
      { last: nullable(Number) },
      text`select max(${id}) as last from (select ${id} from ${sqlName(DEFAULT)} where ${id} > ${after} order by ${id} limit ${PAGE}) as page`,
    );
    if (page === undefined || page.last === null) return;
    yield text`${id} > ${after} and ${id} <= ${page.last}`;
    after = page.last;
  }
}

/** Creates a table like the partition of a month. */
async function createLike(sql: Sql, table: SQL, month: Month): Promise<void> {
  const [from, to] = [startOfMonth(month), endOfMonth(month)].map((ms) => text.raw(String(ms)));
  const atMs = nameOf(requestEvents.atMs);
  // Without an identity, because the partition uses that of its parent. With the constraint, attaching the
  // partition scans no rows while other transactions wait.
  await runSql(
    sql,
    {},
    text`create table ${table} (like ${requestEvents} including defaults including constraints including indexes including storage,
      constraint in_month check (${atMs} >= ${from} and ${atMs} < ${to}))`,
  );
}

/** Inserts the rows that a statement returns. */
async function move(sql: Sql, rows: SQL, table: SQL): Promise<void> {
  await runSql(sql, {}, text`with moved as (${rows}) insert into ${table} select * from moved`);
}

async function attach(sql: Sql, month: Month): Promise<void> {
  const [from, to] = [startOfMonth(month), endOfMonth(month)].map((ms) => text.raw(`'${ms}'`));
  await runSql(
    sql,
    {},
    text`alter table ${requestEvents} attach partition ${sqlName(partitionName(month))} for values from (${from}) to (${to})`,
  );
}
