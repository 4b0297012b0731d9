import { chooseServices, databaseUrl, stopTogether } from "@causeway/testkit";
import type pg from "pg";
import { createPool } from "../apps/api/src/db/pool.postgres.ts";
import { migrate } from "../apps/api/src/migrate.ts";
import { onServer } from "../test/support/template-database.ts";

/** A database of the bench, with all tables and no rows. */
export interface OwnDatabase {
  readonly url: string;
  readonly pool: pg.Pool;
}

/**
 * Runs `work` on a new database, on the server of `DATABASE_URL` or one that it starts, and drops it
 * afterwards, also if SIGINT or SIGTERM interrupts it.
 *
 * @param options.isLarge the database may become larger than memory
 * @throws Error that names the signal
 */
export async function onOwnDatabase<T>(
  env: Readonly<Record<string, string | undefined>>,
  options: { readonly name: string; readonly statementTimeoutMs: number; readonly isLarge?: boolean },
  work: (database: OwnDatabase) => Promise<T>,
): Promise<T> {
  const { name, statementTimeoutMs, isLarge = false } = options;
  let isInterrupted = false;
  const interruption = new Promise<never>((_, reject) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const)
      process.once(signal, () => {
        isInterrupted = true;
        reject(new Error(`${signal} interrupted the measurement`));
      });
  });
  const services = await chooseServices(env, { isLarge });
  const database = `causeway_${name}_bench_${process.pid}`;
  try {
    await onServer(services.databaseUrl, `create database ${database}`);
    try {
      const url = databaseUrl(services.databaseUrl, database);
      await migrate(url);
      const pool = createPool(url, { max: 10, statementTimeoutMs, applicationName: "bench" });
      try {
        return await Promise.race([work({ url, pool }), interruption]);
      } finally {
        // Interrupted work keeps its connections, and `end` would wait for them; dropping the database
        // closes them.
        if (!isInterrupted) await pool.end();
      }
    } finally {
      await onServer(services.databaseUrl, `drop database ${database} with (force)`);
    }
  } finally {
    await stopTogether([services]);
  }
}

/**
 * Runs `load` while the tables have only the indexes of constraints: maintaining the others row by row would
 * take most of the time.
 */
export async function withoutIndexes(
  sql: pg.Pool | pg.ClientBase,
  tables: readonly string[],
  load: () => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  const { rows } = await sql.query<{ name: string; definition: string }>(
    `select x.indexrelid::regclass::text as name, pg_get_indexdef(x.indexrelid) as definition
     from pg_index x where x.indrelid = any($1::regclass[]) and not exists (select from pg_constraint c where c.conindid = x.indexrelid)`,
    [tables],
  );
  for (const { name } of rows) await sql.query(`drop index ${name}`);
  await load();
  for (const { definition } of rows) {
    signal?.throwIfAborted();
    // On a partitioned table, this index includes those of all partitions.
    await sql.query(definition.replace(" ON ONLY ", " ON "));
  }
}
