import { freePort, startRedis, type RunningRedis } from "@causeway/testkit";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { producerConnection } from "../../../apps/api/src/db/connections.adapter.ts";
import { redisAt } from "../../../apps/api/src/db/redis-endpoint.ts";
import { startOutboxRelay, type OutboxRelay } from "../../../apps/api/src/db/outbox-relay.adapter.ts";
import { startWorkers, type WorkerHost } from "../../../apps/api/src/db/worker-host.adapter.ts";
import { jobRuns } from "../../../apps/api/src/db/job-runs.postgres.ts";
import type { EnginePolicy } from "../../../apps/api/src/db/engine-policy.port.ts";
import { newJobs, type NewJobs } from "../../../apps/api/src/db/new-jobs.ts";
import { outbox } from "../../../apps/api/src/db/outbox.postgres.ts";
import { rescueOverdue } from "../../../apps/api/src/db/rescue-lost.ts";
import { createPool, sqlOn, type Sql } from "../../../apps/api/src/db/pool.postgres.ts";
import { postgresUnitOfWork } from "../../../apps/api/src/process/unit-of-work.postgres.ts";
import { BadPayload, type Catalog } from "../../../apps/api/src/db/define-job.job.ts";
import type { WorkerServices } from "../../../apps/api/src/db/services.port.ts";
import type { OutboxEntry } from "../../../apps/api/src/db/unit-of-work.port.ts";
import type { Progress } from "../../../apps/api/src/db/wait.ts";
import { recordedEvents } from "../../fakes/recorded-events.ts";
import { createTestDatabase, testRedis, type TestDatabase } from "../../support/database.ts";

let database: TestDatabase;
let pool: pg.Pool;
let prefix: string;
let parts: { close(): Promise<void> }[] = [];
const events = recordedEvents();
const clock = { nowMs: () => Date.now() };

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool(database.url, { max: 6, statementTimeoutMs: 10_000, applicationName: "test" });
});
beforeEach(async () => {
  prefix = testRedis().prefix;
  await pool.query("truncate outbox, job_runs");
});
afterEach(closeParts);
afterAll(async () => {
  await pool.end();
  await database.drop();
});

/** Empties the list before closing, so that a part that hangs fails only the test that started it. */
async function closeParts(): Promise<void> {
  const closing = parts.toReversed();
  parts = [];
  for (const part of closing) await part.close();
}

/**
 * A job catalog that only records which jobs ran. Jobs of `fill` may run in the process that commits them.
 */
function aCatalog(
  run: (payload: unknown) => Promise<Progress> = async () => ({ waitMs: 0 }),
  fillOptions = {},
) {
  const ran: unknown[] = [];
  const job = (name: "fill" | "refund") => ({
    name,
    concurrency: 4,
    attempts: 8,
    run: async (_services: WorkerServices, payload: unknown): Promise<Progress> => {
      ran.push(payload);
      return await run(payload);
    },
  });
  const catalog = { fill: { ...job("fill"), ...fillOptions }, refund: job("refund") } satisfies Catalog;
  return { catalog, ran };
}

const services = { clock, events } as unknown as WorkerServices;

async function openRelay(
  catalog: Catalog,
  redisUrl: string,
  ownJobs: NewJobs = newJobs(),
  hangsAfterMs?: number,
): Promise<OutboxRelay> {
  const outboxRelay = await startOutboxRelay(services, catalog, {
    pool,
    databaseUrl: database.url,
    redis: redisAt(redisUrl),
    prefix,
    newJobs: ownJobs,
    ...(hangsAfterMs !== undefined && { hangsAfterMs }),
  });
  parts.push(outboxRelay);
  return outboxRelay;
}

function openWorkers(catalog: Catalog, redisUrl: string): WorkerHost {
  const host = startWorkers(services, catalog, {
    redis: redisAt(redisUrl),
    prefix,
    runs: jobRuns(sqlOn(pool)),
  });
  parts.push(host);
  return host;
}

const jobEntries = (from: number, to: number): OutboxEntry[] =>
  Array.from({ length: to - from }, (_, index) => ({
    job: "fill",
    jobId: `job-${from + index}`,
    payload: { n: from + index },
  }));

const addJobs = async (entries: readonly OutboxEntry[]): Promise<void> =>
  await postgresUnitOfWork(pool, events).run(async (tx) => await tx.outbox.add(entries, clock.nowMs()));

const jobNumbers = (ran: readonly unknown[]): number[] =>
  ran.map((payload) => (payload as { n: number }).n).toSorted((a, b) => a - b);

const countUnpublished = async (): Promise<number> =>
  (await pool.query("select 1 from outbox where published_at_ms is null")).rows.length;

test("committed jobs run promptly and once, however many relays and workers there are", async () => {
  const { catalog, ran } = aCatalog();
  const { url } = testRedis();
  await Promise.all([openRelay(catalog, url), openRelay(catalog, url)]);
  openWorkers(catalog, url);
  openWorkers(catalog, url);
  await Promise.all([
    addJobs(jobEntries(0, 50)),
    addJobs(jobEntries(50, 100)),
    addJobs(jobEntries(100, 250)),
  ]);
  await expect.poll(() => ran.length, { timeout: 10_000, interval: 20 }).toBe(250);
  await sleep(200);
  expect(jobNumbers(ran)).toEqual(Array.from({ length: 250 }, (_, index) => index));
  expect(await countUnpublished()).toBe(0);
});

test("a commit writes all its jobs and one announcement in one statement, and a repeated job announces nothing", async () => {
  const client = await pool.connect();
  const statements: string[] = [];
  const recorded = new Proxy(client, {
    get: (inner, key): unknown => {
      if (key === "release") return () => undefined;
      const member: unknown = Reflect.get(inner, key);
      if (typeof member !== "function") return member;
      return (...args: unknown[]): unknown => {
        const [statement] = args as [string | { name: string }];
        if (key === "query") statements.push(typeof statement === "string" ? statement : statement.name);
        return Reflect.apply(member, inner, args);
      };
    },
  });
  const recordedPool = new Proxy(pool, {
    get: (inner, key): unknown =>
      // The sender gets no connection, so announcements stay in the table.
      key === "connect"
        ? async () => recorded
        : key === "query"
          ? async () => await new Promise(() => undefined)
          : Reflect.get(inner, key),
  });
  try {
    const { run } = postgresUnitOfWork(recordedPool, events);
    await run(async (tx) => {
      for (const job of jobEntries(0, 3)) await tx.outbox.add([job], 1_000 + Number(job.payload["n"]));
      await tx.outbox.add([{ job: "refund", jobId: "job-1", payload: { n: 7 } }], 5_000);
    });
    expect(statements).toEqual(["begin", "outbox_add_announced", "commit"]);
    await run(async (tx) => await tx.outbox.add(jobEntries(0, 1), 9_000));
    await expect(
      run(async (tx) => {
        await tx.outbox.add(jobEntries(3, 4), 9_000);
        throw new RangeError("rolled back");
      }),
    ).rejects.toThrow(RangeError);
  } finally {
    client.release();
  }
  const { rows } = await pool.query(
    "select job_name, job_id, payload, created_at_ms from outbox order by id",
  );
  expect(rows).toEqual(
    [0, 1, 2].map((n) => ({
      job_name: "fill",
      job_id: `job-${n}`,
      payload: JSON.stringify({ n }),
      created_at_ms: 1_000 + n,
    })),
  );
  const announced = await pool.query("delete from announcements returning channel");
  expect(announced.rows).toEqual([{ channel: "causeway_outbox" }]);
});

test("a commit wakes the relay immediately, without waiting for the next poll", async () => {
  const { catalog, ran } = aCatalog();
  const { url } = testRedis();
  await openRelay(catalog, url);
  openWorkers(catalog, url);
  await addJobs(jobEntries(0, 1));
  await expect.poll(() => ran.length, { timeout: 5_000, interval: 5 }).toBe(1);
  const tookMs: number[] = [];
  for (let n = 1; n <= 10; n++) {
    const startedAtMs = performance.now();
    await addJobs(jobEntries(n, n + 1));
    await expect.poll(() => ran.length, { timeout: 5_000, interval: 2 }).toBe(n + 1);
    tookMs.push(performance.now() - startedAtMs);
  }
  expect(tookMs.toSorted((a, b) => a - b)[5], "median").toBeLessThan(400);
});

test("a commit wakes the relay of its own process without an announcement, and announces jobs to other relays once that relay is closed", async () => {
  const { catalog, ran } = aCatalog();
  const { url } = testRedis();
  const ownJobs = newJobs();
  const outboxRelay = await openRelay(catalog, url, ownJobs);
  openWorkers(catalog, url);
  const notices: unknown[] = [];
  const listener = new pg.Client({ connectionString: database.url });
  await listener.connect();
  try {
    await listener.query("listen causeway_outbox");
    listener.on("notification", (notice) => notices.push(notice));
    const { run } = postgresUnitOfWork(pool, events, undefined, ownJobs);
    const addOwnJob = async (n: number): Promise<void> =>
      await run(async (tx) => await tx.outbox.add(jobEntries(n, n + 1), clock.nowMs()));
    const tookMs: number[] = [];
    for (let n = 0; n <= 10; n++) {
      const startedAtMs = performance.now();
      await addOwnJob(n);
      await expect.poll(() => ran.length, { timeout: 5_000, interval: 2 }).toBe(n + 1);
      tookMs.push(performance.now() - startedAtMs);
    }
    expect(tookMs.toSorted((a, b) => a - b)[5], "median").toBeLessThan(400);
    await sleep(100);
    expect(notices).toEqual([]);
    await outboxRelay.close();
    await addOwnJob(11);
    await expect.poll(() => notices.length, { timeout: 5_000 }).toBe(1);
  } finally {
    await listener.end();
  }
});

test("queues the jobs of a commit without reading the table, and then marks them there", async () => {
  const { catalog, ran } = aCatalog();
  const { url } = testRedis();
  const ownJobs = newJobs();
  const outboxRelay = await openRelay(catalog, url, ownJobs);
  openWorkers(catalog, url);
  const isConnected = async (): Promise<boolean> =>
    await outboxRelay.ping().then(
      () => true,
      () => false,
    );
  await expect.poll(isConnected, { timeout: 5_000 }).toBe(true);
  const lockingClient = await pool.connect();
  const runsOf = (n: number) => ran.filter((payload) => (payload as { n: number }).n === n);
  /**
   * Stores a job and then hides it from every read of the table. Undefined if the relay has already read it.
   */
  const hideJob = async (n: number): Promise<number | undefined> => {
    const { rows } = await pool.query<{ id: number }>(
      `insert into outbox (job_name, job_id, payload, created_at_ms) values ('fill', 'job-${n}', '{"n":${n}}', 1) returning id`,
    );
    await lockingClient.query("begin");
    const locked = await lockingClient.query(
      "select from outbox where id = $1 and published_at_ms is null for update",
      [rows[0]?.id],
    );
    if (locked.rowCount === 1) return rows[0]?.id;
    await lockingClient.query("rollback");
    return undefined;
  };
  let n = 8;
  try {
    let id = await hideJob(n);
    while (id === undefined) id = await hideJob(++n);
    ownJobs.passToRelay([{ id, job: "fill", jobId: `job-${n}`, payload: { n } }]);
    await expect.poll(() => runsOf(n), { timeout: 5_000, interval: 5 }).toHaveLength(1);
    expect(await countUnpublished()).toBe(1);
  } finally {
    await lockingClient.query("rollback");
    lockingClient.release();
  }
  await expect.poll(countUnpublished, { timeout: 5_000 }).toBe(0);
  await sleep(200);
  expect(runsOf(n)).toHaveLength(1);
});

/** A process that runs the jobs of its commits itself. Its relay has connected to Redis. */
async function startCommitting(run: (payload: unknown) => Promise<Progress>, hangsAfterMs?: number) {
  const { catalog, ran } = aCatalog(run, { runsAtCommit: true });
  const { url } = testRedis();
  const ownJobs = newJobs();
  const started = await openRelay(catalog, url, ownJobs, hangsAfterMs);
  const host = openWorkers(catalog, url);
  ownJobs.useRunner(host.commitRunner);
  await expect.poll(async () => await started.depths().catch(() => []), { timeout: 5_000 }).not.toEqual([]);
  const { run: runUnit } = postgresUnitOfWork(pool, events, undefined, ownJobs);
  const commit = async (entries: readonly OutboxEntry[]): Promise<void> =>
    await runUnit(async (tx) => await tx.outbox.add(entries, clock.nowMs()));
  return { ran, started, host, commit };
}

test("a job that its process runs at commit starts immediately and never reaches the queue", async () => {
  const { ran, host, commit } = await startCommitting(async () => ({ waitMs: 0 }));
  await commit(jobEntries(0, 3));
  expect(jobNumbers(ran)).toEqual([0, 1, 2]);
  await expect.poll(countUnpublished, { timeout: 900 }).toBe(0);
  await sleep(200);
  expect(jobNumbers(ran)).toEqual([0, 1, 2]);
  await host.close();
  await commit(jobEntries(3, 4));
  await expect.poll(countUnpublished, { timeout: 5_000 }).toBe(0);
  expect(jobNumbers(ran), "a closing process leaves its jobs to the queue").toEqual([0, 1, 2]);
});

test("the queue gets a job that waits or fails at commit", async () => {
  const tries = new Map<number, number>();
  const { ran, commit } = await startCommitting(async (payload) => {
    const { n } = payload as { n: number };
    const earlierTries = tries.get(n) ?? 0;
    tries.set(n, earlierTries + 1);
    if (earlierTries > 0) return { waitMs: 0 };
    if (n === 0) throw new Error("the node is unreachable");
    return { waitMs: 1, why: "the inventory is short" };
  });
  await commit(jobEntries(0, 2));
  await expect.poll(() => jobNumbers(ran), { timeout: 5_000, interval: 20 }).toEqual([0, 0, 1, 1]);
  await expect.poll(countUnpublished, { timeout: 5_000 }).toBe(0);
  const faults = events.of("job_fault").filter(({ facts }) => facts["jobId"] === "job-0");
  expect(faults, "reported once").toHaveLength(1);
});

test("a job that waits at commit waits in the queue, and does not count as lost", async () => {
  const { ran, commit } = await startCommitting(async () => ({ waitMs: 60_000, why: "the chain is paused" }));
  const { url } = testRedis();
  await commit([{ job: "fill", jobId: "fill-1-0", payload: { n: 1 } }]);
  await expect.poll(async () => await idsOf(url, "delayed"), { timeout: 5_000 }).toEqual(["fill-1-0"]);
  const [run] = await runRows();
  expect(run).toMatchObject({ job_id: "fill-1-0" });
  expect((run?.lost_after_ms ?? 0) - (run?.ran_at_ms ?? 0), "its wait plus a minute").toBe(120_000);
  await expect.poll(countUnpublished, { timeout: 900 }).toBe(0);
  expect(ran).toHaveLength(1);
});

test("a slow job of a commit runs once, even if relays read the table in the meantime", async () => {
  const { ran, commit } = await startCommitting(async () => {
    await sleep(1_500);
    return { waitMs: 0 };
  });
  const standby = aCatalog();
  const { url } = testRedis();
  await openRelay(standby.catalog, url);
  openWorkers(standby.catalog, url);
  await commit(jobEntries(0, 4));
  // An API process shares the database, and its commit wakes every relay.
  await addJobs([{ job: "refund", jobId: "refund-0", payload: { n: 99 } }]);
  await expect.poll(() => [...ran, ...standby.ran].length, { timeout: 1_000 }).toBe(5);
  await expect.poll(countUnpublished, { timeout: 4_000 }).toBe(0);
  await sleep(300);
  expect(jobNumbers([...ran, ...standby.ran])).toEqual([0, 1, 2, 3, 99]);
});

test("a relay takes over the job of a crashed process when its lease ends", async () => {
  const { catalog, ran } = aCatalog();
  const { url } = testRedis();
  await openRelay(catalog, url);
  openWorkers(catalog, url);
  const jobsOfCrashed = newJobs();
  jobsOfCrashed.listen({ isReady: () => true, take: () => undefined });
  jobsOfCrashed.useRunner({ runs: (job) => job === "fill", run: () => new Promise(() => undefined) });
  const startedAtMs = performance.now();
  await postgresUnitOfWork(pool, events, undefined, jobsOfCrashed).run(
    async (tx) =>
      await tx.outbox.add([...jobEntries(0, 1), { job: "refund", jobId: "r", payload: { n: 9 } }], 1),
  );
  await expect.poll(() => jobNumbers(ran), { timeout: 2_000, interval: 20 }).toEqual([9]);
  await expect.poll(() => jobNumbers(ran), { timeout: 8_000, interval: 20 }).toEqual([0, 9]);
  const tookMs = performance.now() - startedAtMs;
  expect(tookMs).toBeGreaterThan(4_900);
  expect(tookMs).toBeLessThan(7_500);
});

test("a job that takes longer than its lease stays with its process until the process is killed", async () => {
  const { catalog, ran } = aCatalog();
  const { url } = testRedis();
  await openRelay(catalog, url);
  openWorkers(catalog, url);
  const script = fileURLToPath(new URL("../../support/slow-job-process.ts", import.meta.url));
  const child = spawn(process.execPath, ["-C", "source", script, database.url, url, prefix], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const ended = once(child, "exit");
    const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    expect(line).toBe("runs");
    await sleep(7_500);
    expect(ran, "its lease was renewed").toEqual([]);
    expect(await countUnpublished()).toBe(1);
    child.kill("SIGKILL");
    await ended;
    const diedAtMs = performance.now();
    await expect.poll(() => jobNumbers(ran), { timeout: 8_000, interval: 20 }).toEqual([7]);
    expect(performance.now() - diedAtMs).toBeLessThan(7_500);
    await expect.poll(countUnpublished, { timeout: 1_000 }).toBe(0);
  } finally {
    child.kill("SIGKILL");
  }
});

test("the queue gets a job that hangs at commit, within seven and a half seconds after it counts as lost", async () => {
  const frozen = Promise.withResolvers<Progress>();
  let isFirst = true;
  const { ran, commit } = await startCommitting(async () => {
    if (!isFirst) return { waitMs: 0 };
    isFirst = false;
    return await frozen.promise;
  }, 1_000);
  try {
    await commit(jobEntries(0, 1));
    await expect.poll(() => jobNumbers(ran), { timeout: 7_500, interval: 20 }).toEqual([0, 0]);
    await expect.poll(countUnpublished, { timeout: 1_000 }).toBe(0);
  } finally {
    frozen.resolve({ waitMs: 0 });
  }
});

test("jobs run at commit and from the queue share the concurrency of a process, and jobs beyond it go to the queue immediately", async () => {
  const released = Promise.withResolvers<Progress>();
  const { ran, started, host, commit } = await startCommitting(async () => await released.promise);
  try {
    await commit(jobEntries(0, 6));
    const active = async () =>
      (await started.depths()).find(({ queue, state }) => queue === "fill" && state === "active")?.jobs;
    // Four jobs run at the commit. The worker has taken the other two from the queue.
    await expect.poll(active, { timeout: 900 }).toBe(6);
    await sleep(200);
    expect(jobNumbers(ran)).toEqual([0, 1, 2, 3]);
  } finally {
    released.resolve({ waitMs: 0 });
  }
  await expect.poll(() => jobNumbers(ran), { timeout: 2_000 }).toEqual([0, 1, 2, 3, 4, 5]);
  await host.close();
  await expect.poll(countUnpublished, { timeout: 1_000 }).toBe(0);
});

test("jobs that are committed while Redis is unavailable run once it is back", async () => {
  const port = await freePort();
  let redis: RunningRedis = await startRedis({ port, env: {} });
  const { catalog, ran } = aCatalog();
  const ownJobs = newJobs();
  await openRelay(catalog, redis.url, ownJobs);
  const { run } = postgresUnitOfWork(pool, events, undefined, ownJobs);
  const addOwnJob = async (n: number): Promise<void> =>
    await run(async (tx) => await tx.outbox.add(jobEntries(n, n + 1), clock.nowMs()));
  await addOwnJob(0);
  await expect.poll(countUnpublished, { timeout: 5_000 }).toBe(0);
  await redis.stop();
  await addOwnJob(1);
  await sleep(100);
  await addOwnJob(2);
  redis = await startRedis({ port, env: {} });
  openWorkers(catalog, redis.url);
  await expect.poll(() => new Set(jobNumbers(ran)), { timeout: 10_000 }).toEqual(new Set([1, 2]));
  await expect.poll(countUnpublished, { timeout: 5_000 }).toBe(0);
  await closeParts();
  await redis.stop();
});

test("a job whose process crashed before it woke its relay is published by another process within two seconds", async () => {
  const { catalog, ran } = aCatalog();
  const { url } = testRedis();
  await openRelay(catalog, url);
  openWorkers(catalog, url);
  await addJobs(jobEntries(0, 1));
  await expect.poll(() => ran.length, { timeout: 5_000 }).toBe(1);
  const jobsOfCrashed = newJobs();
  jobsOfCrashed.listen({ isReady: () => true, take: () => undefined });
  const startedAtMs = performance.now();
  await postgresUnitOfWork(pool, events, undefined, jobsOfCrashed).run(
    async (tx) => await tx.outbox.add(jobEntries(1, 2), clock.nowMs()),
  );
  await expect.poll(() => ran.length, { timeout: 5_000, interval: 20 }).toBe(2);
  expect(performance.now() - startedAtMs).toBeLessThan(2_000);
});

test("reports the depth of each queue by state, and fails without waiting if Redis does not answer", async () => {
  const redis = await startRedis({ port: await freePort(), env: {} });
  const { catalog } = aCatalog();
  const outboxRelay = await openRelay(catalog, redis.url);
  await addJobs(jobEntries(0, 3));
  await expect.poll(countUnpublished, { timeout: 5_000 }).toBe(0);
  expect(await outboxRelay.depths()).toEqual(
    expect.arrayContaining([
      { queue: "fill", state: "wait", jobs: 3 },
      { queue: "refund", state: "wait", jobs: 0 },
    ]),
  );
  await redis.stop();
  const startedAtMs = performance.now();
  await expect(outboxRelay.depths()).rejects.toThrow();
  expect(performance.now() - startedAtMs).toBeLessThan(5_000);
});

test("a job that was published twice runs once while the queue remembers it", async () => {
  const { catalog, ran } = aCatalog();
  const { url } = testRedis();
  // Both rows are in the queue before any worker runs, as after a crash between queueing and commit.
  await openRelay(catalog, url);
  await addJobs(jobEntries(0, 3));
  await expect.poll(countUnpublished, { timeout: 5_000 }).toBe(0);
  await pool.query("update outbox set published_at_ms = null");
  await addJobs([]);
  await expect.poll(countUnpublished, { timeout: 5_000 }).toBe(0);
  openWorkers(catalog, url);
  await expect.poll(() => ran.length, { timeout: 5_000 }).toBe(3);
  await sleep(200);
  expect(jobNumbers(ran)).toEqual([0, 1, 2]);
});

test("a job that has to wait runs again, and one that fails is retried", async () => {
  const runCounts = new Map<number, number>();
  const { catalog } = aCatalog(async (payload) => {
    const { n } = payload as { n: number };
    const runCount = (runCounts.get(n) ?? 0) + 1;
    runCounts.set(n, runCount);
    if (n === 0 && runCount < 3) return { waitMs: 20, why: "not yet" };
    if (n === 1 && runCount < 3) throw new Error("the node is unreachable");
    if (n === 2) throw new BadPayload("fill", "invalid payload");
    return { waitMs: 0 };
  });
  const { url } = testRedis();
  await openRelay(catalog, url);
  openWorkers(catalog, url);
  await addJobs(jobEntries(0, 3));
  await expect.poll(() => [runCounts.get(0), runCounts.get(1)], { timeout: 10_000 }).toEqual([3, 3]);
  await sleep(300);
  expect(runCounts.get(2), "a permanent error is not retried").toBe(1);
});

test("jobs that are committed while Redis is down run when Redis is back, and none is lost", async () => {
  const port = await freePort();
  let redis: RunningRedis = await startRedis({ port, env: {} });
  try {
    const { catalog, ran } = aCatalog();
    await openRelay(catalog, redis.url);
    openWorkers(catalog, redis.url);
    await addJobs(jobEntries(0, 5));
    await expect.poll(() => ran.length, { timeout: 5_000 }).toBe(5);

    await redis.stop();
    await addJobs(jobEntries(5, 15));
    await sleep(800);
    await addJobs(jobEntries(15, 20));
    expect(ran).toHaveLength(5);
    expect(await countUnpublished()).toBe(15);
    const relayFaults = () => events.of("relay_fault").map(({ error }) => String(error));
    await expect
      .poll(relayFaults, { timeout: 5_000 })
      .toContainEqual(expect.stringContaining("is not ready"));

    redis = await startRedis({ port, env: {} });
    await expect.poll(() => new Set(jobNumbers(ran)).size, { timeout: 15_000 }).toBe(20);
    expect(await countUnpublished()).toBe(0);
  } finally {
    await closeParts();
    await redis.stop();
  }
});

test("publishes a job again that Redis lost before it answered", async () => {
  const port = await freePort();
  let redis: RunningRedis = await startRedis({ port, env: {} });
  try {
    const { catalog, ran } = aCatalog();
    await openRelay(catalog, redis.url);
    await addJobs(jobEntries(0, 1));
    await expect.poll(countUnpublished, { timeout: 5_000 }).toBe(0);
    redis.process?.kill("SIGSTOP");
    await addJobs(jobEntries(1, 4));
    await sleep(500);
    expect(await countUnpublished()).toBe(3);
    redis.process?.kill("SIGKILL");
    await redis.stop();
    redis = await startRedis({ port, env: {} });
    openWorkers(catalog, redis.url);
    await expect.poll(() => new Set(jobNumbers(ran)).size, { timeout: 15_000 }).toBe(3);
    expect(
      jobNumbers(ran),
      "the first job is lost with its Redis until the reconciler queues it again",
    ).toEqual([1, 2, 3]);
  } finally {
    await closeParts();
    await redis.stop();
  }
});

test("a clean start reports no fault, because the relay waits for its connection before it publishes", async () => {
  const { catalog, ran } = aCatalog();
  const faultsBefore = events.of("relay_fault").length;
  const { url } = testRedis();
  await addJobs(jobEntries(0, 3));
  await openRelay(catalog, url);
  openWorkers(catalog, url);
  await expect.poll(() => ran.length, { timeout: 5_000 }).toBe(3);
  expect(events.of("relay_fault").slice(faultsBefore)).toEqual([]);
});

test("a relay that starts while Redis is down waits for it", async () => {
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  const { catalog, ran } = aCatalog();
  await openRelay(catalog, url);
  openWorkers(catalog, url);
  await addJobs(jobEntries(0, 3));
  await sleep(500);
  const redis = await startRedis({ port, env: {} });
  try {
    await expect.poll(() => ran.length, { timeout: 15_000 }).toBe(3);
  } finally {
    await closeParts();
    await redis.stop();
  }
});

test("relay and workers stop within seconds while Redis is down", async () => {
  const url = `redis://127.0.0.1:${await freePort()}`;
  const { catalog } = aCatalog();
  await openRelay(catalog, url);
  openWorkers(catalog, url);
  await addJobs(jobEntries(0, 1));
  await sleep(200);
  const startedAtMs = performance.now();
  await closeParts();
  expect(performance.now() - startedAtMs).toBeLessThan(15_000);
  expect(await countUnpublished()).toBe(1);
});

test("the relay closes within seconds while Redis does not answer a publication", async () => {
  const redis = await startRedis({ port: await freePort(), env: {} });
  try {
    const { catalog } = aCatalog();
    await openRelay(catalog, redis.url);
    await addJobs(jobEntries(0, 1));
    await expect.poll(countUnpublished, { timeout: 5_000 }).toBe(0);
    redis.process?.kill("SIGSTOP");
    await addJobs(jobEntries(1, 4));
    await sleep(300);
    const startedAtMs = performance.now();
    await closeParts();
    expect(performance.now() - startedAtMs).toBeLessThan(15_000);
    expect(await countUnpublished()).toBe(3);
  } finally {
    redis.process?.kill("SIGCONT");
    await redis.stop();
  }
});

test("a process whose blocking connection reconnects closes its workers and exits within seconds", async () => {
  const redis = await startRedis({ port: await freePort(), env: {} });
  const script = fileURLToPath(new URL("../../support/worker-host-process.ts", import.meta.url));
  const child = spawn(process.execPath, ["-C", "source", script, redis.url, prefix], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const admin = producerConnection(redisAt(redis.url));
  try {
    const lines: string[] = [];
    createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
    const ended = once(child, "exit");
    const blockedClientIds = async (): Promise<string[]> =>
      String(await admin.client("LIST").catch(() => ""))
        .split("\n")
        .filter((line) => / cmd=bzpopmin /.test(line))
        .map((line) => / ?id=(\d+)/.exec(line)?.[1] ?? "");
    await expect.poll(blockedClientIds, { timeout: 15_000 }).toHaveLength(1);
    for (const id of await blockedClientIds()) await admin.client("KILL", "ID", id);
    await expect.poll(blockedClientIds, { timeout: 900, interval: 5 }).toHaveLength(0);
    child.kill("SIGTERM");
    expect(await Promise.race([ended, sleep(15_000, "still alive", { ref: false })])).toEqual([0, null]);
    expect(lines).toEqual(["closed"]);
  } finally {
    child.kill("SIGKILL");
    admin.disconnect();
    await redis.stop();
  }
});

test("workers wait for a running job before they close, even without Redis", async () => {
  const redis = await startRedis({ port: await freePort(), env: {} });
  const released = Promise.withResolvers<Progress>();
  const { catalog, ran } = aCatalog(async () => await released.promise);
  await openRelay(catalog, redis.url);
  const host = openWorkers(catalog, redis.url);
  await addJobs(jobEntries(0, 1));
  await expect.poll(() => ran.length, { timeout: 5_000 }).toBe(1);
  await redis.stop();
  await sleep(500);
  let isClosed = false;
  const closed = host.close().then(() => (isClosed = true));
  await sleep(3_000);
  expect(isClosed).toBe(false);
  released.resolve({ waitMs: 0 });
  await closed;
});

test("workers close within seconds if Redis does not answer when they return a job to the queue", async () => {
  const redis = await startRedis({ port: await freePort(), env: {} });
  try {
    const released = Promise.withResolvers<Progress>();
    const { catalog, ran } = aCatalog(async () => await released.promise);
    await openRelay(catalog, redis.url);
    openWorkers(catalog, redis.url);
    await addJobs(jobEntries(0, 1));
    await expect.poll(() => ran.length, { timeout: 5_000 }).toBe(1);
    redis.process?.kill("SIGSTOP");
    released.resolve({ waitMs: 5_000, why: "test" });
    await sleep(300);
    const startedAtMs = performance.now();
    await closeParts();
    expect(performance.now() - startedAtMs).toBeLessThan(15_000);
  } finally {
    redis.process?.kill("SIGCONT");
    await redis.stop();
  }
});

test("the relay recovers when its connection for notifications is cut", async () => {
  const { catalog, ran } = aCatalog();
  const { url } = testRedis();
  await openRelay(catalog, url);
  openWorkers(catalog, url);
  await pool.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'outbox listener'",
  );
  await addJobs(jobEntries(0, 3));
  await expect.poll(() => ran.length, { timeout: 5_000 }).toBe(3);
});

/** Runs a command on Redis, for example on the keys that BullMQ uses for the queue `fill`. */
async function askRedis<T>(
  url: string,
  command: (redis: ReturnType<typeof producerConnection>) => Promise<T>,
): Promise<T> {
  const redis = producerConnection(redisAt(url));
  try {
    await expect.poll(() => redis.status).toBe("ready");
    return await command(redis);
  } finally {
    redis.disconnect();
  }
}

/** Starts a relay and workers, and waits until the relay has found the new queue empty. */
async function startWorking(catalog: Catalog, url: string): Promise<void> {
  await openRelay(catalog, url);
  openWorkers(catalog, url);
  const isMarked = async () =>
    await askRedis(url, async (redis) => await redis.exists(`${prefix}:causeway-queue`));
  await expect.poll(isMarked, { timeout: 5_000 }).toBe(1);
}

const idsOf = async (url: string, kind: "failed" | "delayed"): Promise<string[]> =>
  await askRedis(url, async (redis) => await redis.zrange(`${prefix}:fill:${kind}`, "0", "-1"));

const runRows = async () =>
  (
    await pool.query<{ job_id: string; lost_after_ms: number; ran_at_ms: number; rescues: number }>(
      "select job_id, lost_after_ms, ran_at_ms, rescues from job_runs",
    )
  ).rows;

const rescue = async (n: number): Promise<number> =>
  await postgresUnitOfWork(pool, events).run(
    async (tx) =>
      await tx.outbox.rescue([{ job: "fill", legId: String(n), payload: { n } }], clock.nowMs(), 5_000),
  );

test("a job that fails every time leaves one stack trace on the queue, and counts as lost immediately", async () => {
  const { url } = testRedis();
  const { catalog, ran } = aCatalog(async () => await Promise.reject(new Error("the node is unreachable")));
  const threeAttempts = { ...catalog, fill: { ...catalog.fill, attempts: 3 } };
  await startWorking(threeAttempts, url);
  await addJobs(jobEntries(1, 2));
  await expect.poll(() => ran.length, { timeout: 10_000 }).toBe(3);
  await expect.poll(async () => await idsOf(url, "failed"), { timeout: 5_000 }).toEqual(["job-1"]);
  const stacks = await askRedis(url, async (redis) => await redis.hget(`${prefix}:fill:job-1`, "stacktrace"));
  expect(JSON.parse(stacks ?? "")).toHaveLength(1);
  const [run] = await runRows();
  expect(run?.lost_after_ms).toBeLessThanOrEqual(clock.nowMs());
});

test("a job that was queued again runs once and leaves nothing on the queue when it fails", async () => {
  const { url } = testRedis();
  const { catalog, ran } = aCatalog(async () => await Promise.reject(new Error("the node is unreachable")));
  await startWorking(catalog, url);
  expect(await rescue(1)).toBe(1);
  await expect.poll(() => ran.length, { timeout: 5_000 }).toBe(1);
  await sleep(600);
  expect(ran, "the queue does not retry it").toHaveLength(1);
  expect([await idsOf(url, "failed"), await idsOf(url, "delayed")]).toEqual([[], []]);
  const [run] = await runRows();
  expect(run, "only the reconciler queues it again").toMatchObject({ job_id: "rescue-fill-1", rescues: 1 });
});

test("a job that waits is recorded as waiting, and its requeued duplicate ends", async () => {
  const { url } = testRedis();
  const { catalog, ran } = aCatalog(async () => await Promise.resolve({ waitMs: 60_000, why: "not yet" }));
  await startWorking(catalog, url);
  await addJobs([{ job: "fill", jobId: "fill-1-0", payload: { n: 1 } }]);
  await expect.poll(async () => (await runRows()).length, { timeout: 5_000 }).toBe(1);
  const [run] = await runRows();
  expect(run?.job_id).toBe("fill-1-0");
  expect((run?.lost_after_ms ?? 0) - (run?.ran_at_ms ?? 0), "its wait plus a minute").toBe(120_000);
  await addJobs([{ job: "fill", jobId: "rescue-fill-1", payload: { n: 1, rescue: 1 } }]);
  await expect.poll(() => ran.length, { timeout: 5_000 }).toBe(2);
  await sleep(200);
  expect(await idsOf(url, "delayed")).toEqual(["fill-1-0"]);
});

test("a requeued job keeps waiting if the first job of its leg is lost", async () => {
  const { url } = testRedis();
  const { catalog } = aCatalog(async () => await Promise.resolve({ waitMs: 60_000, why: "not yet" }));
  await startWorking(catalog, url);
  await rescue(1);
  await expect.poll(async () => await idsOf(url, "delayed"), { timeout: 5_000 }).toEqual(["rescue-fill-1"]);
  expect(await runRows()).toMatchObject([{ job_id: "rescue-fill-1", rescues: 0 }]);
});

test("jobs that waited on a Redis that lost its data no longer count as waiting", async () => {
  const { url } = testRedis();
  const { catalog } = aCatalog(async () => await Promise.resolve({ waitMs: 60_000, why: "not yet" }));
  await startWorking(catalog, url);
  await addJobs(jobEntries(1, 3));
  await expect.poll(async () => (await runRows()).length, { timeout: 5_000 }).toBe(2);
  await sleep(1_500);
  expect(await runRows(), "the queue is unchanged").toHaveLength(2);
  await askRedis(url, async (redis) => await redis.del(...(await redis.keys(`${prefix}:*`))));
  await expect.poll(async () => (await runRows()).length, { timeout: 5_000 }).toBe(0);
});

const legs = Array.from({ length: 40 }, (_, n) => String(n));
const legJobs = (): OutboxEntry[] =>
  legs.map((n) => ({ job: "fill", jobId: `fill-${n}-${clock.nowMs()}`, payload: { n: Number(n) } }));

/**
 * Reconciles 10 s later, while no leg has progressed.
 * @returns how many jobs were queued again
 */
const reconcile = async ({ queuedLegs }: OutboxRelay): Promise<number> =>
  await rescueOverdue(
    {
      clock: { nowMs: () => clock.nowMs() + 10_000 },
      enginePolicy: { overdueAfterMs: 5_000 } as EnginePolicy,
      uow: postgresUnitOfWork(pool, events),
      queuedLegs,
    },
    "fill",
    async () => legs,
    (n) => ({ n: Number(n) }),
  );

const outboxRows = async (): Promise<number> => (await pool.query("select 1 from outbox")).rows.length;

test("a burst whose jobs wait and run for 10 seconds makes no second job, except for one that hangs", async () => {
  const { url } = testRedis();
  const released = Promise.withResolvers<Progress>();
  const { catalog, ran } = aCatalog(async () => await released.promise);
  const outboxRelay = await openRelay(catalog, url);
  await addJobs(legJobs());
  expect(await reconcile(outboxRelay), "not published yet, or just published").toBe(0);
  await expect.poll(countUnpublished, { timeout: 5_000 }).toBe(0);
  expect(await reconcile(outboxRelay), "all wait").toBe(0);
  openWorkers(catalog, url);
  await expect.poll(() => ran.length, { timeout: 5_000 }).toBe(4);
  expect(await reconcile(outboxRelay), "four run, the others wait").toBe(0);
  const begunAtMs = await askRedis(url, async (redis) => {
    const [id] = await redis.lrange(`${prefix}:fill:active`, 0, 0);
    const key = `${prefix}:fill:${id}`;
    const processedOn = await redis.hget(key, "processedOn");
    await redis.hset(key, "processedOn", String(clock.nowMs() - 61_000));
    return Number(processedOn);
  });
  expect(Math.abs(clock.nowMs() - begunAtMs)).toBeLessThan(10_000);
  expect(await reconcile(outboxRelay), "one hangs").toBe(1);
  released.resolve({ waitMs: 0 });
  await expect.poll(() => ran.length, { timeout: 10_000 }).toBe(legs.length + 1);
  expect(await outboxRows()).toBe(legs.length + 1);
});

test("queues jobs again that Redis lost or that failed permanently", async () => {
  const { url } = testRedis();
  const { catalog } = aCatalog(async () => await Promise.reject(new BadPayload("fill", "broken")));
  const outboxRelay = await openRelay(catalog, url);
  await addJobs(legJobs());
  await expect.poll(countUnpublished, { timeout: 5_000 }).toBe(0);
  // Simulates a restart of Redis from an older snapshot.
  await askRedis(url, async (redis) => await redis.lpop(`${prefix}:fill:wait`, 3));
  expect(await reconcile(outboxRelay)).toBe(3);
  await expect.poll(countUnpublished, { timeout: 5_000 }).toBe(0);
  expect(await reconcile(outboxRelay), "all jobs wait again").toBe(0);
  await pool.query("truncate job_runs");
  await askRedis(url, async (redis) => await redis.del(...(await redis.keys(`${prefix}:*`))));
  expect(await reconcile(outboxRelay)).toBe(legs.length);
  await expect.poll(countUnpublished, { timeout: 5_000 }).toBe(0);
  expect(await reconcile(outboxRelay)).toBe(0);
  await pool.query("truncate job_runs");
  openWorkers(catalog, url);
  const remainingLegs = async () => (await outboxRelay.queuedLegs.legIdsOf("fill"))?.size;
  await expect.poll(remainingLegs, { timeout: 10_000 }).toBe(0);
  expect(await reconcile(outboxRelay)).toBe(legs.length);
});

test("while Redis does not answer, no job counts as lost, and reconciling does not wait for it", async () => {
  const redis = await startRedis({ port: await freePort(), env: {} });
  try {
    const { catalog } = aCatalog();
    const outboxRelay = await openRelay(catalog, redis.url);
    await addJobs(legJobs());
    await expect.poll(countUnpublished, { timeout: 5_000 }).toBe(0);
    redis.process?.kill("SIGSTOP");
    const startedAtMs = performance.now();
    expect(await reconcile(outboxRelay)).toBe(0);
    expect(performance.now() - startedAtMs).toBeLessThan(5_000);
    redis.process?.kill("SIGCONT");
    expect(await reconcile(outboxRelay)).toBe(0);
  } finally {
    redis.process?.kill("SIGCONT");
    await closeParts();
    await redis.stop();
  }
});

test("prunes job runs in bounded batches", async () => {
  await pool.query(
    `insert into job_runs (job_name, leg_id, job_id, ran_at_ms, lost_after_ms)
     select 'fill', n::text, 'job-' || n, 1, case when n <= 250 then 2 else 1000 end from generate_series(1, 260) n`,
  );
  const prune = async () =>
    await postgresUnitOfWork(pool, events).run(async (tx) => await tx.outbox.prune(1_000, 100));
  expect([await prune(), await prune(), await prune(), await prune()]).toEqual([100, 100, 50, 0]);
  expect(await runRows()).toHaveLength(10);
});

test("a leg whose job starts to wait again while it is being deleted is kept", async () => {
  await pool.query(
    "insert into job_runs (job_name, leg_id, job_id, ran_at_ms, lost_after_ms) values ('fill', '1', 'fill-1', 1, 2)",
  );
  const client = await pool.connect();
  try {
    await client.query("begin");
    await client.query("update job_runs set lost_after_ms = 5000");
    const pruned = postgresUnitOfWork(pool, events).run(async (tx) => await tx.outbox.prune(1_000, 100));
    await sleep(200);
    await client.query("commit");
    expect(await pruned).toBe(0);
  } finally {
    client.release();
  }
  expect(await runRows()).toHaveLength(1);
});

test("the search for job runs to delete reads no job run that is kept", async () => {
  await pool.query(
    `insert into job_runs (job_name, leg_id, job_id, ran_at_ms, lost_after_ms)
     select 'fill', n::text, 'job-' || n, 1, 1000 + n from generate_series(1, 20000) n`,
  );
  await pool.query("analyze job_runs");
  const plans: string[] = [];
  const explainingSql: Sql = {
    db: sqlOn(pool).db,
    query: async ({ text }, values) => {
      const { rows } = await pool.query<{ "QUERY PLAN": string }>(`explain ${text}`, [...values]);
      plans.push(rows.map((row) => row["QUERY PLAN"]).join("\n"));
      return [];
    },
  };
  await outbox(explainingSql).prune(1_000, 100);
  const [jobRunsPlan] = plans;
  expect(jobRunsPlan).toContain("job_runs_lost");
  expect(jobRunsPlan).not.toContain("Seq Scan");
});
