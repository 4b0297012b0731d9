import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { migrate } from "../../../apps/api/src/migrate.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";

const shipped = resolve(import.meta.dirname, "../../../apps/api/migrations");
let database: TestDatabase;
let folder: string;
let reader: pg.Client;
let other: pg.Client;

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  return client;
}

/**
 * Whether the migration waits for a lock. A concurrent index build waits for transactions in the same way.
 */
async function isMigrationWaiting(): Promise<boolean> {
  const { rowCount } = await other.query(
    "select from pg_stat_activity where application_name = 'causeway migrate' and wait_event_type = 'Lock' and datname = current_database()",
  );
  return rowCount === 1;
}

async function validityOf(index: string): Promise<boolean | undefined> {
  const { rows } = await other.query<{ valid: boolean }>(
    "select indisvalid as valid from pg_index where indexrelid = to_regclass($1)",
    [index],
  );
  return rows[0]?.valid;
}

beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), "causeway-migrations-"));
  await cp(shipped, folder, { recursive: true });
  [reader, other] = await Promise.all([connect(), connect()]);
});

afterAll(async () => {
  await Promise.all([reader.end(), other.end()]);
  await Promise.all([database.drop(), rm(folder, { recursive: true })]);
});

test("a migration lets other readers pass while a long transaction reads its table, and succeeds when that transaction ends", async () => {
  await writeFile(join(folder, "9001_column.sql"), "alter table requests add column added_late int;");
  await reader.query("begin; select from requests limit 1");
  const lines: string[] = [];
  const migrated = migrate(database.url, { folder, report: (line) => lines.push(line) });
  await vi.waitUntil(isMigrationWaiting, { timeout: 20_000 });
  // This reader waits behind the migration, which must give way long before the first reader ends.
  await other.query("set statement_timeout = '10s'");
  await other.query("select from requests limit 1");
  const retry =
    /^migration 9001_column\.sql: tables are locked by other transactions, nothing was changed; attempt 2 of 20 in 1 s \(oldest transaction: pid \d+/;
  await vi.waitFor(() => expect(lines[0]).toMatch(retry));
  await reader.query("commit");
  await migrated;
  await other.query("select added_late from requests");
});

test("an index that was being built when its migration was killed is built again by the next run", async () => {
  await writeFile(
    join(folder, "9002_index.sql"),
    "-- No transaction\ncreate index concurrently late_one on requests (added_late);\ncreate index concurrently late_two on requests (added_late);\n",
  );
  // The index build waits for this transaction. The catalog already lists the index, but as invalid.
  await reader.query("begin isolation level repeatable read; select from requests limit 1");
  const killed = expect(migrate(database.url, { folder })).rejects.toThrow();
  await vi.waitUntil(async () => (await validityOf("late_one")) === false && (await isMigrationWaiting()), {
    timeout: 20_000,
  });
  await other.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'causeway migrate' and datname = current_database()",
  );
  await killed;
  expect(await validityOf("late_one")).toBe(false);

  await reader.query("commit");
  const lines: string[] = [];
  await migrate(database.url, { folder, report: (line) => lines.push(line) });
  expect(lines[0]).toBe("index late_one is invalid: dropping it and building it again");
  expect([await validityOf("late_one"), await validityOf("late_two")]).toEqual([true, true]);
  const { rows } = await other.query(
    "select name from schema_migrations where name like '900%' order by name",
  );
  expect(rows).toEqual([{ name: "9001_column" }, { name: "9002_index" }]);
  await migrate(database.url, { folder });
});
