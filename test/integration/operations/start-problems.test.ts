import { localPrivateKey } from "@causeway/config";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkSchema } from "../../../apps/api/src/db/migrations.postgres.ts";
import { migrate } from "../../../apps/api/src/migrate.ts";
import { execFile } from "node:child_process";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";

// A process that cannot start for an external reason prints one sentence without a stack trace, and exits
// with code 1.

const START_MS = 30_000;
const root = resolve(import.meta.dirname, "../../..");
const redisUrl = process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379";
const configuration = {
  VAULT_SECRETS_DIR: "/nonexistent",
  ENVIRONMENT: "local",
  CONFIGS_DIR: join(root, "configs"),
  REDIS_URL: redisUrl,
  SOLVER_PRIVATE_KEY: localPrivateKey("solver", 0),
  PRICE_SOURCE: "fixed",
  LOCAL_A_RPC_URL: "http://127.0.0.1:9",
  LOCAL_B_RPC_URL: "http://127.0.0.1:9",
};

let empty: TestDatabase;
let folder: string;
beforeAll(async () => {
  empty = await createTestDatabase();
  const client = new pg.Client({ connectionString: empty.url });
  await client.connect();
  await client.query("drop schema public cascade; create schema public");
  await client.end();
  folder = await mkdtemp(join(tmpdir(), "causeway-start-"));
});
afterAll(async () => {
  await Promise.all([empty.drop(), rm(folder, { recursive: true })]);
});

async function run(
  entry: string,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> {
  return await new Promise((done) => {
    const child = execFile(
      process.execPath,
      ["--no-warnings", "-C", "source", join(root, "apps/api/src", entry)],
      { env: { ...configuration, ...env }, timeout: START_MS },
      (_error, out, err) => done({ code: child.exitCode, out, err }),
    );
  });
}

function urlWith(edit: (url: URL) => void): string {
  const url = new URL(empty.url);
  edit(url);
  return url.href;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((listening) => server.once("listening", listening));
  const { port } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  return port;
}

/** Reasons why the database cannot be used, each with the end of the printed sentence. */
const faults = [
  [
    "the server is down",
    async () => urlWith((url) => (url.port = String(ports.closed))),
    /^Postgres does not respond at \S+ \(ECONNREFUSED\): start it, or correct DATABASE_URL$/,
  ],
  [
    "the role is unknown",
    async () => urlWith((url) => ([url.username, url.password] = ["nobody_here", "hunter2"])),
    /^Postgres at \S+ reports: .*nobody_here.*: (create that role, or correct the user|correct the user or the password) in DATABASE_URL$/,
  ],
  [
    "the database is unknown",
    async () => urlWith((url) => (url.pathname = "/nothing_here")),
    /^Postgres at \S+ reports: .*nothing_here.*: create that database, or correct its name in DATABASE_URL$/,
  ],
] as const;
const ports = { closed: await freePort() };

test.for(faults)(
  "migrate prints one sentence with the remedy when %s",
  { timeout: START_MS },
  async ([, url, sentence]) => {
    const { code, out, err } = await run("migrate.ts", { DATABASE_URL: await url() });
    expect([code, out]).toEqual([1, ""]);
    expect(err.trimEnd()).toMatch(sentence);
    expect(err).not.toContain("hunter2");
  },
);

test.for(["main.ts", "worker.ts"])(
  "%s logs one sentence when the server is down or the database is not migrated",
  { timeout: 2 * START_MS },
  async (entry) => {
    const [, withServerDown, sentence] = faults[0];
    for (const [url, expected] of [
      [await withServerDown(), sentence],
      [
        empty.url,
        /^the database lacks (\d+) of the \1 migrations of this version \(first: 0000_baseline\): run migrate, then start again$/,
      ],
    ] as const) {
      const { code, out, err } = await run(entry, { DATABASE_URL: url, HTTP_PORT: "0", HEALTH_PORT: "0" });
      expect([code, err]).toEqual([1, ""]);
      const lines = out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      const failed = lines.filter(({ event }) => event === "startFailed");
      expect(failed).toEqual([expect.objectContaining({ problem: expect.stringMatching(expected) })]);
      expect(out).not.toMatch(/"stack"|\bat .*:\d+:\d+/);
    }
  },
);

test(
  "migrate reports how many migrations it applied, and takes the URL from a file",
  { timeout: 2 * START_MS },
  async () => {
    const file = join(folder, "url");
    await writeFile(file, `${empty.url}\n`);
    const first = await run("migrate.ts", { DATABASE_URL_FILE: file });
    const [, applied, total] =
      /^applied (\d+) migration\(s\): the database has all (\d+) migrations$/m.exec(first.out) ?? [];
    expect([first.code, first.err, applied]).toEqual([0, "", total]);
    const rerun = await run("migrate.ts", { DATABASE_URL_FILE: file });
    expect(rerun.out).toBe(`no pending migrations: the database has all ${total} migrations\n`);
  },
);

test("accepts a database with migrations of a later version, and refuses one without all migrations of this version", async () => {
  const database = await createTestDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    await checkSchema(client);
    await client.query("insert into schema_migrations (name, run_on) values ('9999_next', now())");
    await checkSchema(client);
    await client.query("delete from schema_migrations where name = '0001_guards'");
    await expect(checkSchema(client)).rejects.toThrow(/lacks 1 of the \d+ migrations.*0001_guards/);
  } finally {
    await client.end();
    await database.drop();
  }
});

test("missing migration files are a problem of the installation, reported before the database is used", async () => {
  await expect(
    migrate(
      urlWith((url) => (url.port = String(ports.closed))),
      { folder },
    ),
  ).rejects.toThrow(`no migrations are in ${folder}: copy apps/api/migrations there, as Dockerfile.api does`);
});
