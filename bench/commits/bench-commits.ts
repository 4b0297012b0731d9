// How many commits a separate Postgres handles when each announces a change: inside the transaction (NOTIFY),
// or after the commit as the service does it. `npm run bench:commits -- [--clients N] [--seconds N] [--delays
// 0,5,10]`. A delay, in ms, simulates what a synchronous replica adds to each flush. `--url postgres://…`
// measures a running server, with its replicas, in a database that is dropped afterwards; its role must be a
// superuser unless `--delays 0`.
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { programOptions } from "../../scripts/program-options.ts";
import { databaseUrl, startPostgres } from "@causeway/testkit";
import pg from "pg";
import { announcer } from "../../apps/api/src/db/announcements.postgres.ts";
import { sqlOn } from "../../apps/api/src/db/pool.postgres.ts";
import { migrate } from "../../apps/api/src/migrate.ts";

/** Commits of a paid bridge that announce something. */
const COMMITS_PER_BRIDGE = 13;
const WARM_UP_MS = 500;

const modes = {
  "announced inside the transaction": "select pg_notify('bench_status', $1), pg_notify('bench_outbox', '')",
  "announced after the commit":
    "insert into announcements (channel, payload) values ('bench_status', $1), ('bench_outbox', '')",
  "no announcement": "select $1",
} as const;

const usage =
  "usage: npm run bench:commits -- [--clients N] [--seconds N] [--delays 0,5,10] [--url postgres://…]";
const { values } = programOptions(usage, (args) =>
  parseArgs({
    args: [...args],
    options: {
      clients: { type: "string", default: "16" },
      seconds: { type: "string", default: "5" },
      delays: { type: "string", default: "0,5,10" },
      url: { type: "string" },
    },
  }),
);
const clients = Number(values.clients);
const measuredMs = Number(values.seconds) * 1000;

const server = await aServer(values.url);
const database = `causeway_bench_commits_${process.pid}`;
const admin = new pg.Client({ connectionString: server.url });
try {
  await admin.connect();
  await admin.query(`create database ${database}`);
  const url = databaseUrl(server.url, database);
  await migrate(url);
  process.stdout.write(`${clients} clients, ${values.seconds} s each\n`);
  for (const delay of values.delays.split(",").map(Number)) {
    // Postgres waits this long before it flushes each commit; other commits join the flush, as they do with a
    // synchronous replica.
    const settings = delay === 0 ? "" : `-c commit_delay=${delay * 1000} -c commit_siblings=0`;
    for (const [mode, statement] of Object.entries(modes)) {
      const sendsAfter = mode === "announced after the commit";
      const { perSecond, received } = await measure(
        { connectionString: url, options: settings },
        statement,
        sendsAfter,
      );
      process.stdout.write(
        `flush + ${delay} ms, ${mode}: ${Math.round(perSecond)} commits/s, ` +
          `${Math.round(perSecond / COMMITS_PER_BRIDGE)} bridges/s, ${received} announcements received\n`,
      );
    }
  }
  await admin.query(`drop database ${database} with (force)`);
} finally {
  await admin.end();
  await server.stop();
}

/** The named server, or a new one that is removed afterwards. */
async function aServer(url: string | undefined): Promise<{ readonly url: string; stop(): Promise<void> }> {
  if (url !== undefined) return { url, stop: async () => undefined };
  const dataDir = join(tmpdir(), `causeway-bench-commits-${process.pid}`);
  return await startPostgres({ dataDir, durable: true, removeDataAtStop: true });
}

async function measure(
  connection: pg.ClientConfig,
  announce: string,
  sendsAfter: boolean,
): Promise<{ perSecond: number; received: number }> {
  const pool = new pg.Pool({ ...connection, max: clients + 2 });
  // Dropping the database ends connections that are still closing.
  pool.on("error", () => undefined);
  const listener = new pg.Client(connection);
  await listener.connect();
  await listener.query("listen bench_status; listen bench_outbox");
  let received = 0;
  listener.on("notification", () => received++);
  await pool.query("drop table if exists bench_lanes");
  await pool.query("create table bench_lanes (id integer primary key, nonce bigint not null)");
  await pool.query("insert into bench_lanes select n, 0 from generate_series(1, $1) as n", [clients]);
  const announcements = announcer(sqlOn(pool));
  const startedAtMs = performance.now();
  const [fromMs, untilMs] = [startedAtMs + WARM_UP_MS, startedAtMs + WARM_UP_MS + measuredMs];
  let commits = 0;
  await Promise.all(
    Array.from({ length: clients }, async (_, lane) => {
      const client = await pool.connect();
      for (let n = 0; performance.now() < untilMs; n++) {
        await client.query("begin");
        await client.query("update bench_lanes set nonce = nonce + 1 where id = $1", [lane + 1]);
        await client.query(announce, [`${lane} ${n}`]);
        await client.query("commit");
        if (sendsAfter) announcements.send();
        if (performance.now() >= fromMs) commits++;
      }
      client.release();
    }),
  );
  await new Promise((resolve) => setTimeout(resolve, 200));
  await listener.end();
  await pool.end();
  return { perSecond: (commits / measuredMs) * 1000, received };
}
