import { databaseUrl } from "@causeway/testkit";
import { Client } from "pg";
import { parentOf, cpuSeconds, cpuSecondsWithChildren } from "../cores.ts";
import type { CountingProxy } from "../counting-proxy.ts";
import type { Readings } from "./cost-per-fill.ts";

type DatabaseCounter = "commits" | "statements";

/** Counters of a running system. Reading them does not affect the figures. */
export interface Meters {
  /** CPU time and RPC calls: up to date at any moment. */
  readProcesses(): Omit<Readings, DatabaseCounter>;
  /** Up to date only after {@link COUNTED_WITHIN_MS} without work. */
  readDatabase(): Promise<Pick<Readings, DatabaseCounter>>;
  close(): Promise<void>;
}

export interface MeteredSystem {
  readonly databaseUrl: string;
  readonly apiPid: number;
  readonly workerPid: number;
  readonly nodes: readonly Pick<CountingProxy, "counted">[];
}

/** An idle Postgres session publishes its counts 10 s after its last work. */
export const COUNTED_WITHIN_MS = 11_000;

/** Another database on the same server: queries there are counted separately. */
const OWN_DATABASE = "bench_meters";

const countersSql = `
  select (select xact_commit from pg_stat_database where datname = $1)::float8 as commits,
         (select coalesce(sum(s.calls), 0) from pg_stat_statements s join pg_database d on d.oid = s.dbid
          where d.datname = $1)::float8 as statements`;

export async function openMeters(system: MeteredSystem): Promise<Meters> {
  const metered = new URL(system.databaseUrl).pathname.slice(1);
  await onDatabase(system.databaseUrl, `create database ${OWN_DATABASE}`);
  const client = new Client({ connectionString: databaseUrl(system.databaseUrl, OWN_DATABASE) });
  client.on("error", () => undefined);
  await client.connect();
  await client.query("create extension pg_stat_statements");
  const postgresPid = parentOf(await ownBackend(client)) ?? Number.NaN;
  const count = (field: "calls" | "httpRequests"): number =>
    system.nodes.reduce((sum, { counted }) => sum + counted[field], 0);
  return {
    readProcesses: () => {
      const atMs = performance.now();
      const reading = (total: number) => ({ atMs, total });
      return {
        workerMs: reading(cpuSeconds(system.workerPid) * 1_000),
        apiMs: reading(cpuSeconds(system.apiPid) * 1_000),
        postgresMs: reading(cpuSecondsWithChildren(postgresPid) * 1_000),
        benchMs: reading(cpuSeconds(process.pid) * 1_000),
        rpcCalls: reading(count("calls")),
        rpcRequests: reading(count("httpRequests")),
      };
    },
    readDatabase: async () => {
      const { rows } = await client.query<{ commits: number; statements: number }>(countersSql, [metered]);
      const atMs = performance.now();
      const [found] = rows;
      return {
        commits: { atMs, total: found?.commits ?? Number.NaN },
        statements: { atMs, total: found?.statements ?? Number.NaN },
      };
    },
    close: async () => await client.end(),
  };
}

async function ownBackend(client: Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  return rows[0]?.pid ?? Number.NaN;
}

async function onDatabase(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
