import { ConfigError, type Env, takeEnvironment } from "@causeway/config";
import { StartProblem } from "@causeway/service-kit";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { runner, type RunnerOption } from "node-pg-migrate";
import pg from "pg";
import { CONNECTED_WITHIN_MS, withDatabaseProblems } from "./db/database-problem.postgres.ts";
import {
  appliedMigrations,
  MIGRATIONS_DIR,
  MIGRATIONS_TABLE,
  migrationsOf,
} from "./db/migrations.postgres.ts";
import { concurrentStatements, runConcurrently } from "./db/concurrent-indexes.postgres.ts";
import { oldestTransaction } from "./db/oldest-transaction.postgres.ts";
import { tryLock } from "./db/session-lock.postgres.ts";
import { readDatabaseUrl } from "./config/database-url.ts";

const LOCK = "causeway:migrate";

/**
 * How long a migration waits for a table lock before it rolls back and retries: later statements on the
 * table queue behind it.
 */
const LOCK_TIMEOUT = "2s";
const MAX_ATTEMPTS = 20;
const MAX_PAUSE_MS = 15_000;
const POLL_MS = 250;
/** Marks the part of a file that undoes the migration; it is never run here. */
const DOWN = /^\s*-- Down Migration/im;

type MigrationLoaders = NonNullable<RunnerOption["migrationLoaderStrategies"]>;
type MigrationLoader = Exclude<MigrationLoaders[number]["loader"], string>;

/** lock_not_available, deadlock_detected: the migration was rolled back and may run again. */
const RETRYABLE_CODES: ReadonlySet<string | undefined> = new Set(["55P03", "40P01"]);

export interface MigrationResult {
  readonly applied: number;
  /** Migrations that the database has now. */
  readonly total: number;
}

export interface MigrateOptions {
  /** Folder of the migrations. */
  readonly folder?: string;
  /** Receives one line for each step that takes time. */
  readonly report?: (line: string) => void;
}

/**
 * Brings the database to this version's schema, while others use it. Safe to run from several processes at
 * once: one runs, the others wait.
 * @throws StartProblem if the folder has no migrations; Error if a migration fails. Each migration runs in
 * its own transaction or can be repeated, so the next run continues where this one stopped
 */
export async function migrate(
  databaseUrl: string,
  { folder = MIGRATIONS_DIR, report = () => {} }: MigrateOptions = {},
): Promise<MigrationResult> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: "causeway migrate",
    connectionTimeoutMillis: CONNECTED_WITHIN_MS,
  });
  // Without a listener, a lost connection would end the process. The running statement is rejected anyway.
  client.on("error", () => {});
  await migrationsOf(folder);
  await client.connect();
  try {
    await acquireLock(client, report);
    const before = await appliedMigrations(client);
    for (let attempt = 1; ; attempt += 1) {
      let current = "";
      await client.query(`set lock_timeout = '${LOCK_TIMEOUT}'`);
      try {
        await runPending(client, folder, report, (name) => {
          current = name;
        });
        const { size: total } = await appliedMigrations(client);
        return { applied: total - before.size, total };
      } catch (error) {
        if (!(error instanceof pg.DatabaseError) || !RETRYABLE_CODES.has(error.code)) throw error;
        await client.query("rollback");
        const blocker = (await oldestTransaction(client)) ?? "none is open";
        if (attempt === MAX_ATTEMPTS)
          throw new Error(
            `Migration ${current} could not lock its tables within ${LOCK_TIMEOUT} in ${MAX_ATTEMPTS} attempts; ` +
              `end the transaction that holds them and run migrate again (oldest: ${blocker})`,
            { cause: error },
          );
        const pauseMs = Math.min(500 * 2 ** attempt, MAX_PAUSE_MS);
        report(
          `migration ${current}: tables are locked by other transactions, nothing was changed; ` +
            `attempt ${attempt + 1} of ${MAX_ATTEMPTS} in ${pauseMs / 1_000} s (oldest transaction: ${blocker})`,
        );
        await sleep(pauseMs);
      }
    }
  } finally {
    await client.end();
  }
}

/**
 * Polls instead of waiting in a statement, which would keep a snapshot: concurrent index builds wait until
 * it ends.
 */
async function acquireLock(client: pg.Client, report: (line: string) => void): Promise<void> {
  for (let isReported = false; ; isReported = true) {
    if (await tryLock(client, LOCK)) return;
    if (!isReported) report("waiting for another process that is migrating this database");
    await sleep(POLL_MS);
  }
}

async function runPending(
  client: pg.Client,
  dir: string,
  report: (line: string) => void,
  onStart: (name: string) => void,
): Promise<void> {
  const loader: MigrationLoader = async (paths) =>
    await Promise.all(
      paths.map(async (path) => {
        const [text = ""] = (await readFile(path, "utf8")).split(DOWN);
        const concurrent = concurrentStatements(basename(path), text);
        return {
          id: path,
          filePaths: [path],
          actions: {
            down: false,
            up: async (builder) => {
              onStart(basename(path));
              if (concurrent === undefined) {
                builder.sql(text);
                return;
              }
              builder.noTransaction();
              // Other statements do not queue behind a waiting concurrent build, so it needs no timeout.
              await client.query("set lock_timeout = 0");
              await runConcurrently(client, concurrent, report);
              await client.query(`set lock_timeout = '${LOCK_TIMEOUT}'`);
            },
          },
        };
      }),
    );
  await runner({
    dbClient: client,
    dir,
    direction: "up",
    migrationsTable: MIGRATIONS_TABLE,
    migrationLoaderStrategies: [{ extensions: [".sql"], loader }],
    // `migrate` holds its own lock, which it waits for; the library's lock fails at once.
    noLock: true,
    singleTransaction: false,
    log: () => {},
  });
}

/** Reports the result or the error; returns the exit code. */
async function run(env: Env): Promise<number> {
  try {
    const url = readDatabaseUrl(env);
    const { applied, total } = await withDatabaseProblems(
      url,
      async () => await migrate(url, { report: (line) => process.stdout.write(`${line}\n`) }),
    );
    process.stdout.write(
      `${applied === 0 ? "no pending migrations" : `applied ${applied} migration(s)`}: the database has all ${total} migrations\n`,
    );
    return 0;
  } catch (error) {
    const isExpected = error instanceof ConfigError || error instanceof StartProblem;
    process.stderr.write(`${isExpected ? error.message : inspect(error)}\n`);
    return 1;
  }
}

if (process.argv[1] !== undefined && fileURLToPath(import.meta.url) === process.argv[1])
  process.exitCode = await run(takeEnvironment(process.env));
