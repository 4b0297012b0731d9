import { StartProblem } from "@causeway/service-kit";
import { sql as text } from "drizzle-orm";
import { readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { runSql } from "./define-query.postgres.ts";
import { sqlOn, type Connection } from "./pool.postgres.ts";

/** The schema of this version, one file per step. */
export const MIGRATIONS_DIR = fileURLToPath(new URL("../../migrations", import.meta.url));
/** Table with the names of applied migrations. node-pg-migrate owns it, so it is not in the schema. */
export const MIGRATIONS_TABLE = "schema_migrations";

/**
 * Names of this version's migrations, in order.
 * @throws StartProblem when the folder is missing or empty
 */
export async function migrationsOf(folder: string): Promise<readonly string[]> {
  const files = await readdir(folder).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  });
  const names = files
    .flatMap((file) => (file.endsWith(".sql") ? [file.slice(0, -".sql".length)] : []))
    .sort();
  if (names.length === 0)
    throw new StartProblem(
      `no migrations are in ${folder}: copy apps/api/migrations there, as Dockerfile.api does`,
    );
  return names;
}

/** Names of the applied migrations; empty before the first. */
export async function appliedMigrations(client: Connection): Promise<ReadonlySet<string>> {
  const sql = sqlOn(client);
  const [table] = await runSql(
    sql,
    { exists: Boolean },
    text`select to_regclass(${MIGRATIONS_TABLE}) is not null as exists`,
  );
  if (table?.exists !== true) return new Set();
  const applied = await runSql(
    sql,
    { name: String },
    text`select name from ${text.identifier(MIGRATIONS_TABLE)}`,
  );
  return new Set(applied.map(({ name }) => name));
}

/**
 * Checks that the database has every migration of this version. It may have more: the next version migrates
 * before it starts.
 * @throws StartProblem
 */
export async function checkSchema(client: Connection, folder: string = MIGRATIONS_DIR): Promise<void> {
  const [expected, applied] = await Promise.all([migrationsOf(folder), appliedMigrations(client)]);
  const missing = expected.filter((name) => !applied.has(name));
  if (missing.length === 0) return;
  throw new StartProblem(
    `the database lacks ${missing.length} of the ${expected.length} migrations of this version (first: ${missing[0]}): run migrate, then start again`,
  );
}
