import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkSessions } from "../../../apps/api/src/db/check-sessions.postgres.ts";
import { inTransaction } from "../../../apps/api/src/db/in-transaction.postgres.ts";
import { createPool } from "../../../apps/api/src/db/pool.postgres.ts";
import { startSwallowingProxy } from "../../../scripts/soak/swallowing-proxy.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { startTransactionPooler } from "../../support/transaction-pooler.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await database.drop();
});

test("accepts a server that keeps sessions, and reports how many connections it accepts", async () => {
  const { maxConnections } = await checkSessions(database.url);
  expect(maxConnections).toBeGreaterThan(10);
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query(
    "select from pg_stat_activity where application_name = 'causeway session check' and datname = current_database() and state <> 'idle'",
  );
  expect(rows).toEqual([]);
  await client.end();
});

for (const [sessions, finding] of [
  [1, "two connections share a session"],
  [2, "an announcement \\(NOTIFY\\) does not arrive"],
  [3, "the session of a connection changes"],
] as const)
  test(`refuses a pooler in transaction mode with ${sessions} sessions, naming the remedy`, async () => {
    const pooler = await startTransactionPooler(database.url, sessions);
    try {
      await expect(checkSessions(pooler.url)).rejects.toThrow(
        new RegExp(`${finding}.*set DATABASE_URL to the server itself or to a pooler in session mode`),
      );
    } finally {
      await pooler.close();
    }
  });

test("this file's pooler serves ordinary transactions", async () => {
  const pooler = await startTransactionPooler(database.url, 2);
  const client = new pg.Client({ connectionString: pooler.url });
  try {
    await client.connect();
    await client.query("begin");
    await client.query("create temporary table seen on commit drop as select $1::text as word", ["kept"]);
    const { rows } = await client.query("select word from seen");
    await client.query("commit");
    expect(rows).toEqual([{ word: "kept" }]);
  } finally {
    await client.end();
    await pooler.close();
  }
});

test("connects through a pooler that refuses startup parameters, with the same timeouts", async () => {
  const pooler = await startTransactionPooler(database.url, 1);
  const pool = createPool(pooler.url, { max: 1, statementTimeoutMs: 1_234, applicationName: "test" });
  try {
    const { rows } = await pool.query("select current_setting('statement_timeout') as timeout");
    expect(rows).toEqual([{ timeout: "1234ms" }]);
  } finally {
    await pool.end();
    await pooler.close();
  }
});

test("a pooler refuses clients with startup parameters that it does not know", async () => {
  const pooler = await startTransactionPooler(database.url, 1);
  const client = new pg.Client({ connectionString: pooler.url, options: "-c tcp_keepalives_idle=10" });
  try {
    await expect(client.connect()).rejects.toThrow("unsupported startup parameter: options");
  } finally {
    await pooler.close();
  }
});

test("sets TCP keepalives and tcp_user_timeout on the sessions of the pool", async () => {
  const pool = createPool(database.url, { max: 1, statementTimeoutMs: 1_000, applicationName: "test" });
  const { rows } = await pool.query(
    "select name, setting from pg_settings where name ~ '^tcp_(user|keepalives)_' order by name",
  );
  await pool.end();
  expect(Object.fromEntries(rows.map(({ name, setting }) => [name, Number(setting)]))).toEqual({
    tcp_keepalives_count: 3,
    tcp_keepalives_idle: 10,
    tcp_keepalives_interval: 5,
    tcp_user_timeout: 25_000,
  });
});

test.for([
  { plans: "once", counted: { generic: 3, custom: 0 } },
  { plans: "per use", counted: { generic: 0, custom: 3 } },
] as const)("a pool plans a statement $plans", async ({ plans, counted }) => {
  const pool = createPool(database.url, {
    max: 1,
    statementTimeoutMs: 1_000,
    applicationName: "test",
    plans,
  });
  const statement = { name: "some", text: "select from outbox where id = any($1::bigint[])" };
  for (let use = 0; use < 3; use++) await pool.query({ ...statement, values: [[1, 2]] });
  const { rows } = await pool.query(
    "select generic_plans as generic, custom_plans as custom from pg_prepared_statements where name = 'some'",
  );
  await pool.end();
  expect(rows).toEqual([counted]);
});

test("a transaction over a cut network fails and releases its connection, and the next one works", async () => {
  const { hostname, port } = new URL(database.url);
  const network = await startSwallowingProxy({ host: hostname, port: Number(port) });
  const url = new URL(database.url);
  url.port = String(network.port);
  const pool = createPool(url.href, { max: 1, statementTimeoutMs: 200, applicationName: "test" });
  const runQuery = async (): Promise<unknown> =>
    await inTransaction(pool, async (client) => (await client.query("select 1 as n")).rows);
  try {
    expect(await runQuery()).toEqual([{ n: 1 }]);
    network.cut();
    await expect(runQuery()).rejects.toThrow("timeout");
    network.heal();
    expect(await runQuery()).toEqual([{ n: 1 }]);
  } finally {
    network.heal();
    await pool.end();
    await network.close();
  }
});
