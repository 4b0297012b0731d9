import type { Address } from "@causeway/domain";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import type { WorkerServices } from "../../../apps/api/src/db/services.port.ts";
import { FormerPrimary } from "../../../apps/api/src/db/server-replaced.port.ts";
import { createPool, sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import { watchServer, type ServerWatch } from "../../../apps/api/src/db/server-watch.postgres.ts";
import { fillLeg } from "../../../apps/api/src/payments/legs/fill-leg.ts";
import { redisAt } from "../../../apps/api/src/db/redis-endpoint.ts";
import { connectJournal } from "../../../apps/api/src/payments/payment-journal.adapter.ts";
import { pay } from "../../../apps/api/src/payments/pay-leg.ts";
import { openLane } from "../../../apps/api/src/payments/open-lane.ts";
import { postgresReads } from "../../../apps/api/src/process/reads.postgres.ts";
import { postgresUnitOfWork } from "../../../apps/api/src/process/unit-of-work.postgres.ts";
import { testRedis } from "../../support/database.ts";
import { startEngineWorld, type QuotedRequest, type EngineWorld } from "../../support/engine-world.ts";
import { withChain } from "../../support/with-chain.ts";
import { startPostgresPair, type PostgresPair } from "../../support/postgres-pair.ts";

/**
 * The number of seeds; each takes a few seconds. `FAILOVER_FIRST_SEED` selects other seeds.
 * `FAILOVER_GUARD=off` shows what happens without the guard.
 */
const SEEDS = Number(process.env["FAILOVER_SEEDS"] ?? 1);
const FIRST_SEED = Number(process.env["FAILOVER_FIRST_SEED"] ?? 1);
const HAS_GUARD = process.env["FAILOVER_GUARD"] !== "off";
const REQUESTS = 4;

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

/** A world whose database has a lagging standby, and whose journal is in Redis. */
async function startWorld(): Promise<{
  readonly world: EngineWorld;
  readonly pair: PostgresPair;
  readonly journalOf: JournalOf;
}> {
  const pair = await startPostgresPair();
  const { url, prefix } = testRedis();
  const journalOf: JournalOf = async (servers) => {
    const journal = await connectJournal(redisAt(url), prefix, servers.identity);
    opened.push(async () => journal.close());
    return journal;
  };
  const world = await startEngineWorld({
    chain: { finalityBlocks: 3 },
    database: pair,
    ...(HAS_GUARD && { journal: journalOf }),
  });
  opened.push(async () => await world.stop());
  return { world, pair, journalOf };
}
type JournalOf = (servers: ServerWatch) => ReturnType<typeof connectJournal>;

/** Requests with deposits in a block of the origin chain that is not scanned yet. */
async function deposited(world: EngineWorld): Promise<QuotedRequest[]> {
  const agreed: QuotedRequest[] = [];
  for (let at = 0; at < REQUESTS; at++) {
    const request = await world.quote({ recipient: world.anAddress() });
    await world.pay(request);
    agreed.push(request);
  }
  await world.origin.mine();
  return agreed;
}

/** Fails over. Waits until all connections of the pool go to the new primary. */
async function failOver({ pool }: EngineWorld, pair: PostgresPair): Promise<void> {
  await pair.failOver();
  const ping = async (): Promise<boolean> => {
    const answers = Array.from({ length: pool.options.max }, async () => await pool.query("select 1"));
    return (await Promise.allSettled(answers)).every(({ status }) => status === "fulfilled");
  };
  for (let tries = 0; !(await ping()); tries++) {
    if (tries > 100) throw new Error("the new primary does not answer");
    await sleep(50);
  }
}

/**
 * Runs rounds of all watchers and jobs until every request is final.
 * @throws after 40 rounds
 */
async function untilPaid(
  world: EngineWorld,
  workerServices: WorkerServices,
  all: readonly QuotedRequest[],
): Promise<void> {
  for (let round = 0; round < 40; round++) {
    const isOpen = await Promise.all(
      all.map(async ({ requestId }) => !(await world.status(requestId)).final),
    );
    if (!isOpen.includes(true)) return;
    world.clock.forward(20_000);
    for (const { connected } of [world.origin, world.destination]) await openLane(workerServices, connected);
    await world.round(workerServices);
  }
  const alarms = world.events.all.filter(({ level }) => level !== "happened").slice(-5);
  throw new Error(`requests are not final: ${JSON.stringify(alarms)}`);
}

/** Services with a node whose pending nonce ignores its mempool, as at many providers. */
function withoutMempool(workerServices: WorkerServices, { destination }: EngineWorld): WorkerServices {
  const { reader } = destination.connected.connection;
  return withChain(workerServices, destination.connected, {
    connection: { reader: { ...reader, nonce: async (account) => await reader.nonce(account, "latest") } },
  });
}

/** A generator of numbers in [0, 1) from a seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed * 0x9e37_79b9;
  return () => {
    state = (state + 0x6d2b_79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

test.each(Array.from({ length: SEEDS }, (_, at) => FIRST_SEED + at))(
  "pays every request once although a promoted standby lacks the last payments (seed %i)",
  async (seed) => {
    const random = randomFrom(seed);
    const { world, pair } = await startWorld();
    const { origin, destination } = world;
    const workerServices = random() < 0.5 ? withoutMempool(world.services, world) : world.services;
    const agreed = await deposited(world);
    await pair.catchUp();
    const losesDeposits = random() < 0.3;
    if (losesDeposits) pair.cut();
    await world.watch(origin, workerServices);
    // The standby received only the first `known` payments.
    const known = losesDeposits ? 0 : Math.floor(random() * REQUESTS);
    for (const [at, { requestId }] of agreed.entries()) {
      if (at === known && !losesDeposits) {
        await pair.catchUp();
        pair.cut();
      }
      await pay(workerServices, fillLeg, requestId);
      if (random() < 0.3) await destination.mine();
    }
    if (random() < 0.3) await world.watch(destination, workerServices);
    await failOver(world, pair);
    if (!HAS_GUARD) await world.pool.query("update lanes set server = null");
    // Otherwise, pending transactions stay in the mempool until the new primary has worked for a while.
    if (random() < 0.5) await destination.mine();
    else for (let round = 0; round < 3; round++) await openAndWork(world, workerServices);
    await untilPaid(world, workerServices, agreed);

    for (const request of agreed) {
      expect(await world.paymentsOf(request, destination)).toHaveLength(1);
      expect(await world.paymentsOf(request, origin)).toEqual([]);
      expect((await world.status(request.requestId)).status).toBe("success");
    }
    // Lanes stay closed for one minute after a failover.
    world.clock.forward(61_000);
    for (const { connected } of [origin, destination]) await openLane(workerServices, connected);
    const { rows } = await world.pool.query<{ held: number }>(
      "select count(*)::int as held from lanes where server <> database_identity()",
    );
    expect(rows).toEqual([{ held: 0 }]);
  },
  120_000,
);

/** One round. The destination mines nothing. */
async function openAndWork(world: EngineWorld, workerServices: WorkerServices): Promise<void> {
  world.clock.forward(61_000);
  for (const { connected } of [world.origin, world.destination]) await openLane(workerServices, connected);
  await world.origin.mine();
  await world.watch(world.origin, workerServices);
  await world.work(workerServices);
  for (const { requestId } of (
    await world.pool.query<{ requestId: string }>(
      `select request_id as "requestId" from requests where state = 'fillable'`,
    )
  ).rows)
    await pay(workerServices, fillLeg, requestId).catch(() => undefined);
}

test("a session that began on a standby learns the new timeline, and keeps it", async () => {
  const pair = await startPostgresPair();
  opened.push(async () => await pair.drop());
  const chainId = 1;
  const sender = "0x00000000000000000000000000000000000000aa" as Address;
  /** Reads the identity with the session of one connection. */
  const sessionTo = (
    url: string,
  ): { readonly pool: ReturnType<typeof createPool>; identity(): Promise<string> } => {
    const pool = createPool(url, { max: 1, statementTimeoutMs: 10_000, applicationName: "identity" });
    opened.push(async () => await pool.end());
    const servers = watchServer();
    const reads = postgresReads(sqlOn(pool), servers);
    return {
      pool,
      async identity() {
        await reads.lane(chainId, sender);
        return servers.identity() ?? "";
      },
    };
  };
  const former = sessionTo(pair.formerUrl);
  await former.pool.query("insert into lanes (chain_id, sender, next_nonce) values ($1, $2, 0)", [
    chainId,
    sender,
  ]);
  await pair.catchUp();
  const standby = sessionTo(pair.standbyUrl);
  const before = await former.identity();
  expect(await standby.identity()).toBe(before.replace(/[^/]*$/, "0"));
  await pair.failOver();
  const promoted = before.replace(/[^/]*$/, "00000002");
  expect(await standby.identity()).toBe(promoted);
  expect(await standby.identity()).toBe(promoted);
  expect(await sessionTo(pair.standbyUrl).identity()).toBe(promoted);
  expect(await former.identity()).toBe(before);
}, 60_000);

test("a process that is still connected to the former primary sends nothing once another process saw the new one", async () => {
  const { world, pair, journalOf } = await startWorld();
  const [first] = await deposited(world);
  if (first === undefined) throw new Error("no requests found");
  await world.watch(world.origin);
  await pair.catchUp();
  const pool = createPool(pair.formerUrl, { max: 4, statementTimeoutMs: 10_000, applicationName: "former" });
  opened.push(async () => await pool.end());
  const servers = watchServer(() => world.clock.nowMs());
  const former: WorkerServices = {
    ...world.services,
    uow: postgresUnitOfWork(pool, world.events, servers),
    reads: postgresReads(sqlOn(pool), servers),
    journal: await journalOf(servers),
  };
  await failOver(world, pair);
  await openLane(world.services, world.destination.connected);
  await expect(pay(former, fillLeg, first.requestId)).rejects.toThrow(FormerPrimary);
  await world.destination.mine();
  expect(await world.paymentsOf(first, world.destination)).toEqual([]);
  await untilPaid(world, world.services, [first]);
  expect(await world.paymentsOf(first, world.destination)).toHaveLength(1);
}, 60_000);
