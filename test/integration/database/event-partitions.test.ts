import { getTableConfig } from "drizzle-orm/pg-core";
import type pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { monthAfter, monthOf, startOfMonth } from "../../../apps/api/src/db/month.ts";
import { createPool, sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import {
  defaultPartitionRows,
  makePartitionsAhead,
  partitionedMonths,
} from "../../../apps/api/src/requests/event-partitions.postgres.ts";
import { requestStories } from "../../../apps/api/src/requests/history/request-stories.postgres.ts";
import { pruneQuotesAndAddresses } from "../../../apps/api/src/requests/prune-quotes-and-addresses.postgres.ts";
import { requestEvents } from "../../../apps/api/src/requests/requests.tables.ts";
import { oldestRows, tableBytes } from "../../../apps/api/src/telemetry/database-figures.postgres.ts";
import { plansOf } from "../../support/plans-of.ts";
import { someTerms } from "../../support/terms.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";

/** Far from the current month, for which the migration created partitions. */
const NOW_MS = Date.UTC(2031, 10, 30, 23, 59);
let database: TestDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool(database.url, { max: 6, statementTimeoutMs: 10_000, applicationName: "test" });
});
beforeEach(async () => {
  await pool.query("truncate request_events");
  for (const month of await partitionedMonths(sqlOn(pool)))
    if (month >= "2031") await pool.query(`drop table request_events_${month.replace("-", "_")}`);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const happened = async (atMs: number): Promise<void> => {
  await pool.query(
    "insert into request_events (request_id, at_ms, event, detail) values ('0x', $1, 'fillMined', '{}')",
    [atMs],
  );
};
const tablesOfRows = async (): Promise<string[]> => {
  const { rows } = await pool.query<{ name: string }>(
    "select tableoid::regclass::text as name from request_events order by id",
  );
  return rows.map(({ name }) => name);
};
const months = async () => (await partitionedMonths(sqlOn(pool))).filter((month) => month >= "2031");
const inDefault = async () => (await defaultPartitionRows(sqlOn(pool))).get("request_events");

test("a migrated database has the partitions of this month and the next", async () => {
  const now = monthOf(Date.now());
  expect(await partitionedMonths(sqlOn(pool))).toEqual([now, monthAfter(now)]);
});

test("a row goes to the partition of its month, or to the default partition if its month has none", async () => {
  await happened(NOW_MS);
  expect(await inDefault()).toBe(1);
  await makePartitionsAhead(pool, NOW_MS);
  await happened(startOfMonth("2031-12") - 1);
  await happened(startOfMonth("2031-12"));
  await happened(startOfMonth("2040-01"));
  expect(await tablesOfRows()).toEqual([
    "request_events_2031_11",
    "request_events_2031_11",
    "request_events_2031_12",
    "request_events_default",
  ]);
  expect(await inDefault(), "rows without a partition").toBe(1);
  expect((await oldestRows(sqlOn(pool))).get("request_events")).toBe(NOW_MS);
});

test("three concurrent workers create the partitions of the coming months once, and a repeated run changes nothing", async () => {
  await Promise.all([1, 2, 3].map(async () => await makePartitionsAhead(pool, NOW_MS)));
  await makePartitionsAhead(pool, NOW_MS);
  expect(await months()).toEqual(["2031-11", "2031-12", "2032-01"]);
});

test("a lock on the table delays a new partition, but delays neither inserts nor the worker", async () => {
  const blocker = await pool.connect();
  try {
    await blocker.query("begin; lock table request_events in share update exclusive mode");
    const making = makePartitionsAhead(pool, NOW_MS);
    const startedMs = performance.now();
    await happened(NOW_MS);
    expect(performance.now() - startedMs).toBeLessThan(400);
    await making;
    expect(await months()).toEqual([]);
    await blocker.query("rollback");
  } finally {
    blocker.release(true);
  }
  await makePartitionsAhead(pool, NOW_MS);
  expect(await tablesOfRows()).toEqual(["request_events_2031_11"]);
});

test("moves more rows of a month than one statement can, while other processes write", async () => {
  const ROWS = 300_000;
  const AT_ONCE = 30_000;
  for (let from = 1; from < ROWS; from += AT_ONCE)
    await pool.query(
      `insert into request_events (request_id, at_ms, event, detail)
       select '0x' || md5(n::text), $1::bigint - (n % 3)::bigint * 2678400000, 'fillMined', '{}'
       from generate_series($2::int, $3::int) n`,
      [NOW_MS, from, from + AT_ONCE - 1],
    );
  const late = createPool(database.url, { max: 2, statementTimeoutMs: 1_000, applicationName: "test" });
  let isMoving = true;
  let written = 0;
  const writing = async (): Promise<void> => {
    for (; isMoving; written++) await happened(NOW_MS);
  };
  const moving = makePartitionsAhead(late, NOW_MS).finally(() => (isMoving = false));
  const outcomes = await Promise.allSettled([moving, writing()]);
  await late.end();
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
  expect(written).toBeGreaterThan(10);
  expect(await months()).toEqual(["2031-11", "2031-12", "2032-01"]);
  const { rows } = await pool.query<{ count: number }>("select count(*) from request_events_2031_11");
  expect(rows[0]?.count).toBe(ROWS / 3 + written);
  const all = await pool.query<{ count: number }>("select count(*) from request_events");
  expect(all.rows[0]?.count).toBe(ROWS + written);
});

test("every partition has the keys and indexes of the schema", async () => {
  await makePartitionsAhead(pool, NOW_MS);
  const { indexes, primaryKeys } = getTableConfig(requestEvents);
  const described = [
    ...indexes.map(({ config }) => config.columns),
    ...primaryKeys.map(({ columns }) => columns),
  ]
    .map((columns) => columns.map((column) => ("name" in column ? column.name : "?")).join(", "))
    .toSorted();
  const { rows } = await pool.query<{ name: string; keys: string[] }>(
    `select c.relname as name, array_agg(substring(pg_get_indexdef(x.indexrelid) from '\\((.*)\\)') order by 1) as keys
     from pg_class c join pg_index x on x.indrelid = c.oid
     where c.oid = 'request_events'::regclass or c.oid in (select inhrelid from pg_inherits where inhparent = 'request_events'::regclass)
     group by 1`,
  );
  expect(rows.length).toBeGreaterThanOrEqual(7);
  for (const { name, keys } of rows) expect(keys.toSorted(), name).toEqual(described);
});

test("the size of a partitioned table is that of all its partitions", async () => {
  await makePartitionsAhead(pool, NOW_MS);
  await pool.query(
    `insert into request_events (request_id, at_ms, event, detail)
     select '0x', $1::bigint + (n % 2) * 86400000, 'fillMined', repeat(md5(n::text), 30) from generate_series(1, 2000) n`,
    [NOW_MS],
  );
  const sizes = await tableBytes(sqlOn(pool));
  expect(sizes.get("request_events")).toBeGreaterThan(1_900_000);
  expect([...sizes.keys()].filter((name) => name.startsWith("request_events"))).toEqual(["request_events"]);
});

test("reading and pruning the events of a request probes an index of every partition", async () => {
  for (let year = 0; year < 2; year++)
    for (let quarter = 0; quarter < 4; quarter++)
      await makePartitionsAhead(pool, Date.UTC(2031 + year, 3 * quarter, 15));
  await pool.query(
    `insert into request_events (request_id, at_ms, event, detail)
     select '0x' || md5(n::text), $1::bigint + n::bigint * 1000000, 'fillMined', '{}' from generate_series(1, 60000) n`,
    [Date.UTC(2031, 0, 1)],
  );
  await pool.query("analyze request_events");
  const plans = [
    ...(await plansOf(pool, async (sql) => await requestStories(sql, [someTerms().requestId], true))),
    ...(await plansOf(pool, async (sql) => await pruneQuotesAndAddresses(sql, "requests", NOW_MS, 125))),
  ].filter((plan) => plan.includes("request_events_2032_06"));
  expect(plans).toHaveLength(2);
  for (const plan of plans) expect(plan).not.toMatch(/Seq Scan on request_events_2032_06/);
});
