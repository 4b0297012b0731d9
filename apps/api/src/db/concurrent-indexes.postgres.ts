import { sql as text } from "drizzle-orm";
import type pg from "pg";
import { runSql } from "./define-query.postgres.ts";
import { sqlOn } from "./pool.postgres.ts";

/** A statement of a migration that runs outside a transaction; safe to repeat after a crash. */
type ConcurrentStatement = { readonly index: string; readonly sql: string } & {
  readonly kind: "create" | "drop";
};

const MARK = /^-- No transaction$/m;
const CREATE = /^create (?:unique )?index concurrently (?<index>[a-z_][a-z0-9_]*) on /i;
const DROP = /^drop index concurrently if exists (?<index>[a-z_][a-z0-9_]*)$/i;

/**
 * The statements of a migration that declares `-- No transaction`; undefined if it does not.
 * @throws Error if it contains any other statement than a concurrent create or drop of an index, because
 * others could not be repeated after a crash
 */
export function concurrentStatements(file: string, text: string): readonly ConcurrentStatement[] | undefined {
  if (!MARK.test(text)) return undefined;
  return text
    .replaceAll(/--.*$/gm, "")
    .split(";")
    .map((statement) => statement.replaceAll(/\s+/g, " ").trim())
    .filter((statement) => statement !== "")
    .map((sql) => {
      const created = CREATE.exec(sql)?.groups?.["index"];
      if (created !== undefined) return { kind: "create", index: created, sql };
      const dropped = DROP.exec(sql)?.groups?.["index"];
      if (dropped !== undefined) return { kind: "drop", index: dropped, sql };
      throw new Error(
        `${file}: a migration without a transaction may contain only "create [unique] index concurrently <name> on …" ` +
          `and "drop index concurrently if exists <name>", got "${sql}"`,
      );
    });
}

/**
 * Builds and drops indexes without blocking reads and writes. Keeps a valid index; drops and rebuilds an
 * invalid one, which a crash leaves behind.
 */
export async function runConcurrently(
  client: pg.Client,
  statements: readonly ConcurrentStatement[],
  report: (line: string) => void,
): Promise<void> {
  for (const { kind, index, sql } of statements) {
    if (kind === "create") {
      const [existing] = await runSql(
        sqlOn(client),
        { valid: Boolean },
        text`select indisvalid as valid from pg_index where indexrelid = to_regclass(${index})`,
      );
      if (existing?.valid === true) continue;
      if (existing !== undefined) {
        report(`index ${index} is invalid: dropping it and building it again`);
        await client.query(`drop index concurrently ${index}`);
      }
      report(`building index ${index}; this waits for transactions that are already open and blocks none`);
    }
    await client.query(sql);
  }
}
