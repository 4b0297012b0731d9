// Whether a standby worker keeps Postgres from removing dead row versions: two processes' leader locks, and
// one hot row that is updated continuously, like a lane's row. `npm run bench:standby -- [--seconds N]
// [--updates N]` sets the duration and the updates per second. For comparison, also runs with a standby that
// waits in `pg_advisory_lock`.
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { programOptions } from "../../scripts/program-options.ts";
import { startPostgres } from "@causeway/testkit";
import pg from "pg";
import { leaderLocks } from "../../apps/api/src/db/leader-locks.postgres.ts";
import { oldestSnapshot } from "../../apps/api/src/telemetry/database-figures.postgres.ts";
import { sqlOn } from "../../apps/api/src/db/pool.postgres.ts";

const LOCKS = Array.from({ length: 17 }, (_, n) => `watch:${n + 1}`);
const SAMPLES = 6;
const LANES = 13;

const usage = "usage: npm run bench:standby -- [--seconds N] [--updates N]";
const { values } = programOptions(usage, (args) =>
  parseArgs({
    args: [...args],
    options: { seconds: { type: "string", default: "60" }, updates: { type: "string", default: "1000" } },
  }),
);
const sampleMs = (Number(values.seconds) * 1000) / SAMPLES;
const updatesPerSecond = Number(values.updates);

const server = await startPostgres({
  dataDir: join(tmpdir(), `causeway-bench-standby-${process.pid}`),
  durable: false,
  removeDataAtStop: true,
});
try {
  await rehearse("standby asks every second", standbyThatAsks);
  await rehearse("standby waits inside pg_advisory_lock", standbyThatWaits);
} finally {
  await server.stop();
}

async function rehearse(name: string, standBy: () => Promise<() => Promise<void>>): Promise<void> {
  process.stdout.write(`${name}:\n`);
  const pool = new pg.Pool({ connectionString: server.url, max: 4 });
  const end = await standBy();
  await pool.query("drop table if exists lanes");
  await pool.query("create table lanes (chain_id integer primary key, next_nonce bigint not null)");
  await pool.query("insert into lanes select n, 0 from generate_series(1, $1) as n", [LANES]);
  for (let sample = 1; sample <= SAMPLES; sample++) {
    const latencies = await updateFor(pool, sampleMs);
    const { seconds } = await oldestSnapshot(sqlOn(pool));
    const { rows } = await pool.query<{ dead: string; size: string }>(
      `select n_dead_tup as dead, pg_relation_size('lanes') as size from pg_stat_user_tables where relname = 'lanes'`,
    );
    latencies.sort((a, b) => a - b);
    const p99 = latencies[Math.floor(latencies.length * 0.99)] ?? 0;
    process.stdout.write(
      `  ${Math.round((sample * sampleMs) / 1000)} s: ${latencies.length} updates, p99 ${p99.toFixed(1)} ms, ` +
        `${rows[0]?.dead} dead versions counted, table ${Number(rows[0]?.size) / 1024} kB, oldest snapshot ${Math.round(seconds)} s\n`,
    );
  }
  await end();
  await pool.end();
}

async function updateFor(pool: pg.Pool, ms: number): Promise<number[]> {
  const latencies: number[] = [];
  const startedAtMs = performance.now();
  for (let n = 0; performance.now() - startedAtMs < ms; n++) {
    const beganAtMs = performance.now();
    await pool.query("update lanes set next_nonce = next_nonce + 1 where chain_id = 1");
    latencies.push(performance.now() - beganAtMs);
    const aheadMs = ((n + 1) / updatesPerSecond) * 1000 - (performance.now() - startedAtMs);
    if (aheadMs > 1) await sleep(aheadMs);
  }
  // A session reports its statistics once a second.
  await sleep(1_100);
  await pool.query("select 1");
  return latencies;
}

async function standbyThatAsks(): Promise<() => Promise<void>> {
  const never = new AbortController();
  const onFault = (error: unknown): void => void process.stderr.write(`${String(error)}\n`);
  const [leader, standby] = [leaderLocks(server.url, { onFault }), leaderLocks(server.url, { onFault })];
  await Promise.all(LOCKS.map(async (name) => await leader.lead(name, never.signal)));
  for (const name of LOCKS) void standby.lead(name, never.signal);
  return async () => {
    await standby.close();
    await leader.close();
  };
}

async function standbyThatWaits(): Promise<() => Promise<void>> {
  const [leader, standby] = [0, 1].map(() => new pg.Client({ connectionString: server.url })) as [
    pg.Client,
    pg.Client,
  ];
  await Promise.all([leader.connect(), standby.connect()]);
  await leader.query("select pg_advisory_lock(1)");
  const waiting = standby.query("select pg_advisory_lock(1)");
  await sleep(200);
  return async () => {
    await leader.end();
    await waiting;
    await standby.end();
  };
}
