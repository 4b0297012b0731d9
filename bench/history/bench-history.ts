import { chooseServices, databaseUrl, stopTogether, type Stoppable } from "@causeway/localnet";
import pg from "pg";
import { createPool } from "../../apps/api/src/adapters/postgres/pool.ts";
import { migrate } from "../../apps/api/src/migrate.ts";
import type { BenchOptions } from "../options.ts";
import type { HistoryFigures } from "./judge-history.ts";
import { measureHistory } from "./measure-history.ts";
import { storeHistory } from "./store-history.ts";

const RUNS = 200;
const QUICK_RUNS = 20;

/** Stores paid requests in a database of their own and asks for them by every filter alone. Storing a million takes minutes. */
export async function benchHistory(
  { rows, isQuick }: Pick<BenchOptions, "rows" | "isQuick">,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<HistoryFigures> {
  const services = await chooseServices(env);
  const toStop: Stoppable[] = [services];
  try {
    const database = `causeway_history_bench_${process.pid}`;
    const url = databaseUrl(services.databaseUrl, database);
    await onServer(services.databaseUrl, `create database ${database}`);
    toStop.unshift({
      stop: async () => await onServer(services.databaseUrl, `drop database ${database} with (force)`),
    });
    await migrate(url);
    await storeHistory(url, rows, { signal });
    const pool = createPool(url, { max: 10, statementTimeoutMs: 30_000, applicationName: "bench" });
    toStop.unshift({ stop: async () => await pool.end() });
    return {
      stored: rows,
      filters: await measureHistory(pool, { runs: isQuick ? QUICK_RUNS : RUNS, withTotal: false, signal }),
    };
  } finally {
    for (const one of toStop) await stopTogether([one]);
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
