import type pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { databaseBytes } from "../../apps/api/src/adapters/postgres/database-figures.ts";
import { createPool, sqlOn } from "../../apps/api/src/adapters/postgres/pool.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

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

test("the database's size grows by what is stored", async () => {
  const before = await databaseBytes(sqlOn(pool));
  await pool.query(
    "create table filler as select repeat(md5(n::text), 30) as filling from generate_series(1, 2000) n",
  );
  expect((await databaseBytes(sqlOn(pool))) - before).toBeGreaterThan(1_900_000);
});
