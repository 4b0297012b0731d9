import { chooseServices, databaseUrl, stopTogether } from "@causeway/localnet";
import pg from "pg";
import { createPool } from "../../apps/api/src/adapters/postgres/pool.ts";
import { migrate } from "../../apps/api/src/migrate.ts";

/** Runs `work` on a database of its own with all tables, and drops it afterwards. */
export async function onOwnDatabase<T>(
  env: Readonly<Record<string, string | undefined>>,
  work: (pool: pg.Pool, url: string) => Promise<T>,
): Promise<T> {
  const services = await chooseServices(env);
  const name = `causeway_upkeep_bench_${process.pid}`;
  try {
    await onServer(services.databaseUrl, `create database ${name}`);
    const url = databaseUrl(services.databaseUrl, name);
    await migrate(url);
    const pool = createPool(url, { max: 8, statementTimeoutMs: 600_000, applicationName: "bench" });
    try {
      return await work(pool, url);
    } finally {
      await pool.end();
      await onServer(services.databaseUrl, `drop database ${name} with (force)`);
    }
  } finally {
    await stopTogether([services]);
  }
}

async function onServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
