import { rawKeySigner } from "@causeway/attest";
import type { Address, Hex } from "@causeway/domain";
import { afterEach, expect, test } from "vitest";
import type { Attempt, Slot } from "../../../apps/api/src/db/records.port.ts";
import { FormerPrimary } from "../../../apps/api/src/db/server-replaced.port.ts";
import { holdOutdatedLanes } from "../../../apps/api/src/payments/hold-outdated-lanes.ts";
import { openNonEvmLane } from "../../../apps/api/src/payments/non-evm/open-lane.ts";
import { openLane } from "../../../apps/api/src/payments/open-lane.ts";
import { redisAt } from "../../../apps/api/src/db/redis-endpoint.ts";
import { connectJournal } from "../../../apps/api/src/payments/payment-journal.adapter.ts";
import {
  type JournalEntry,
  NonceConflict,
  type PaymentJournal,
} from "../../../apps/api/src/payments/payment-journal.port.ts";
import { testRedis } from "../../support/database.ts";
import { startEngineWorld } from "../../support/engine-world.ts";
import { forgetPayments, aLostFill, reopenLanesAndRunRound } from "../../support/lost-payments.ts";
import { startNonEvmWorld } from "../../support/non-evm-world.ts";

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

async function aJournal(identity: () => string = () => "system/1/00000001", prefix = testRedis().prefix) {
  const journal = await connectJournal(redisAt(testRedis().url), prefix, identity);
  opened.push(() => journal.close());
  return journal;
}

type Lane = Parameters<PaymentJournal["entries"]>;

const SENDER: Address = `0x${"5e".repeat(20)}`;

/** A journal entry for a request's payment at a nonce. The entry has one attempt for each of `bytes`. */
function aPayment(nonce: number, requestId: Hex = `0x${"01".repeat(32)}`, ...bytes: readonly Hex[]) {
  const attempts = (bytes.length === 0 ? (["0xaa"] as const) : bytes).map((raw, n): Attempt => ({
    n,
    kind: "pay",
    raw,
    txHash: `0x${raw.slice(2).repeat(32)}`,
    createdAtMs: 5,
    maxFeePerGas: 7n,
    maxPriorityFeePerGas: 1n,
    broadcastAtMs: undefined,
    offeredSinceMs: undefined,
  }));
  const slot = {
    id: "1",
    chainId: 1,
    sender: SENDER,
    nonce,
    state: "open",
    attempts,
    gasLimit: 21_000n,
    maxFeePerGas: 7n,
    maxPriorityFeePerGas: 1n,
    cancelAfterMs: 9,
    delivers: 10n ** 30n,
    leg: {
      kind: "fill",
      id: requestId,
      requestId,
    },
    call: {
      to: SENDER,
      data: "0x",
      value: 3n,
    },
    outflow: {
      currency: SENDER,
      amount: 3n,
    },
  } as unknown as Slot;
  return { slot, attempt: attempts.at(-1) as Attempt };
}

test("returns the newest payments of a lane unchanged", async () => {
  const journal = await aJournal();
  expect(await journal.mark(1, SENDER)).toBeUndefined();
  const payments = Array.from({ length: 515 }, (_, at) => aPayment(1_000 + at));
  for (let at = 0; at < payments.length; at += 100) await journal.enter(payments.slice(at, at + 100), 77);
  expect(await journal.mark(1, SENDER)).toBe(1_515);
  const entries = await journal.entries(1, SENDER);
  expect(entries).toHaveLength(512);
  expect(entries.at(-1)).toMatchObject({
    nonce: 1_514,
    atMs: 77,
    plan: { delivers: 10n ** 30n, gasLimit: 21_000n, call: { value: 3n } },
    attempts: [{ kind: "pay", raw: "0xaa", maxFeePerGas: 7n }],
  });
  const sent = (nonce: number, raw: Hex = "0xaa") => ({ nonce, raw });
  expect(
    await journal.missing(
      1,
      SENDER,
      [1_000, 1_003, 1_514, 1_515].map((nonce) => sent(nonce)),
    ),
  ).toEqual(new Set([1_515]));
  const replaced = [sent(1_513), sent(1_514, "0xbb")];
  expect(await journal.missing(1, SENDER, replaced), "an entry without newer bytes").toEqual(
    new Set([1_514]),
  );
});

test("raises the mark of a lane, never lowers it, and drops the entries that are then too old", async () => {
  const journal = await aJournal();
  const nonces = async () => (await journal.entries(1, SENDER)).map(({ nonce }) => nonce);
  await journal.raise(1, SENDER, 0);
  expect(await journal.mark(1, SENDER), "a lane without payments").toBe(0);
  await journal.enter([aPayment(7), aPayment(9)], 0);
  await journal.raise(1, SENDER, 3);
  expect(await journal.mark(1, SENDER)).toBe(10);
  await journal.raise(1, SENDER, 520);
  expect(await journal.mark(1, SENDER)).toBe(520);
  expect(await nonces()).toEqual([9]);
  await journal.enter([aPayment(530)], 0);
  expect(await nonces()).toEqual([530]);
});

test("refuses a nonce of another payment, and other bytes in place of lost ones", async () => {
  const journal = await aJournal();
  await journal.enter([aPayment(1)], 0);
  await journal.enter([aPayment(1, undefined, "0xaa", "0xbb")], 0);
  await expect(journal.enter([aPayment(1, `0x${"02".repeat(32)}`)], 0)).rejects.toThrow(NonceConflict);
  await expect(journal.enter([aPayment(1, undefined, "0xaa", "0xcc")], 0)).rejects.toThrow(NonceConflict);
});

test("refuses payments of a process whose database was replaced by a newer primary", async () => {
  const { prefix } = testRedis();
  const former = await aJournal(() => "system/1/00000001", prefix);
  const other = await aJournal(() => "other system/1/00000001", prefix);
  await former.enter([aPayment(1)], 0);
  const promoted = await aJournal(() => "system/1/0000000A", prefix);
  expect(await promoted.mark(1, SENDER)).toBe(2);
  await expect(former.enter([aPayment(2)], 0)).rejects.toThrow(FormerPrimary);
  await expect(former.mark(1, SENDER)).rejects.toThrow(FormerPrimary);
  await expect(former.raise(1, SENDER, 3)).rejects.toThrow(FormerPrimary);
  expect(await promoted.mark(1, SENDER)).toBe(2);
  await other.enter([aPayment(2)], 0);
});

test("holds the lane of a former key with payments that only the journal has", async () => {
  const world = await startEngineWorld();
  opened.push(async () => await world.stop());
  const { services, destination } = world;
  const former = services.signer;
  const lane = { chainId: destination.chain.id, sender: former.address };
  const journal = await aJournal();
  const { slot, attempt } = aPayment(50);
  await journal.enter([{ slot: { ...slot, ...lane }, attempt }], 0);
  const signer = rawKeySigner(`0x${"e3".repeat(32)}`);
  await holdOutdatedLanes({ ...services, journal, signer, formerSigners: [former] });
  expect((await services.reads.lane(lane.chainId, lane.sender))?.isReconciled).toBe(false);
});

test("holds every lane while the journal does not answer, and opens it once it does", async () => {
  const world = await startEngineWorld();
  opened.push(async () => await world.stop());
  const { services, destination } = world;
  const lane = [destination.chain.id, services.signer.address] as const;
  const journal = await aJournal();
  const unreachable = { ...journal, mark: async () => await Promise.reject(new Error("Redis is down")) };
  await holdOutdatedLanes({ ...services, journal: unreachable });
  await openLane({ ...services, journal: unreachable }, destination.connected);
  expect((await services.reads.lane(...lane))?.isReconciled).toBe(false);
  await journal.raise(...lane, 0);
  await openLane({ ...services, journal }, destination.connected);
  expect((await services.reads.lane(...lane))?.isReconciled).toBe(true);
});

test.each(["expiring", "outputs"] as const)(
  "restores a payment that a failover lost on a chain without account nonces (%s)",
  async (kind) => {
    const world = await startNonEvmWorld({ destination: kind });
    opened.push(async () => await world.stop());
    const workerServices = { ...world.services, journal: await aJournal() };
    for (const connected of workerServices.chains.nonEvmChains)
      await openNonEvmLane(workerServices, connected);
    const agreed = await aLostFill(world, workerServices);
    // Until then, no job may pay on this lane.
    await world.round(workerServices);
    for (let round = 0; round < 12; round++) await reopenLanesAndRunRound(world, workerServices);
    expect((await world.status(agreed.requestId)).status).toBe("success");
    expect(world.paymentsOf(agreed, world.destination)).toHaveLength(1);
    expect(world.paymentsOf(agreed, world.origin)).toEqual([]);
    expect(world.events.of("payment_restored")).toHaveLength(1);
    const next = await world.storeRequest();
    world.pay(next);
    for (let round = 0; round < 12; round++) await reopenLanesAndRunRound(world, workerServices);
    expect((await world.status(next.requestId)).status).toBe("success");
  },
);

test.each<readonly [string, (entry: JournalEntry) => JournalEntry]>([
  [
    "twice the amount",
    ({ plan, ...entry }) => ({
      ...entry,
      plan: { ...plan, outflow: { ...plan.outflow, amount: plan.outflow.amount * 2n } },
    }),
  ],
  [
    "the id of another transaction",
    (entry) => ({
      ...entry,
      attempts: entry.attempts.map((attempt) => ({ ...attempt, txHash: `0x${"77".repeat(32)}` })),
    }),
  ],
  [
    "another request",
    ({ plan, ...entry }) => ({
      ...entry,
      plan: { ...plan, call: { ...plan.call, data: `0x${"78".repeat(32)}` } },
    }),
  ],
])("refuses a journal entry with %s, and restores the payment once the entry is right", async (_, forge) => {
  const world = await startNonEvmWorld();
  opened.push(async () => await world.stop());
  const journal = await aJournal();
  const workerServices = { ...world.services, journal };
  for (const connected of workerServices.chains.nonEvmChains) await openNonEvmLane(workerServices, connected);
  const agreed = await aLostFill(world, workerServices);
  const entries: PaymentJournal["entries"] = async (...args) => (await journal.entries(...args)).map(forge);
  const forged = { ...workerServices, journal: { ...journal, entries } };
  for (let round = 0; round < 4; round++) await reopenLanesAndRunRound(world, forged);
  expect((await world.request(agreed.requestId)).state.name).toBe("fillable");
  expect(await workerServices.reads.slotOfLeg("fill", agreed.requestId)).toBeUndefined();
  expect(world.events.of("payment_restored")).toEqual([]);
  expect(world.events.of("journal_entry_refused").length).toBeGreaterThan(0);
  for (let round = 0; round < 12; round++) await reopenLanesAndRunRound(world, workerServices);
  expect((await world.status(agreed.requestId)).status).toBe("success");
  expect(world.paymentsOf(agreed, world.destination)).toHaveLength(1);
});

test("holds a non-EVM lane after a failover that also lost the journal, until the operator opens it", async () => {
  const world = await startNonEvmWorld();
  opened.push(async () => await world.stop());
  const before = { ...world.services, journal: await aJournal() };
  for (const connected of before.chains.nonEvmChains) await openNonEvmLane(before, connected);
  const first = await world.storeRequest();
  world.pay(first);
  for (let round = 0; round < 6; round++) await reopenLanesAndRunRound(world, before);
  const agreed = await aLostFill(world, before);
  const workerServices = { ...world.services, journal: await aJournal() };
  for (let round = 0; round < 20; round++) await reopenLanesAndRunRound(world, workerServices);
  expect((await world.request(agreed.requestId)).state.name).toBe("fillable");
  expect(world.paymentsOf(agreed, world.destination)).toHaveLength(1);
  expect(world.paymentsOf(agreed, world.origin)).toEqual([]);
  expect(world.events.of("lane_held").at(-1)?.facts["why"]).toContain("Redis has lost the journal");
  await world.pool.query("update lanes set server = null");
  const next = await world.storeRequest();
  world.pay(next);
  await world.pool.query("update requests set state = 'failed' where request_id = $1", [agreed.requestId]);
  for (let round = 0; round < 12; round++) await reopenLanesAndRunRound(world, workerServices);
  expect((await world.status(next.requestId)).status).toBe("success");
});

test("waits for the request of a lost payment, counted from the failover, regardless of the payment's age", async () => {
  const world = await startNonEvmWorld();
  opened.push(async () => await world.stop());
  const workerServices = { ...world.services, journal: await aJournal() };
  for (const connected of workerServices.chains.nonEvmChains) await openNonEvmLane(workerServices, connected);
  const { requestId } = await aLostFill(world, workerServices);
  const become = async (state: string) =>
    await world.pool.query("update requests set state = $2 where request_id = $1", [requestId, state]);
  await become("depositing");
  world.clock.forward(3600_000);
  for (const connected of workerServices.chains.nonEvmChains) await openNonEvmLane(workerServices, connected);
  expect(world.events.of("lane_held").at(-1)?.facts["why"]).toContain("will be restored once request");
  await become("fillable");
  for (let round = 0; round < 6; round++) await reopenLanesAndRunRound(world, workerServices);
  expect(world.events.of("payment_unrecorded")).toEqual([]);
  expect((await world.status(requestId)).status).toBe("success");
});

test("abandons a lost sweep without mistaking it for the payment of its order", async () => {
  const world = await startEngineWorld({ chain: { finalityBlocks: 3 } });
  opened.push(async () => await world.stop());
  const { destination, origin, solver } = world;
  const journal = await aJournal();
  const workerServices = { ...world.services, journal };
  await openLane(workerServices, destination.connected);
  const agreed = await world.quote();
  const { requestId, terms } = agreed;
  await world.pay(agreed);
  await origin.mine();
  await world.watch(origin, workerServices);
  await world.work(workerServices);
  const nonce = (await workerServices.reads.slotOfLeg("fill", requestId))?.nonce ?? 0;
  await forgetPayments(world);
  const asSweep = ({ plan, ...entry }: JournalEntry): JournalEntry => ({
    ...entry,
    plan: { ...plan, leg: { kind: "sweep", id: "999", requestId } },
  });
  const after = {
    ...workerServices,
    journal: { ...journal, entries: async (...of: Lane) => (await journal.entries(...of)).map(asSweep) },
  };
  await openLane(after, destination.connected);
  for (const chain of [origin, destination]) {
    await chain.client.request({ method: "evm_increaseTime", params: [2] } as never);
    await chain.mine();
    await world.watch(chain, after);
  }
  world.clock.forward(700_000);
  await openLane(after, destination.connected);
  const [{ id }, { address }] = [destination.chain, solver];
  expect(
    (await workerServices.reads.nonceUsers(id, address, nonce, nonce + 1)).get(nonce)?.pays,
  ).toBeUndefined();
  expect(await workerServices.reads.lane(id, address)).toMatchObject({
    nextNonce: nonce + 1,
    isReconciled: true,
  });
  expect(await workerServices.reads.lostPayment(id, requestId, [address], terms.orderId)).toBeUndefined();
});

test("restores lost bytes of a canceled payment, and counts a restored payment against its day", async () => {
  const world = await startNonEvmWorld();
  opened.push(async () => await world.stop());
  const limit = { key: undefined, chainId: undefined, transactionUsd: undefined, maxFeePerGasWei: undefined };
  const spendingLimits = [{ ...limit, dayUsd: 10n ** 30n }];
  const workerServices = { ...world.services, journal: await aJournal(), spendingLimits };
  for (const connected of workerServices.chains.nonEvmChains) await openNonEvmLane(workerServices, connected);
  const { requestId } = await aLostFill(world, workerServices);
  await world.pool.query("truncate spent_slots, spent_days");
  for (const connected of workerServices.chains.nonEvmChains) await openNonEvmLane(workerServices, connected);
  const restored = await workerServices.reads.slotOfLeg("fill", requestId);
  const { rows } = await world.pool.query("select * from spent_slots where slot_id = $1", [restored?.id]);
  expect(rows).toHaveLength(1);
  await world.pool.query("delete from attempts");
  await world.pool.query("update slots set cancel_reason = 'TRANSACTION_NOT_INCLUDED'");
  await world.pool.query("update lanes set server = 'a former server'");
  for (const connected of workerServices.chains.nonEvmChains) await openNonEvmLane(workerServices, connected);
  expect((await workerServices.reads.slotOfLeg("fill", requestId))?.attempts).toHaveLength(1);
});

test("broadcasts an abandoned payment again instead of a cancel transaction at its nonce", async () => {
  const world = await startEngineWorld({ chain: { finalityBlocks: 3 } });
  opened.push(async () => await world.stop());
  const { destination, origin, solver } = world;
  const workerServices = { ...world.services, journal: await aJournal() };
  await openLane(workerServices, destination.connected);
  const fill = async () => {
    const agreed = await world.quote({ recipient: world.anAddress() });
    await world.pay(agreed);
    await origin.mine();
    await world.watch(origin, workerServices);
    await world.work(workerServices);
    return agreed;
  };
  const lost = await fill();
  const txHash = (await workerServices.reads.slotOfLeg("fill", lost.requestId))?.attempts[0]?.txHash;
  await forgetPayments(world);
  await world.pool.query("update requests set state = 'failed' where request_id = $1", [lost.requestId]);
  await openLane(workerServices, destination.connected);
  expect(world.events.of("payment_unrecorded")).toHaveLength(1);
  await destination.client.request({ method: "anvil_dropTransaction", params: [txHash] } as never);
  const next = await fill();
  await world.maintainLaneOf(destination, workerServices);
  await destination.mine();
  for (const agreed of [lost, next]) expect(await world.paymentsOf(agreed, destination)).toHaveLength(1);
  expect((await destination.sentBy(solver.address)).map(({ input }) => input)).not.toContain("0x");
});

test("pays a request again once its abandoned payment is dead on the chain", async () => {
  const world = await startNonEvmWorld({ destination: "expiring" });
  opened.push(async () => await world.stop());
  const { network, chain } = world.destination;
  const workerServices = { ...world.services, journal: await aJournal() };
  for (const connected of workerServices.chains.nonEvmChains) await openNonEvmLane(workerServices, connected);
  const agreed = await aLostFill(world, workerServices);
  const become = async (state: string) =>
    await world.pool.query("update requests set state = $2 where request_id = $1", [agreed.requestId, state]);
  // The payment can no longer be restored, and no node has it.
  await become("failed");
  network.dropPool();
  for (const connected of workerServices.chains.nonEvmChains) await openNonEvmLane(workerServices, connected);
  expect(world.events.of("payment_unrecorded")).toHaveLength(1);
  await become("fillable");
  for (let round = 0; round < 2; round++) await reopenLanesAndRunRound(world, workerServices);
  expect(world.paymentsOf(agreed, world.destination)).toEqual([]);
  expect(world.events.of("lost_payment_dead")).toEqual([]);
  network.mine(200);
  for (let round = 0; round < 12; round++) await reopenLanesAndRunRound(world, workerServices);
  expect(world.events.of("lost_payment_dead").map(({ facts }) => facts["chain"])).toEqual([chain.name]);
  expect(world.paymentsOf(agreed, world.destination)).toHaveLength(1);
  expect((await world.status(agreed.requestId)).status).toBe("success");
});

test("opens an EVM lane without a journal once the chain showed no unknown payment for its finality depth", async () => {
  const world = await startEngineWorld({ chain: { finalityBlocks: 4 } });
  opened.push(async () => await world.stop());
  const { destination, services } = world;
  const { chain, connected } = destination;
  const workerServices = { ...services, journal: await aJournal() };
  await world.pool.query("update lanes set server = 'a former server'");
  const isOpen = async () =>
    (await services.reads.lane(chain.id, services.signer.address))?.isReconciled === true;
  for (let block = 0; block < 4; block++) {
    await openLane(workerServices, connected);
    expect(await isOpen(), `block ${block}`).toBe(false);
    await destination.mine();
  }
  await openLane(workerServices, connected);
  expect(await isOpen()).toBe(true);
});
