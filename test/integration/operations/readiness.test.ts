import { freePort, startRedis, type RunningRedis } from "@causeway/testkit";
import { createLogger, createMetrics } from "@causeway/service-kit";
import type { FastifyInstance } from "fastify";
import type pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { redisAt } from "../../../apps/api/src/db/redis-endpoint.ts";
import { startOutboxRelay, type OutboxRelay } from "../../../apps/api/src/db/outbox-relay.adapter.ts";
import { createPool, sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import { postgresReads } from "../../../apps/api/src/process/reads.postgres.ts";
import { buildHealthServer } from "../../../apps/api/src/http/health-server.ts";
import type { Catalog } from "../../../apps/api/src/db/define-job.job.ts";
import type { WorkerServices } from "../../../apps/api/src/db/services.port.ts";
import { readiness, readinessCheck } from "../../../apps/api/src/reconcile/readiness.ts";
import type { ReadinessNeeds } from "../../../apps/api/src/reconcile/readiness.ts";
import { recordedEvents } from "../../fakes/recorded-events.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";

let database: TestDatabase;
let pool: pg.Pool;
let redis: RunningRedis;
let relay: OutboxRelay;
let server: FastifyInstance;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool(database.url, { max: 4, statementTimeoutMs: 10_000, applicationName: "test" });
  // This file has its own Redis, because the tests suspend it.
  redis = await startRedis({ port: await freePort(), env: {} });
  const services = {
    clock: { nowMs: () => Date.now() },
    events: recordedEvents(),
    reads: postgresReads(sqlOn(pool)),
    chains: {
      evmChains: [
        {
          chain: { name: "one", id: 1, blockTimeSeconds: 2 },
          pulse: {
            head: () => ({ number: 99n, timestamp: 200n }),
            isLagging: () => false,
            headAgeMs: () => 1_400,
          },
        },
      ],
      nonEvmChains: [{ chain: { name: "two" }, pulse: { isLagging: () => true, headAgeMs: () => 90_000 } }],
    },
  } as unknown as WorkerServices;
  relay = await startOutboxRelay(services, {} as Catalog, {
    pool,
    databaseUrl: database.url,
    redis: redisAt(redis.url),
    prefix: "readiness",
  });
  server = await buildHealthServer({
    log: createLogger({ name: "test", level: "silent" }),
    metrics: createMetrics("test"),
    readiness: () => readiness(services, { otherServers: { redis: () => relay.ping() } }),
  });
});
afterAll(async () => {
  redis.process?.kill("SIGCONT");
  await server.close();
  await relay.close();
  await redis.stop();
  await pool.end();
  await database.drop();
});

async function getReadiness(): Promise<{ status: number; redis: string | undefined }> {
  const answer = await server.inject({ method: "GET", url: "/health/ready" });
  const { checks } = answer.json<{ checks: Record<string, string> }>();
  return { status: answer.statusCode, redis: checks["redis"] };
}

test("reports a lagging non-EVM chain, and keeps the process ready", async () => {
  const answer = await server.inject({ method: "GET", url: "/health/ready" });
  expect(answer.json()).toMatchObject({
    checks: { one: "ok", two: "lagging" },
    chains: { one: { state: "ok", headAgeSeconds: 1 }, two: { state: "lagging", headAgeSeconds: 90 } },
  });
  await expect.poll(getReadiness, { timeout: 5_000 }).toMatchObject({ status: 200 });
});

test("reports a chain whose newest blocks are not scanned, and keeps the process ready", async () => {
  const readinessAfterScan = async (number: number, timestamp: number): Promise<unknown> => {
    await pool.query("delete from chain_blocks; delete from chain_cursors");
    await pool.query("insert into chain_cursors values (1, $1, '0x01')", [number]);
    await pool.query("insert into chain_blocks values (1, $1, '0x01', '0x00', $2)", [number, timestamp]);
    return (await server.inject({ method: "GET", url: "/health/ready" })).json();
  };
  const checks = { one: "scan is 59 blocks (118 s) behind" };
  const chains = { one: { state: "behind" } };
  expect(await readinessAfterScan(40, 82)).toMatchObject({ ready: true, checks, chains });
  expect(await readinessAfterScan(98, 198)).toMatchObject({ ready: true, checks: { one: "ok" } });
});

test("a worker is not ready while Redis does not respond or is down, and names Redis", async () => {
  const isReady = { status: 200, redis: "ok" };
  await expect.poll(getReadiness, { timeout: 5_000 }).toEqual(isReady);

  redis.process?.kill("SIGSTOP");
  expect(await getReadiness()).toEqual({ status: 503, redis: "does not respond in time" });
  redis.process?.kill("SIGCONT");
  await expect.poll(getReadiness, { timeout: 5_000 }).toEqual(isReady);

  await redis.stop();
  await expect.poll(getReadiness, { timeout: 5_000 }).toEqual({ status: 503, redis: "does not respond" });
});

test("callers of a public readiness route share one check per second", async () => {
  let nowMs = 0;
  let pings = 0;
  const services = {
    clock: { nowMs: () => nowMs },
    reads: {
      scannedBlocks: async () => new Map(),
      ping: async () => {
        pings++;
      },
    },
    chains: { evmChains: [], nonEvmChains: [] },
  } as unknown as WorkerServices;
  const check = readinessCheck(services);
  await Promise.all(Array.from({ length: 50 }, () => check()));
  nowMs += 999;
  await check();
  expect(pings).toBe(1);
  nowMs += 1;
  await check();
  expect(pings).toBe(2);
});

test("a service with one working chain is ready, and one whose chains are all unavailable is not", async () => {
  expect(await readinessOfChains(["lagging", "ok", "unheard"])).toMatchObject({ ready: true });
  expect(await readinessOfChains(["lagging", "unheard"])).toMatchObject({
    ready: false,
    chains: { "chain-0": { state: "lagging" }, "chain-1": { state: "unheard" } },
  });
});

test("a service whose required chain is unavailable is not ready, regardless of the others", async () => {
  const required = (...names: string[]) => ({ requiredChains: names });
  for (const state of ["lagging", "unheard"] as const)
    expect(await readinessOfChains(["ok", state], required("chain-1"))).toMatchObject({
      ready: false,
      chains: { "chain-1": { state, required: true } },
    });
  const answer = await readinessOfChains(["ok", "lagging"], required("chain-0"));
  expect(answer).toMatchObject({ ready: true, chains: { "chain-0": { required: true } } });
  expect(answer.chains["chain-1"]).not.toHaveProperty("required");
  expect(await readinessOfChains(["ok", "ok"], required("chain-0", "chain-1"))).toMatchObject({
    ready: true,
  });
});

const readinessOfChains = async (
  states: readonly ("ok" | "lagging" | "unheard")[],
  needs: ReadinessNeeds = {},
) =>
  await readiness(
    {
      reads: { ping: async () => undefined, scannedBlocks: async () => new Map() },
      chains: {
        evmChains: states.map((state, index) => ({
          chain: { name: `chain-${index}`, id: index, blockTimeSeconds: 2 },
          pulse: {
            head: () => (state === "unheard" ? undefined : { number: 1n, timestamp: 1n }),
            isLagging: () => state === "lagging",
            headAgeMs: () => 0,
          },
        })),
        nonEvmChains: [],
      },
    } as unknown as WorkerServices,
    needs,
  );

test("a worker reports the leaders, which do not affect its readiness, and omits them if they are unknown", async () => {
  const services = {
    reads: { ping: async () => undefined, scannedBlocks: async () => new Map() },
    chains: {
      evmChains: [],
      nonEvmChains: [{ chain: { name: "two" }, pulse: { isLagging: () => false, headAgeMs: () => 0 } }],
    },
  } as unknown as WorkerServices;
  const leaders = { two: { leader: "none" as const } };
  expect(await readiness(services, { leaders: async () => leaders })).toEqual({
    ready: true,
    chains: { two: { state: "ok", headAgeSeconds: 0 } },
    checks: { database: "ok", two: "ok" },
    leaders,
  });
  const failing = async (): Promise<never> => await Promise.reject(new Error("the database is unreachable"));
  expect(await readiness(services, { leaders: failing })).not.toHaveProperty("leaders");
});
