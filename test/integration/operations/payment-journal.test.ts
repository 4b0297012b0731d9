import { rawKeySigner } from "@causeway/attest";
import type { Address, Hex } from "@causeway/domain";
import { afterEach, expect, test } from "vitest";
import type { Attempt, Slot } from "../../../apps/api/src/db/records.port.ts";
import { FormerPrimary } from "../../../apps/api/src/db/server-replaced.port.ts";
import type { WorkerServices } from "../../../apps/api/src/db/services.port.ts";
import { holdBehind } from "../../../apps/api/src/payments/hold-behind.ts";
import { openNonEvmLane } from "../../../apps/api/src/payments/non-evm/open-lane.ts";
import { openLane } from "../../../apps/api/src/payments/open-lane.ts";
import { connectJournal } from "../../../apps/api/src/payments/payment-journal.adapter.ts";
import { NonceTaken } from "../../../apps/api/src/payments/payment-journal.port.ts";
import { testRedis } from "../../support/database.ts";
import { startEngineWorld } from "../../support/engine-world.ts";
import { loseRows } from "../../support/lost-rows.ts";
import {
  startNonEvmWorld,
  type AgreedOnNonEvmChains,
  type NonEvmWorld,
} from "../../support/non-evm-world.ts";

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

async function aJournal(identity: () => string = () => "system/1/00000001", prefix = testRedis().prefix) {
  const journal = await connectJournal(testRedis().url, prefix, identity);
  opened.push(() => journal.close());
  return journal;
}

const SENDER: Address = `0x${"5e".repeat(20)}`;

/** A payment of a request with one nonce, and one attempt per given byte. */
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

test("gives back the newest payments of a lane as they were", async () => {
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
  // A lane that is known already keeps its mark.
  await journal.begin(1, SENDER, 3);
  expect(await journal.mark(1, SENDER)).toBe(1_515);
});

test("refuses a nonce that another payment has, and bytes in place of lost ones", async () => {
  const journal = await aJournal();
  await journal.enter([aPayment(1)], 0);
  await journal.enter([aPayment(1, undefined, "0xaa", "0xbb")], 0);
  await expect(journal.enter([aPayment(1, `0x${"02".repeat(32)}`)], 0)).rejects.toThrow(NonceTaken);
  await expect(journal.enter([aPayment(1, undefined, "0xaa", "0xcc")], 0)).rejects.toThrow(NonceTaken);
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
  expect(await promoted.mark(1, SENDER)).toBe(2);
  await other.enter([aPayment(2)], 0);
});

test("holds the lane of a former key of which the journal knows more than the database", async () => {
  const world = await startEngineWorld();
  opened.push(async () => await world.stop());
  const { services, destination } = world;
  const former = services.signer;
  const lane = { chainId: destination.chain.id, sender: former.address };
  const journal = await aJournal();
  const { slot, attempt } = aPayment(50);
  await journal.enter([{ slot: { ...slot, ...lane }, attempt }], 0);
  const signer = rawKeySigner(`0x${"e3".repeat(32)}`);
  await holdBehind({ ...services, journal, signer, formerSigners: [former] });
  expect((await services.reads.lane(lane.chainId, lane.sender))?.isReconciled).toBe(false);
});

/** A request on non-EVM chains whose fill was sent, and whose rows a failover then lost. */
async function lostFill(world: NonEvmWorld, by: WorkerServices): Promise<AgreedOnNonEvmChains> {
  const agreed = await world.agree();
  world.pay(agreed);
  world.origin.network.settle();
  await world.watch(world.origin, by);
  await world.work(by);
  const slot = await by.reads.slotOfLeg("fill", agreed.requestId);
  if (slot === undefined) throw new Error("the fill has no slot");
  await loseRows(world.pool, slot);
  await world.pool.query("update requests set state = 'fillable', tx_hashes = '{}' where request_id = $1", [
    agreed.requestId,
  ]);
  await world.pool.query("update lanes set server = 'a former server'");
  return agreed;
}

async function openAndRound(world: NonEvmWorld, by: WorkerServices): Promise<void> {
  world.clock.forward(20_000);
  for (const connected of by.chains.nonEvmChains) await openNonEvmLane(by, connected);
  await world.round(by);
}

test.each(["expiring", "outputs"] as const)(
  "restores a payment that a failover lost on a chain without account nonces (%s)",
  async (kind) => {
    const world = await startNonEvmWorld({ destination: kind });
    opened.push(async () => await world.stop());
    const by = { ...world.services, journal: await aJournal() };
    for (const connected of by.chains.nonEvmChains) await openNonEvmLane(by, connected);
    const agreed = await lostFill(world, by);
    // Until then, its job and others may pay nothing.
    await world.round(by);
    for (let round = 0; round < 12; round++) await openAndRound(world, by);
    expect((await world.status(agreed.requestId)).status).toBe("success");
    expect(world.paymentsOf(agreed, world.destination)).toHaveLength(1);
    expect(world.paymentsOf(agreed, world.origin)).toEqual([]);
    expect(world.events.of("payment_restored")).toHaveLength(1);
    const next = await world.agree();
    world.pay(next);
    for (let round = 0; round < 12; round++) await openAndRound(world, by);
    expect((await world.status(next.requestId)).status).toBe("success");
  },
);

test("holds a non-EVM lane after a failover that also lost the journal, until the operator opens it", async () => {
  const world = await startNonEvmWorld();
  opened.push(async () => await world.stop());
  const before = { ...world.services, journal: await aJournal() };
  for (const connected of before.chains.nonEvmChains) await openNonEvmLane(before, connected);
  const first = await world.agree();
  world.pay(first);
  for (let round = 0; round < 6; round++) await openAndRound(world, before);
  const agreed = await lostFill(world, before);
  const by = { ...world.services, journal: await aJournal() };
  for (let round = 0; round < 20; round++) await openAndRound(world, by);
  expect((await world.request(agreed.requestId)).state.name).toBe("fillable");
  expect(world.paymentsOf(agreed, world.destination)).toHaveLength(1);
  expect(world.paymentsOf(agreed, world.origin)).toEqual([]);
  expect(world.events.of("lane_held").at(-1)?.facts["why"]).toContain("Redis has lost the journal");
  await world.pool.query("update lanes set server = null");
  const next = await world.agree();
  world.pay(next);
  await world.pool.query("update requests set state = 'failed' where request_id = $1", [agreed.requestId]);
  for (let round = 0; round < 12; round++) await openAndRound(world, by);
  expect((await world.status(next.requestId)).status).toBe("success");
});

test("opens an EVM lane without a journal when the chain has shown nothing unknown for its finality depth", async () => {
  const world = await startEngineWorld({ chain: { finalityBlocks: 4 } });
  opened.push(async () => await world.stop());
  const { destination, services } = world;
  const { chain, connected } = destination;
  const by = { ...services, journal: await aJournal() };
  await world.pool.query("update lanes set server = 'a former server'");
  const isOpen = async () =>
    (await services.reads.lane(chain.id, services.signer.address))?.isReconciled === true;
  for (let block = 0; block < 4; block++) {
    await openLane(by, connected);
    expect(await isOpen(), `block ${block}`).toBe(false);
    await destination.mine();
  }
  await openLane(by, connected);
  expect(await isOpen()).toBe(true);
});
