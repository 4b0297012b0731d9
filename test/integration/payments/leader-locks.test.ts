import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import {
  LEADER_TIMING,
  leaderLocks,
  type LeaderLocks,
} from "../../../apps/api/src/db/leader-locks.postgres.ts";
import { leaderReads } from "../../../apps/api/src/deposits/leader-reads.postgres.ts";
import { oldestSnapshot } from "../../../apps/api/src/telemetry/database-figures.postgres.ts";
import { sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import { ledTasks, leaderReport } from "../../../apps/api/src/reconcile/leader-report.ts";
import type { ChainDirectory } from "../../../apps/api/src/chains/chains.port.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { startSwallowingProxy } from "../../../scripts/soak/swallowing-proxy.ts";

/** The timing of production, several times faster. */
const TIMING = { beatMs: 100, leaseMs: 1_200, sessionIdleMs: 1_800 };
const forever = new AbortController().signal;

let database: TestDatabase;
let pool: pg.Pool;
const open: LeaderLocks[] = [];
const children: ChildProcess[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  pool = new pg.Pool({ connectionString: database.url, max: 2, statement_timeout: 5_000 });
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await Promise.all(open.splice(0).map(async (locks) => await locks.close()));
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

/** The locks of one process. */
function aProcess(url = database.url): LeaderLocks {
  const locks = leaderLocks(url, { onFault: () => undefined, timing: TIMING });
  open.push(locks);
  return locks;
}

function leadershipOf(name: string, ...processes: readonly LeaderLocks[]): boolean[] {
  return processes.map(({ workedAgoMs }) => workedAgoMs(name) !== undefined);
}

interface Session {
  readonly pid: number;
  readonly state: string;
  readonly backend_xmin: string | null;
}

async function lockSessions(): Promise<Session[]> {
  const { rows } = await pool.query<Session>(
    "select pid, state, backend_xmin from pg_stat_activity where application_name = 'causeway leader locks' and datname = current_database()",
  );
  return rows;
}

/** The number of versions of the row in `hot` that vacuum could not remove. */
async function deadVersions(): Promise<number> {
  await pool.query("vacuum hot");
  const { rows } = await pool.query<{ dead: string }>(
    "select pg_stat_get_dead_tuples('hot'::regclass) as dead",
  );
  return Number(rows[0]?.dead);
}

test("one process leads at a time, and the next one leads as soon as the first releases the lock", async () => {
  const [processA, processB] = [aProcess(), aProcess()];
  const first = await processA.lead("watch:1", forever);
  const waiting = processB.lead("watch:1", forever);
  const otherTask = await processB.lead("watch:2", forever);
  expect(otherTask, "another task has its own leader").toBeDefined();
  expect(await Promise.race([waiting, sleep(300, "still waits")])).toBe("still waits");
  expect(leadershipOf("watch:1", processA, processB)).toEqual([true, false]);
  await first?.release();
  expect((await waiting)?.lost.aborted).toBe(false);
  expect(leadershipOf("watch:1", processA, processB)).toEqual([false, true]);
});

test("in production a standby leads within 5 seconds, and the leader stops before", () => {
  const { beatMs, leaseMs, sessionIdleMs } = LEADER_TIMING;
  expect(sessionIdleMs + beatMs).toBeLessThan(4_500);
  expect(leaseMs + beatMs).toBeLessThan(sessionIdleMs);
});

test("two tasks with one name in one process lead one after the other", async () => {
  const locks = aProcess();
  const first = await locks.lead("watch:1", forever);
  const second = locks.lead("watch:1", forever);
  expect(await Promise.race([second, sleep(300, "still waits")])).toBe("still waits");
  await first?.release();
  expect((await second)?.lost.aborted).toBe(false);
});

test("a standby holds no snapshot, so vacuum and concurrent index builds do not wait for it", async () => {
  const [leader, standby] = [aProcess(), aProcess()];
  for (const name of ["watch:1", "watch:2", "settlement"]) await leader.lead(name, forever);
  const waiting = ["watch:1", "watch:2", "settlement"].map((name) => standby.lead(name, forever));
  await sleep(500);
  expect(await lockSessions(), "one connection per process, however many locks").toHaveLength(2);
  // The session is idle between two heartbeats, which are short.
  const idle = { state: "idle", backend_xmin: null };
  await expect
    .poll(async () => (await lockSessions()).map(({ state, backend_xmin }) => ({ state, backend_xmin })))
    .toEqual([idle, idle]);
  await pool.query("create table hot (id integer primary key, n integer) with (autovacuum_enabled = off)");
  await pool.query("insert into hot select 1, 0");
  await pool.query(
    "do $$ begin for n in 1..2000 loop update hot set n = hot.n + 1; commit; end loop; end $$",
  );
  await pool.query("create index concurrently hot_n on hot (n)");
  await expect.poll(deadVersions, { timeout: 5_000 }).toBe(0);
  await leader.close();
  expect((await Promise.all(waiting)).every((leadership) => leadership !== undefined)).toBe(true);
});

test("a process that stops while it waits gets no lock and holds none", async () => {
  const [processA, processB, processC] = [aProcess(), aProcess(), aProcess()];
  const leader = await processA.lead("watch:1", forever);
  const stop = new AbortController();
  const waiting = processB.lead("watch:1", stop.signal);
  await sleep(150);
  stop.abort();
  expect(await waiting).toBeUndefined();
  await leader?.release();
  expect(await processC.lead("watch:1", forever)).toBeDefined();
});

test("a leader whose connection is cut loses all its locks, and reacquires those that no other process has taken", async () => {
  const locks = aProcess();
  const [first, second] = [await locks.lead("watch:1", forever), await locks.lead("watch:2", forever)];
  for (const { pid } of await lockSessions()) await pool.query("select pg_terminate_backend($1)", [pid]);
  await expect.poll(() => [first?.lost.aborted, second?.lost.aborted]).toEqual([true, true]);
  expect(leadershipOf("watch:1", locks)).toEqual([false]);
  expect((await locks.lead("watch:1", forever))?.lost.aborted).toBe(false);
});

test("a leader that loses the network stops before another process leads", async () => {
  const { hostname, port } = new URL(database.url);
  const network = await startSwallowingProxy({ host: hostname, port: Number(port) });
  try {
    const cutOff = new URL(database.url);
    cutOff.port = String(network.port);
    const leader = await aProcess(cutOff.href).lead("watch:1", forever);
    const waiting = aProcess().lead("watch:1", forever);
    await sleep(300);
    network.cut();
    const cutAtMs = performance.now();
    const lostAtMs = new Promise<number>((resolve) => {
      leader?.lost.addEventListener("abort", () => resolve(performance.now() - cutAtMs));
    });
    const next = await waiting;
    const ledAtMs = performance.now() - cutAtMs;
    expect(next?.lost.aborted).toBe(false);
    expect(leader?.lost.aborted).toBe(true);
    expect(await lostAtMs).toBeLessThan(ledAtMs);
  } finally {
    await network.close();
  }
});

test("a frozen leader loses its locks, and does not lead when it continues", async () => {
  const script = fileURLToPath(new URL("../../support/leader-process.ts", import.meta.url));
  const args = ["-C", "source", script, database.url, "watch:1", JSON.stringify(TIMING)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  await expect.poll(() => lines, { timeout: 15_000 }).toEqual(["leads"]);
  const standby = aProcess();
  const waiting = standby.lead("watch:1", forever);
  await sleep(300);
  child.kill("SIGSTOP");
  expect((await waiting)?.lost.aborted).toBe(false);
  child.kill("SIGCONT");
  await expect.poll(() => lines, { timeout: 5_000 }).toEqual(["leads", "stopped"]);
  expect(leadershipOf("watch:1", standby)).toEqual([true]);
});

test("locks are acquired again after the database was unreachable", async () => {
  const { hostname, port } = new URL(database.url);
  const network = await startSwallowingProxy({ host: hostname, port: Number(port) });
  try {
    const url = new URL(database.url);
    url.port = String(network.port);
    const locks = aProcess(url.href);
    const first = await locks.lead("watch:1", forever);
    network.cut();
    await expect.poll(() => first?.lost.aborted, { timeout: 5_000 }).toBe(true);
    const nextLead = locks.lead("watch:1", forever);
    network.heal();
    expect((await nextLead)?.lost.aborted).toBe(false);
  } finally {
    await network.close();
  }
});

test("every worker reports which worker leads a chain, and the leader reports how long ago it worked", async () => {
  const [processA, processB] = [aProcess(), aProcess()];
  const chains = {
    evmChains: [{ chain: { id: 1, name: "base" } }, { chain: { id: 2, name: "optimism" } }],
    nonEvmChains: [{ chain: { id: 9_286_185, name: "solana" } }],
  } as unknown as ChainDirectory;
  const leadership = await processA.lead("watch:1", forever);
  await processA.lead("settlement", forever);
  await processB.lead("watch:9286185", forever);
  await sleep(600);
  const reportOf = async ({ workedAgoMs }: LeaderLocks) =>
    await leaderReport(ledTasks(chains, true), workedAgoMs, leaderReads(sqlOn(pool)))();
  expect(await reportOf(processA)).toEqual({
    base: { leader: "self", workedSecondsAgo: 1 },
    optimism: { leader: "none" },
    solana: { leader: "other" },
    settlement: { leader: "self", workedSecondsAgo: 1 },
  });
  leadership?.reportWork();
  expect(await reportOf(processA)).toMatchObject({ base: { leader: "self", workedSecondsAgo: 0 } });
  expect(await reportOf(processB)).toMatchObject({ base: { leader: "other" }, solana: { leader: "self" } });
});

test("the oldest snapshot is that of the session whose transaction started first", async () => {
  const session = new pg.Client({ connectionString: database.url });
  await session.connect();
  const before = await oldestSnapshot(sqlOn(pool));
  try {
    await session.query("begin isolation level repeatable read");
    await session.query("select 1");
    await sleep(1_100);
    await pool.query("create table since (id integer)");
    const now = await oldestSnapshot(sqlOn(pool));
    expect(now.seconds).toBeGreaterThan(1);
    expect(now.transactions).toBeGreaterThan(0);
  } finally {
    await session.end();
  }
  expect(before.seconds).toBeLessThan(1);
});
