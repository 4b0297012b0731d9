import type { RequestId } from "@causeway/domain";
import { Redis } from "ioredis";
import { afterEach, expect, test } from "vitest";
import type { Slot } from "../../../apps/api/src/db/records.port.ts";
import { redisAt } from "../../../apps/api/src/db/redis-endpoint.ts";
import { openNonEvmLane } from "../../../apps/api/src/payments/non-evm/open-lane.ts";
import { openLane } from "../../../apps/api/src/payments/open-lane.ts";
import { connectJournal } from "../../../apps/api/src/payments/payment-journal.adapter.ts";
import type { PaymentJournal } from "../../../apps/api/src/payments/payment-journal.port.ts";
import { testRedis } from "../../support/database.ts";
import { startEngineWorld, type QuotedRequest, type EngineWorld } from "../../support/engine-world.ts";
import { forgetPayments, aLostFill, reopenLanesAndRunRound } from "../../support/lost-payments.ts";
import { loseRows } from "../../support/lost-rows.ts";
import { startNonEvmWorld, type NonEvmRequest, type NonEvmWorld } from "../../support/non-evm-world.ts";

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

async function aJournal(prefix = testRedis().prefix): Promise<PaymentJournal> {
  const { url } = testRedis();
  const journal = await connectJournal(redisAt(url), prefix, () => "system/1/00000001");
  opened.push(() => journal.close());
  return journal;
}

/** The journal without the entries at these positions, oldest first, as if Redis had lost them. */
function without(journal: PaymentJournal, ...lost: readonly number[]): PaymentJournal {
  return {
    ...journal,
    entries: async (...of) => (await journal.entries(...of)).filter((_, at) => !lost.includes(at)),
  };
}

async function aNonEvmWorld(): Promise<NonEvmWorld> {
  const world = await startNonEvmWorld();
  opened.push(async () => await world.stop());
  return world;
}

/**
 * Loses the rows of `count` mined EVM fills, and restores them from a journal without the entry at `missing`.
 */
async function evmFillsWithGap(
  count: number,
  missing: number,
): Promise<{ readonly world: EngineWorld; readonly paid: readonly QuotedRequest[] }> {
  const world = await startEngineWorld({ chain: { finalityBlocks: 3 } });
  opened.push(async () => await world.stop());
  const { destination, origin } = world;
  const journal = await aJournal();
  const workerServices = { ...world.services, journal };
  await openLane(workerServices, destination.connected);
  const paid: QuotedRequest[] = [];
  for (let fill = 0; fill < count; fill++) {
    const agreed = await world.quote({ recipient: world.anAddress() });
    await world.pay(agreed);
    await origin.mine();
    await world.watch(origin, workerServices);
    await world.work(workerServices);
    paid.push(agreed);
  }
  await destination.mine();
  await forgetPayments(world);
  const after = { ...workerServices, journal: without(journal, missing) };
  for (let round = 0; round < 4; round++) {
    await openLane(after, destination.connected);
    await world.round(after);
  }
  for (const agreed of paid) expect(await world.paymentsOf(agreed, destination)).toHaveLength(1);
  return { world, paid };
}

test("holds a non-EVM lane whose journal does not reach back to its next nonce", async () => {
  const world = await aNonEvmWorld();
  const journal = await aJournal();
  const workerServices = { ...world.services, journal };
  for (const connected of workerServices.chains.nonEvmChains) await openNonEvmLane(workerServices, connected);
  const [unknown, known] = [
    await aLostFill(world, workerServices, false),
    await aLostFill(world, workerServices, false),
  ];
  await forgetPayments(world);
  const after = { ...workerServices, journal: without(journal, 0) };
  for (let round = 0; round < 6; round++) await reopenLanesAndRunRound(world, after);
  for (const agreed of [unknown, known]) {
    expect((await world.request(agreed.requestId)).state.name).toBe("fillable");
    expect(world.paymentsOf(agreed, world.destination)).toHaveLength(1);
  }
  expect(world.events.of("lane_held").at(-1)?.facts["why"]).toContain("has the payment with nonce 0");
  // The complete journal restores both payments.
  for (let round = 0; round < 12; round++) await reopenLanesAndRunRound(world, workerServices);
  for (const { requestId } of [unknown, known])
    expect((await world.status(requestId)).status).toBe("success");
});

test("explains EVM nonces below the oldest entry of the journal before it restores later payments", async () => {
  const { world, paid } = await evmFillsWithGap(2, 0);
  expect(world.events.of("payment_unrecorded")[0]?.facts).toMatchObject({ requestId: paid[0]?.requestId });
  expect(world.events.of("payment_restored")).toEqual([]);
});

test("holds a non-EVM lane whose journal lacks a payment between others", async () => {
  const world = await aNonEvmWorld();
  const journal = await aJournal();
  const workerServices = { ...world.services, journal };
  for (const connected of workerServices.chains.nonEvmChains) await openNonEvmLane(workerServices, connected);
  const first = await aLostFill(world, workerServices, false);
  const unknown = await aLostFill(world, workerServices, false);
  const last = await aLostFill(world, workerServices, false);
  await forgetPayments(world);
  const after = { ...workerServices, journal: without(journal, 1) };
  for (let round = 0; round < 6; round++) await reopenLanesAndRunRound(world, after);
  for (const agreed of [first, unknown, last])
    expect(world.paymentsOf(agreed, world.destination)).toHaveLength(1);
  for (const { requestId } of [unknown, last])
    expect((await world.request(requestId)).state.name).toBe("fillable");
  expect(world.events.of("payment_restored")).toHaveLength(1);
  expect(world.events.of("lane_held").at(-1)?.facts["why"]).toMatch(
    /has the payment with nonce 1: .* set `next_nonce` of the lane to 2 /,
  );
  // The complete journal restores all payments.
  for (let round = 0; round < 12; round++) await reopenLanesAndRunRound(world, workerServices);
  for (const agreed of [first, unknown, last]) {
    expect((await world.status(agreed.requestId)).status).toBe("success");
    expect(world.paymentsOf(agreed, world.destination)).toHaveLength(1);
  }
});

test("explains EVM nonces between entries of the journal before it restores later payments", async () => {
  const { world, paid } = await evmFillsWithGap(3, 1);
  const unrecorded = world.events.of("payment_unrecorded").map(({ facts }) => facts["requestId"]);
  expect(new Set(unrecorded)).toEqual(new Set([paid[1]?.requestId]));
  expect(world.events.of("payment_restored")).toHaveLength(1);
});

test("enters payments again that Redis has lost, so that a later failover of Postgres loses none", async () => {
  const world = await aNonEvmWorld();
  const before = { ...world.services, journal: await aJournal() };
  for (const connected of before.chains.nonEvmChains) await openNonEvmLane(before, connected);
  const agreed = await aLostFill(world, before, false);
  const journal = await aJournal();
  const workerServices = { ...world.services, journal };
  // The first round starts the new journal.
  for (let round = 0; round < 2; round++)
    for (const connected of workerServices.chains.nonEvmChains)
      await openNonEvmLane(workerServices, connected);
  await forgetPayments(world);
  for (let round = 0; round < 12; round++) await reopenLanesAndRunRound(world, workerServices);
  expect(world.events.of("payment_restored")).toHaveLength(1);
  expect((await world.status(agreed.requestId)).status).toBe("success");
  expect(world.paymentsOf(agreed, world.destination)).toHaveLength(1);
});

/**
 * Removes the payments of every lane from this nonce on from Redis, as a failover to a lagging replica does.
 */
async function losePaymentsInRedis(prefix: string, from: number): Promise<void> {
  const redis = new Redis(testRedis().url);
  opened.push(() => redis.disconnect());
  for (const key of await redis.keys(`${prefix}-payments:*:0x*`)) {
    const nonces = (await redis.hkeys(key)).filter((field) => Number(field) >= from);
    if (nonces.length === 0) continue;
    await redis.hdel(key, ...nonces);
    await redis.hset(key, "mark", from);
  }
}

const laneOf = ({ destination }: NonEvmWorld) =>
  [destination.chain.id, destination.connection.solver] as const;

async function slotOfFill({ services }: NonEvmWorld, requestId: RequestId): Promise<Slot> {
  const slot = await services.reads.slotOfLeg("fill", requestId);
  if (slot === undefined) throw new Error("the fill has no slot");
  return slot;
}

/** Deletes the rows of a fill, and resets its request to the state before the fill. */
async function loseFill({ pool }: NonEvmWorld, slot: Slot): Promise<void> {
  await loseRows(pool, slot);
  await pool.query("update requests set state = 'fillable', tx_hashes = '{}' where request_id = $1", [
    slot.leg.requestId,
  ]);
}

/** A paid request whose fill has a nonce, but was not broadcast because Redis was down. */
async function reserveWithoutRedis(
  world: NonEvmWorld,
  workerServices: Awaited<ReturnType<typeof openLanes>>,
): Promise<NonEvmRequest> {
  const enter = async () => await Promise.reject(new Error("Redis is down"));
  const withoutRedis = { ...workerServices, journal: { ...workerServices.journal, enter } };
  const agreed = await world.storeRequest();
  world.pay(agreed);
  world.origin.network.mineUntilFinal();
  await world.watch(world.origin, withoutRedis);
  await expect(world.work(withoutRedis)).rejects.toThrow("Redis is down");
  return agreed;
}

async function expectPaidOnce(
  world: NonEvmWorld,
  workerServices: NonEvmWorld["services"],
  agreed: NonEvmRequest,
): Promise<void> {
  for (let round = 0; round < 12; round++) await reopenLanesAndRunRound(world, workerServices);
  expect(world.events.of("lane_held")).toEqual([]);
  expect((await world.status(agreed.requestId)).status).toBe("success");
  expect(world.paymentsOf(agreed, world.destination)).toHaveLength(1);
}

/** Restores the state of the database before these payments, newest first. The server stays the same. */
async function restoreOlderDatabase(world: NonEvmWorld, ...paid: readonly NonEvmRequest[]): Promise<void> {
  for (const { requestId } of paid) {
    await loseFill(world, await slotOfFill(world, requestId));
  }
}

async function openLanes({ services }: Pick<NonEvmWorld, "services">, journal: PaymentJournal) {
  const workerServices = { ...services, journal };
  for (const connected of workerServices.chains.nonEvmChains) await openNonEvmLane(workerServices, connected);
  return workerServices;
}

async function paidFill(world: NonEvmWorld, workerServices: NonEvmWorld["services"]): Promise<NonEvmRequest> {
  const agreed = await world.storeRequest();
  world.pay(agreed);
  for (let round = 0; round < 12; round++) await reopenLanesAndRunRound(world, workerServices);
  expect((await workerServices.reads.slotOfLeg("fill", agreed.requestId))?.state).toBe("final");
  return agreed;
}

test("pays nothing again if Redis lost payments that became final, and then an older database is restored", async () => {
  const world = await aNonEvmWorld();
  const { prefix } = testRedis();
  const journal = await aJournal(prefix);
  const workerServices = await openLanes(world, journal);
  const lane = laneOf(world);
  const [known, second, third] = [
    await paidFill(world, workerServices),
    await paidFill(world, workerServices),
    await paidFill(world, workerServices),
  ];
  await losePaymentsInRedis(prefix, 1);
  expect(await journal.mark(...lane)).toBe(1);
  await openLanes(world, journal);
  expect(await journal.mark(...lane)).toBe(3);
  await restoreOlderDatabase(world, third, second);
  for (let round = 0; round < 6; round++) await reopenLanesAndRunRound(world, workerServices);
  for (const agreed of [known, second, third])
    expect(world.paymentsOf(agreed, world.destination)).toHaveLength(1);
  for (const agreed of [second, third]) expect(world.paymentsOf(agreed, world.origin)).toEqual([]);
  expect(world.events.of("lane_held").at(-1)?.facts["why"]).toContain("has the payments with nonces 1 to 2");
});

test("does not wait for a payment that was only reserved when Redis and the database lost their newest rows", async () => {
  const world = await aNonEvmWorld();
  const { prefix } = testRedis();
  const journal = await aJournal(prefix);
  const workerServices = await openLanes(world, journal);
  await paidFill(world, workerServices);
  const reserved = await reserveWithoutRedis(world, workerServices);
  expect(world.paymentsOf(reserved, world.destination)).toEqual([]);
  await losePaymentsInRedis(prefix, 0);
  await openLanes(world, journal);
  expect(await journal.mark(...laneOf(world))).toBe(1);
  await forgetPayments(world);
  await expectPaidOnce(world, workerServices, reserved);
});

test("does not wait for a payment that ended without a broadcast when Redis and the database lost it", async () => {
  const world = await aNonEvmWorld();
  const { prefix } = testRedis();
  const journal = await aJournal(prefix);
  const workerServices = await openLanes(world, journal);
  const lane = laneOf(world);
  await paidFill(world, workerServices);
  const refused = await reserveWithoutRedis(world, workerServices);
  const slot = await slotOfFill(world, refused.requestId);
  // A signing policy refused the payment, so it was never signed.
  await world.pool.query("delete from attempts where slot_id = $1", [slot.id]);
  await world.pool.query("update slots set state = 'dead' where id = $1", [slot.id]);
  await losePaymentsInRedis(prefix, 0);
  await openLanes(world, journal);
  expect((await workerServices.reads.lane(...lane))?.nextNonce).toBe(2);
  expect(await journal.mark(...lane)).toBe(1);
  await loseFill(world, slot);
  await forgetPayments(world);
  await expectPaidOnce(world, workerServices, refused);
});

test("marks the nonce of a payment whose rows were not restored when Redis has lost the lane", async () => {
  const world = await aNonEvmWorld();
  const { prefix } = testRedis();
  const journal = await aJournal(prefix);
  await openLanes(world, journal);
  const lane = laneOf(world);
  await world.pool.query(
    "insert into nonce_users (chain_id, sender, nonce, tx_hash) values ($1, $2, 4, '0x04')",
    [...lane],
  );
  await world.pool.query("update lanes set next_nonce = 6 where chain_id = $1 and sender = $2", [...lane]);
  await openLanes(world, journal);
  expect(await journal.mark(...lane)).toBe(5);
});
