import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "pg";
import { afterEach, expect, test } from "vitest";
import { DatabaseNotOurs, emptyExternalDatabase } from "./external-database.ts";
import { newTempDir } from "./paths.ts";
import { DataDirInUse, startPostgres, type RunningPostgres } from "./postgres.ts";

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

async function start(
  dataDir: string,
  overrides: { keepData?: boolean; durable?: boolean; settings?: readonly string[] } = {},
): Promise<RunningPostgres> {
  const server = await startPostgres({ dataDir, durable: false, ...overrides });
  opened.push(async () => await server.stop());
  return server;
}

function tempDataDir(): string {
  const dataDir = newTempDir("postgres-test");
  opened.push(async () => await rm(dataDir, { recursive: true, force: true }));
  return dataDir;
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows as Record<string, unknown>[];
  } finally {
    await client.end();
  }
}

test("a started server responds, and has exited after stop", async () => {
  const server = await start(tempDataDir());
  expect(await query(server.url, "show max_connections")).toEqual([{ max_connections: "200" }]);
  expect(await query(server.url, "show fsync")).toEqual([{ fsync: "off" }]);
  await server.stop();
  expect(server.process.isRunning()).toBe(false);
  await expect(query(server.url, "select 1")).rejects.toThrow("ECONNREFUSED");
}, 30_000);

test("a server accepts further settings", async () => {
  const server = await start(tempDataDir(), { settings: ["shared_preload_libraries=pg_stat_statements"] });
  await query(server.url, "create extension pg_stat_statements");
  const counted = "select count(*) > 0 as counted from pg_stat_statements";
  expect(await query(server.url, counted)).toEqual([{ counted: true }]);
}, 30_000);

test("keeps data across a restart on request, and is empty otherwise", async () => {
  const dataDir = tempDataDir();
  const first = await start(dataDir);
  await query(first.url, "create table kept (id int); insert into kept values (7)");
  await first.stop();
  const second = await start(dataDir, { keepData: true });
  expect(await query(second.url, "select id from kept")).toEqual([{ id: 7 }]);
  await second.stop();
  const third = await start(dataDir);
  await expect(query(third.url, "select id from kept")).rejects.toThrow("does not exist");
}, 30_000);

test("starts despite the lock file of a killed server, even if its process id now belongs to another program", async () => {
  const dataDir = tempDataDir();
  const first = await start(dataDir, { durable: true });
  await query(first.url, "create table kept (id int)");
  const lockFile = join(await clusterOf(first), "postmaster.pid");
  first.process.kill("SIGKILL");
  await first.process.exited;
  const lock = await readFile(lockFile, "utf8");
  await writeFile(lockFile, lock.replace(/^\d+/, String(process.ppid)));
  const second = await start(dataDir, { keepData: true });
  expect(await query(second.url, "select from kept")).toEqual([]);
}, 30_000);

test("refuses the folder of a running server", async () => {
  const dataDir = tempDataDir();
  const first = await start(dataDir);
  await expect(startPostgres({ dataDir })).rejects.toThrow(DataDirInUse);
  expect(await query(first.url, "select 1 as still")).toEqual([{ still: 1 }]);
}, 30_000);

test("empties an external database only if it has no tables or an earlier run marked it", async () => {
  const { url } = await start(tempDataDir());
  await emptyExternalDatabase(url);
  await query(url, "create table of_the_last_start (id int)");
  await emptyExternalDatabase(url);
  expect(await query(url, "select tablename from pg_tables where schemaname = 'public'")).toEqual([]);

  await query(url, "create database precious");
  const precious = url.replace(/\/postgres$/, "/precious");
  await query(precious, "create table money (amount int); insert into money values (1)");
  await expect(emptyExternalDatabase(precious)).rejects.toThrow(DatabaseNotOurs);
  expect(await query(precious, "select amount from money")).toEqual([{ amount: 1 }]);
}, 30_000);

async function clusterOf(server: RunningPostgres): Promise<string> {
  const [row] = await query(server.url, "show data_directory");
  const cluster = String(row?.["data_directory"]);
  expect((await stat(cluster)).isDirectory()).toBe(true);
  return cluster;
}
