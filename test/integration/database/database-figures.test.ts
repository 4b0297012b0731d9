import type pg from "pg";
import { plansOf } from "../../support/plans-of.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { databaseBytes, tableBytes } from "../../../apps/api/src/telemetry/database-figures.postgres.ts";
import { outboxDepth } from "../../../apps/api/src/db/outbox-depth.postgres.ts";
import { createPool, sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import { requestsUnderWay } from "../../../apps/api/src/requests/requests-under-way.postgres.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";

let database: TestDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool(database.url, { max: 1, statementTimeoutMs: 10_000, applicationName: "test" });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

test("measures the size of the database and of each table", async () => {
  const sql = sqlOn(pool);
  const before = await databaseBytes(sql);
  await pool.query(
    "create table filler as select repeat(md5(n::text), 30) as filling from generate_series(1, 2000) n",
  );
  expect((await databaseBytes(sql)) - before).toBeGreaterThan(1_900_000);
  expect((await tableBytes(sql)).get("filler")).toBeGreaterThan(1_900_000);
});

/** @param hours since the last update of the requests */
const store = async (state: string, hours: number, count: number): Promise<unknown> =>
  await pool.query(
    `insert into requests (request_id, order_id, kind, state, origin_chain_id, destination_chain_id, created_at_ms, updated_at_ms, fill_deadline_ms, terms)
     select '0x' || md5($1 || n) || md5($1 || n), '0x' || md5($1 || n) || md5('order' || $1 || n), 'bridge', $1, 1, 2, 0, 10_000_000 - $2 * 3_600_000 + n, 0, '{}'
     from generate_series(1, $3::int) n`,
    [state, hours, count],
  );

test("counts requests in progress by state, with the time of the oldest, without reading any other request", async () => {
  await store("quoted", 5, 1_000);
  await store("filled", 5, 1_000);
  await store("fillable", 2, 3);
  await store("refunding", 1, 1);
  await pool.query("analyze requests");
  const sql = sqlOn(pool);
  expect(await requestsUnderWay(sql)).toEqual([
    { state: "deposited", count: 0, oldestMs: undefined },
    { state: "fillable", count: 3, oldestMs: 10_000_000 - 2 * 3_600_000 + 1 },
    { state: "filling", count: 0, oldestMs: undefined },
    { state: "submitted", count: 0, oldestMs: undefined },
    { state: "refunding", count: 1, oldestMs: 10_000_000 - 3_600_000 + 1 },
  ]);
  const [plan] = await plansOf(pool, requestsUnderWay);

  expect(plan).toContain("requests_under_way");
  expect(plan).not.toContain("Seq Scan");
});

test("counts the outbox jobs that are in no queue yet, and reports the age of the oldest", async () => {
  const sql = sqlOn(pool);
  expect(await outboxDepth(sql)).toEqual({ waiting: 0, oldestMs: undefined });
  await pool.query(
    `insert into outbox (job_name, job_id, payload, created_at_ms, published_at_ms)
     values ('fill', 'a', '{}', 1000, 2000), ('fill', 'b', '{}', 3000, null), ('fill', 'c', '{}', 4000, null)`,
  );
  expect(await outboxDepth(sql)).toEqual({ waiting: 2, oldestMs: 3_000 });
});
