import { afterEach, expect, test } from "vitest";
import { redisAt } from "../../../apps/api/src/db/redis-place.ts";
import { openNonEvmLane } from "../../../apps/api/src/payments/non-evm/open-lane.ts";
import { openLane } from "../../../apps/api/src/payments/open-lane.ts";
import { connectJournal } from "../../../apps/api/src/payments/payment-journal.adapter.ts";
import type { PaymentJournal } from "../../../apps/api/src/payments/payment-journal.port.ts";
import { testRedis } from "../../support/database.ts";
import { startEngineWorld } from "../../support/engine-world.ts";
import { forgetPayments, lostFill, openAndRound } from "../../support/lost-payments.ts";
import { startNonEvmWorld } from "../../support/non-evm-world.ts";

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

async function aJournal(): Promise<PaymentJournal> {
  const { url, prefix } = testRedis();
  const journal = await connectJournal(redisAt(url), prefix, () => "system/1/00000001");
  opened.push(() => journal.close());
  return journal;
}

/** The journal without its entries at these places, oldest first, as when Redis lost them. */
function without(journal: PaymentJournal, ...lost: readonly number[]): PaymentJournal {
  return {
    ...journal,
    entries: async (...of) => (await journal.entries(...of)).filter((_, at) => !lost.includes(at)),
  };
}

test("holds a non-EVM lane whose journal does not reach back to its next nonce", async () => {
  const world = await startNonEvmWorld();
  opened.push(async () => await world.stop());
  const journal = await aJournal();
  const by = { ...world.services, journal };
  for (const connected of by.chains.nonEvmChains) await openNonEvmLane(by, connected);
  const [unknown, known] = [await lostFill(world, by, false), await lostFill(world, by, false)];
  await forgetPayments(world);
  const after = { ...by, journal: without(journal, 0) };
  for (let round = 0; round < 6; round++) await openAndRound(world, after);
  for (const agreed of [unknown, known]) {
    expect((await world.request(agreed.requestId)).state.name).toBe("fillable");
    expect(world.paymentsOf(agreed, world.destination)).toHaveLength(1);
  }
  expect(world.events.of("lane_held").at(-1)?.facts["why"]).toContain("has the payment with nonce 0");
  // The whole journal restores both.
  for (let round = 0; round < 12; round++) await openAndRound(world, by);
  for (const { requestId } of [unknown, known])
    expect((await world.status(requestId)).status).toBe("success");
});

test("explains EVM nonces below the oldest entry of the journal before it restores later payments", async () => {
  const world = await startEngineWorld({ chain: { finalityBlocks: 3 } });
  opened.push(async () => await world.stop());
  const { destination, origin } = world;
  const journal = await aJournal();
  const by = { ...world.services, journal };
  await openLane(by, destination.connected);
  const paid = [];
  for (let fill = 0; fill < 2; fill++) {
    const agreed = await world.quote({ recipient: world.anAddress() });
    await world.pay(agreed);
    await origin.mine();
    await world.watch(origin, by);
    await world.work(by);
    paid.push(agreed);
  }
  await destination.mine();
  await forgetPayments(world);
  const after = { ...by, journal: without(journal, 0) };
  for (let round = 0; round < 4; round++) {
    await openLane(after, destination.connected);
    await world.round(after);
  }
  for (const agreed of paid) expect(await world.paymentsOf(agreed, destination)).toHaveLength(1);
  expect(world.events.of("payment_unrecorded")[0]?.facts).toMatchObject({ requestId: paid[0]?.requestId });
  expect(world.events.of("payment_restored")).toEqual([]);
});

test("holds a non-EVM lane whose journal lacks a payment between others", async () => {
  const world = await startNonEvmWorld();
  opened.push(async () => await world.stop());
  const journal = await aJournal();
  const by = { ...world.services, journal };
  for (const connected of by.chains.nonEvmChains) await openNonEvmLane(by, connected);
  const first = await lostFill(world, by, false);
  const unknown = await lostFill(world, by, false);
  const last = await lostFill(world, by, false);
  await forgetPayments(world);
  const after = { ...by, journal: without(journal, 1) };
  for (let round = 0; round < 6; round++) await openAndRound(world, after);
  for (const agreed of [first, unknown, last])
    expect(world.paymentsOf(agreed, world.destination)).toHaveLength(1);
  for (const { requestId } of [unknown, last])
    expect((await world.request(requestId)).state.name).toBe("fillable");
  expect(world.events.of("payment_restored")).toHaveLength(1);
  expect(world.events.of("lane_held").at(-1)?.facts["why"]).toMatch(
    /has the payment with nonce 1: .* set `next_nonce` of the lane to 2 /,
  );
  // The whole journal restores all of them.
  for (let round = 0; round < 12; round++) await openAndRound(world, by);
  for (const agreed of [first, unknown, last]) {
    expect((await world.status(agreed.requestId)).status).toBe("success");
    expect(world.paymentsOf(agreed, world.destination)).toHaveLength(1);
  }
});

test("explains EVM nonces between entries of the journal before it restores later payments", async () => {
  const world = await startEngineWorld({ chain: { finalityBlocks: 3 } });
  opened.push(async () => await world.stop());
  const { destination, origin } = world;
  const journal = await aJournal();
  const by = { ...world.services, journal };
  await openLane(by, destination.connected);
  const paid = [];
  for (let fill = 0; fill < 3; fill++) {
    const agreed = await world.quote({ recipient: world.anAddress() });
    await world.pay(agreed);
    await origin.mine();
    await world.watch(origin, by);
    await world.work(by);
    paid.push(agreed);
  }
  await destination.mine();
  await forgetPayments(world);
  const after = { ...by, journal: without(journal, 1) };
  for (let round = 0; round < 4; round++) {
    await openLane(after, destination.connected);
    await world.round(after);
  }
  for (const agreed of paid) expect(await world.paymentsOf(agreed, destination)).toHaveLength(1);
  const unrecorded = world.events.of("payment_unrecorded").map(({ facts }) => facts["requestId"]);
  expect(new Set(unrecorded)).toEqual(new Set([paid[1]?.requestId]));
  expect(world.events.of("payment_restored")).toHaveLength(1);
});

test("enters payments again that Redis has lost, so that a later failover of Postgres loses none", async () => {
  const world = await startNonEvmWorld();
  opened.push(async () => await world.stop());
  const before = { ...world.services, journal: await aJournal() };
  for (const connected of before.chains.nonEvmChains) await openNonEvmLane(before, connected);
  const agreed = await lostFill(world, before, false);
  const journal = await aJournal();
  const by = { ...world.services, journal };
  // The first round begins the new journal.
  for (let round = 0; round < 2; round++)
    for (const connected of by.chains.nonEvmChains) await openNonEvmLane(by, connected);
  await forgetPayments(world);
  for (let round = 0; round < 12; round++) await openAndRound(world, by);
  expect(world.events.of("payment_restored")).toHaveLength(1);
  expect((await world.status(agreed.requestId)).status).toBe("success");
  expect(world.paymentsOf(agreed, world.destination)).toHaveLength(1);
});
