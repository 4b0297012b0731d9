import { databaseUrl, programCommand } from "@causeway/testkit";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { zstdDecompressSync } from "node:zlib";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, inject, test, vi } from "vitest";
import { inTransaction } from "../../../apps/api/src/db/in-transaction.postgres.ts";
import { createPool } from "../../../apps/api/src/db/pool.postgres.ts";
import { startOfMonth } from "../../../apps/api/src/db/month.ts";
import { archiveFiles } from "../../../apps/api/src/reconcile/archive/archive-files.adapter.ts";
import { archiveMonths } from "../../../apps/api/src/reconcile/archive/archive-months.ts";
import type {
  ArchiveFiles,
  ArchiveRows,
  ArchiveStore,
  Manifest,
} from "../../../apps/api/src/reconcile/archive/archive.port.ts";
import { archiveStore } from "../../../apps/api/src/reconcile/archive/archive.postgres.ts";
import { openArchives } from "../../../apps/api/src/process/archives.ts";
import { runArchive } from "../../../apps/api/src/process/commands/archive-command.ts";
import { makePartition } from "../../../apps/api/src/requests/event-partitions.postgres.ts";
import { storeHistory } from "../../../bench/history/store-history.ts";
import { allOf } from "../../support/all-of.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { onServer } from "../../support/template-database.ts";
import { startTransactionPooler } from "../../support/transaction-pooler.ts";
import { watchConnections } from "../../support/watched-connections.ts";

/**
 * Two months. The events of the first are in its own partition, those of the second in the default partition.
 */
const [FIRST, BEFORE] = ["2023-10", "2023-12"] as const;
/** Each month has more rows than one transaction removes, and enough for both connections to export some. */
const REQUESTS = 2_200;
const FILES = new URL("../../../apps/api/src/reconcile/archive/archive-files.adapter.ts", import.meta.url);
const TABLES = ["request_events", "request_history", "slots"] as const;
type Rows = Record<(typeof TABLES)[number], string[]>;

let seeded: TestDatabase;
let folder: string;

beforeAll(async () => {
  seeded = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), "archive-process-"));
  const pool = createPool(seeded.url, { max: 1, statementTimeoutMs: 60_000, applicationName: "test" });
  try {
    await inTransaction(pool, async (client) => await makePartition(client, FIRST));
    const [startMs, endMs] = [startOfMonth(FIRST), startOfMonth(BEFORE) - 3_600_000];
    await storeHistory(seeded.url, REQUESTS, {
      newestMs: endMs,
      spacingMs: Math.floor((endMs - startMs) / REQUESTS),
    });
    // Some requests stay in the database, because their payment is not final.
    await pool.query(
      "update slots set state = case when id % 40 = 0 then 'mined' else 'final' end, settlement_noted = true",
    );
  } finally {
    await pool.end();
  }
});
beforeEach(async () => {
  await rm(folder, { recursive: true, force: true });
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await seeded.drop();
});

/**
 * The rows that the archive may move, read from the tables or from archive files. A payment counts in the
 * place that has its call.
 */
async function rowsInTables(url: string): Promise<Rows> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const rowsOf = async (table: keyof Rows): Promise<string[]> => {
    const { rows } = await client.query<{ row: string }>(
      `select row_to_json(t)::text as row from ${table} t ${table === "slots" ? "where call_data <> ''" : ""}`,
    );
    return rows.map(({ row }) => row);
  };
  try {
    return {
      request_events: await rowsOf("request_events"),
      request_history: await rowsOf("request_history"),
      slots: await rowsOf("slots"),
    };
  } finally {
    await client.end();
  }
}

async function rowsInFiles(folders: readonly string[]): Promise<Rows> {
  const rowsByTable: Rows = { request_events: [], request_history: [], slots: [] };
  for (const part of folders) {
    const { tables } = JSON.parse(await readFile(join(part, "manifest.json"), "utf8")) as Manifest;
    for (const { table, file } of tables)
      for (const row of zstdDecompressSync(await readFile(join(part, file)))
        .toString()
        .split("\n")
        .slice(0, -1))
        rowsByTable[table].push(row);
  }
  return rowsByTable;
}

/** Starts `operator archive` as a separate process. */
function startArchive(url: string) {
  const program = programCommand("apps/api/src/operator.ts");
  const child = spawn(program.command, [...program.args, "archive", "--before", BEFORE, "--to", folder], {
    env: { ...process.env, ...program.env, DATABASE_URL: url },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const stderr = text(child.stderr);
  const ended = once(child, "exit").then(async ([code, signal]) => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
    stderr: await stderr,
  }));
  return { kill: () => child.kill("SIGKILL"), ended };
}

/** A copy of the filled database, and a reader of the files that its archives name. */
async function copyOfSeeded() {
  const name = `causeway_test_${randomBytes(6).toString("hex")}`;
  const serverUrl = inject("databaseUrl");
  const template = new URL(seeded.url).pathname.slice(1);
  await onServer(serverUrl, `create database ${name} template ${template} strategy file_copy`);
  const url = databaseUrl(serverUrl, name);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return {
    url,
    archives: async () =>
      (
        await client.query<{ state: string; folder: string }>(
          "select state, folder from archives order by month",
        )
      ).rows,
    sessions: async () =>
      (
        await client.query(
          "select from pg_stat_activity where datname = current_database() and application_name = 'causeway archive'",
        )
      ).rowCount,
    drop: async () => {
      await client.end();
      await onServer(serverUrl, `drop database ${name} with (force)`);
    },
  };
}

test("moves every row exactly once even if earlier runs were killed", { timeout: 600_000 }, async () => {
  const before = await rowsInTables(seeded.url);
  const sorted = (rows: readonly string[]) => rows.toSorted();
  const reached = new Set<string>();
  let total = Number.POSITIVE_INFINITY;
  const MOMENTS = 14;
  // The run with moment 0 is not killed. It shows how many statements a run sends.
  for (let moment = MOMENTS; moment >= 0; moment--) {
    const crashAt =
      moment === MOMENTS ? Number.POSITIVE_INFINITY : Math.ceil(((moment + 0.5) / MOMENTS) * total);
    await rm(folder, { recursive: true, force: true });
    const database = await copyOfSeeded();
    // The moments of the kills alternate: before a statement, right after it, and while its rows are written
    // to a file.
    const watched = await watchConnections(database.url, (sent) => {
      if (sent !== crashAt) return;
      if (moment % 3 === 0) running.kill();
      else setTimeout(() => running.kill(), (moment % 3) * 4 - 3);
    });
    const running = startArchive(watched.url);
    try {
      const firstRun = await running.ended;
      const label = `killed at statement ${crashAt} of ${total}`;
      if (moment === MOMENTS) {
        expect(firstRun).toEqual({ code: 0, signal: null, stderr: "" });
        total = watched.sent();
      } else expect(firstRun.signal, label).toBe("SIGKILL");
      await watched.close();
      await expect.poll(database.sessions, { timeout: 20_000, message: label }).toBe(0);
      reached.add((await database.archives()).map(({ state }) => state).join(" "));

      // The command runs in this process, because starting a process takes longer than archiving.
      const words = ["--before", BEFORE, "--to", folder];
      expect(await runArchive(words, () => openArchives({ DATABASE_URL: database.url })), label).toBe(0);
      const parts = await database.archives();
      expect(
        parts.map(({ state }) => state),
        label,
      ).toEqual(["archived", "archived"]);
      const [kept, moved] = [
        await rowsInTables(database.url),
        await rowsInFiles(parts.map((part) => part.folder)),
      ];
      for (const table of TABLES) {
        expect(moved[table].length, `${table}, ${label}`).toBeGreaterThan(REQUESTS / 2);
        expect(kept[table].length, `${table}, ${label}`).toBeGreaterThan(0);
        // The lists are compared as one text, because thousands of differences would not be readable.
        expect(
          sorted([...kept[table], ...moved[table]]).join("\n") === sorted(before[table]).join("\n"),
          `${table} has every row exactly once, ${label}`,
        ).toBe(true);
      }
    } finally {
      running.kill();
      await watched.close();
      await database.drop();
    }
  }
  // The kills are spread over all phases.
  expect([...reached]).toEqual(
    expect.arrayContaining(["", "exporting", "exported", "archived exporting", "archived exported"]),
  );
});

test.for(["export", "removal"] as const)(
  "when one of two connections dies during the %s, the next run moves every row exactly once",
  async (phase) => {
    const before = await rowsInTables(seeded.url);
    const database = await copyOfSeeded();
    const pool = createPool(database.url, { max: 2, statementTimeoutMs: 60_000, applicationName: "test" });
    const clients = [await pool.connect(), await pool.connect()] as const;
    const stores = [archiveStore(clients[0]), archiveStore(clients[1])] as const;
    const files = archiveFiles(folder);
    // Resolves once the first connection has finished a part of the work.
    const finished = Promise.withResolvers<void>();
    let crashes = 0;
    const store: ArchiveStore = {
      ...stores[0],
      async removeRequests(archive, positions) {
        await stores[0].removeRequests(archive, positions);
        finished.resolve();
      },
    };
    const crashingRows: ArchiveRows = {
      ...stores[1],
      async removeRequests() {
        await finished.promise;
        crashes++;
        throw new Error("died");
      },
    };
    const dyingFiles: ArchiveFiles = {
      ...files,
      async write(part, table, n, pages) {
        const file = await files.write(part, table, n, pages);
        if (n === 1) finished.resolve();
        else {
          await finished.promise;
          crashes++;
          throw new Error("died");
        }
        return file;
      },
    };
    try {
      const run = allOf(
        archiveMonths(
          {
            store,
            otherConnections: [phase === "removal" ? crashingRows : stores[1]],
            files: phase === "export" ? dyingFiles : files,
            nowMs: () => Date.now(),
          },
          BEFORE,
        ),
      );
      await expect(run).rejects.toThrow("died");
      for (const client of clients) client.release(true);
      expect(crashes).toBe(1);
      expect(await database.archives()).toMatchObject([
        { state: phase === "export" ? "exporting" : "exported" },
      ]);
      if (phase === "export") {
        expect((await readdir(join(folder, FIRST, "part-1"))).length).toBeGreaterThanOrEqual(2);
        expect(await rowsInTables(database.url)).toEqual(before);
      }
      const words = ["--before", BEFORE, "--to", folder, "--connections", "2"];
      expect(await runArchive(words, () => openArchives({ DATABASE_URL: database.url }))).toBe(0);
      const folders = (await database.archives()).map((part) => part.folder);
      const [kept, moved] = [await rowsInTables(database.url), await rowsInFiles(folders)];
      for (const table of TABLES)
        expect(
          [...kept[table], ...moved[table]].toSorted().join("\n") === before[table].toSorted().join("\n"),
          `${table} has every row exactly once`,
        ).toBe(true);
    } finally {
      await pool.end();
      await database.drop();
    }
  },
);

test("refuses to run while a connection of an earlier run still works", async () => {
  const stderr = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const database = await copyOfSeeded();
  const earlier = new pg.Client({ connectionString: database.url });
  await earlier.connect();
  try {
    await earlier.query("select pg_advisory_lock_shared(hashtextextended('causeway:archive work', 0))");
    const words = ["--before", BEFORE, "--to", folder];
    expect(await runArchive(words, () => openArchives({ DATABASE_URL: database.url }))).toBe(1);
    expect(stderr.mock.calls.at(-1)?.[0]).toContain("another `operator archive` is running");
    expect(await database.archives()).toEqual([]);
  } finally {
    vi.restoreAllMocks();
    await earlier.end();
    await database.drop();
  }
});

test.for([
  ["ahead of", 90_000],
  ["behind", -90_000],
] as const)("refuses a host whose clock is %s that of the database", async ([where, byMs]) => {
  let stderr = "";
  vi.spyOn(process.stderr, "write").mockImplementation((line) => {
    stderr += String(line);
    return true;
  });
  const database = await copyOfSeeded();
  const words = ["--before", BEFORE, "--to", folder];
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + byMs });
  try {
    expect(await runArchive(words, () => openArchives({ DATABASE_URL: database.url }))).toBe(1);
  } finally {
    vi.useRealTimers();
    vi.restoreAllMocks();
  }
  expect(stderr).toMatch(
    new RegExp(
      `^the clock of this host is (89|90|91) s ${where} the clock of the database; correct them until`,
    ),
  );
  expect(await database.archives()).toEqual([]);
  await database.drop();
});

test("refuses a pooler in transaction mode, where another run could hold the same lock", async () => {
  const database = await copyOfSeeded();
  const pooler = await startTransactionPooler(database.url, 2);
  try {
    const { code, stderr } = await startArchive(pooler.url).ended;
    expect(stderr).toMatch(
      /^DATABASE_URL must keep one Postgres session per connection.*set DATABASE_URL to the server itself/,
    );
    expect(code).toBe(1);
    expect(await database.archives()).toEqual([]);
  } finally {
    await pooler.close();
    await database.drop();
  }
});

test("refuses a folder that has archives of another database, and leaves them as they are", async () => {
  const stderr = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const databases = [await copyOfSeeded(), await copyOfSeeded()] as const;
  const run = async ({ url }: { readonly url: string }, to: string): Promise<number> =>
    await runArchive(["--before", BEFORE, "--to", to], () => openArchives({ DATABASE_URL: url }));
  const filesOf = async (): Promise<string[]> => (await readdir(folder, { recursive: true })).toSorted();
  try {
    expect(await run(databases[0], folder)).toBe(0);
    const files = await filesOf();
    expect(await run(databases[1], folder)).toBe(1);
    expect(stderr.mock.calls.at(-1)?.[0]).toMatch(
      /database\.json belongs to another database, not to causeway_test_\w+ on server \d+; choose another folder with --to\n$/,
    );
    expect(await filesOf()).toEqual(files);
    expect(await databases[1].archives()).toEqual([]);
    expect(await run(databases[0], folder), "its own folder again").toBe(0);
    const otherFolder = join(folder, "other");
    expect(await run(databases[1], otherFolder), "another folder").toBe(0);
    for (const [database, to] of [
      [databases[0], folder],
      [databases[1], otherFolder],
    ] as const) {
      const text = await readFile(join(to, FIRST, "part-1", "manifest.json"), "utf8");
      expect((JSON.parse(text) as Manifest).database.name).toBe(new URL(database.url).pathname.slice(1));
    }
  } finally {
    vi.restoreAllMocks();
    for (const database of databases) await database.drop();
  }
});

test("a process that is killed while it writes the manifest leaves none, so the part does not count", async () => {
  const table = { table: "slots", file: "slots.ndjson.zst", rows: 1, bytes: 1, sha256: "0".repeat(64) };
  const manifest = {
    database: { systemIdentifier: "1", name: "causeway" },
    month: FIRST,
    part: 1,
    exportedAt: "",
    tables: Array.from({ length: 100 }, () => table),
  };
  const script = `
    const { archiveFiles } = await import(${JSON.stringify(FILES.href)});
    const [files, manifest] = [archiveFiles(${JSON.stringify(folder)}), ${JSON.stringify(manifest)}];
    await files.clear(manifest);
    await files.finish(manifest);`;
  const run = async (limit: string) => {
    const node = [process.execPath, "-C", "source", "--input-type=module", "-e", script];
    const child = spawn("sh", ["-c", `ulimit -f ${limit}; exec "$@"`, "sh", ...node], { stdio: "ignore" });
    await once(child, "exit");
    return await readdir(join(folder, FIRST, "part-1"));
  };
  // No file may exceed a few blocks, so a write fails, or kills the process, after a part of the file.
  expect(await run("8")).not.toContain("manifest.json");
  expect(await run("unlimited")).toEqual(["manifest.json"]);
});
