import { pay } from "../../../apps/api/src/payments/pay-leg.ts";
import { fillLeg } from "../../../apps/api/src/payments/legs/fill-leg.ts";
import { rawKeySigner } from "@causeway/attest";
import { testTokenAbi } from "@causeway/contracts";
import { NodeRefusal, RpcFault } from "@causeway/chains";
import type { Hex } from "@causeway/domain";
import { NATIVE_CURRENCY } from "@causeway/domain";
import { transactionsOf } from "@causeway/wire";
import { encodeFunctionData, keccak256, parseEther } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { WorkerServices } from "../../../apps/api/src/db/services.port.ts";
import { whyFillHeld } from "../../../apps/api/src/payments/held-lanes.ts";
import { openLane } from "../../../apps/api/src/payments/open-lane.ts";
import { loadTrail, scanChain, trailLength } from "../../../apps/api/src/deposits/scan-chain.ts";
import { trackLane } from "../../../apps/api/src/payments/track-lane.ts";
import {
  startEngineWorld,
  type QuotedRequest,
  type QuoteOverrides,
  type EngineWorld,
} from "../../support/engine-world.ts";
import { sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import { postgresReads } from "../../../apps/api/src/process/reads.postgres.ts";
import { postgresUnitOfWork } from "../../../apps/api/src/process/unit-of-work.postgres.ts";
import { ServerReplaced } from "../../../apps/api/src/db/server-replaced.port.ts";
import { loseRows } from "../../support/lost-rows.ts";
import { withChain } from "../../support/with-chain.ts";

let world: EngineWorld;

beforeEach(async () => {
  world = await startEngineWorld({ chain: { finalityBlocks: 3 } });
});
afterEach(async () => await world.stop());

/** A request whose fill was just broadcast and is pending. */
async function aSubmittedFill(
  ask: QuoteOverrides = {},
  workerServices: WorkerServices = world.services,
): Promise<QuotedRequest> {
  const agreed = await world.quote({ recipient: world.anAddress(), ...ask });
  await world.pay(agreed);
  await world.origin.mine();
  await world.watch(world.origin);
  await world.work(workerServices);
  return agreed;
}

async function slotOf({ requestId }: QuotedRequest) {
  const slot = await world.services.reads.slotOfLeg("fill", requestId);
  if (slot === undefined) throw new Error("the request has no live slot");
  return slot;
}

const received = async ({ terms }: QuotedRequest): Promise<bigint> =>
  await world.destination.balance(terms.recipient, terms.destination.currency);

test("a fill that is stuck because gas became more expensive is replaced at the same nonce with higher fees and paid once", async () => {
  const { destination, clock } = world;
  const agreed = await aSubmittedFill();
  const before = await slotOf(agreed);
  const first = before.attempts[0];
  // The base fee of the next block exceeds the maximum fee of the first attempt.
  const baseFeePerGas = (first?.maxFeePerGas ?? 0n) * 3n;
  await destination.client.setNextBlockBaseFeePerGas({ baseFeePerGas });
  await destination.mine();
  await world.watch(destination);
  expect(await destination.sentBy(world.solver.address, agreed.since.get(destination.chain.id))).toEqual([]);

  clock.forward(world.services.enginePolicy.stuckAfterMs + 1);
  await world.maintainLaneOf(destination);
  const { nonce, attempts } = await slotOf(agreed);
  expect(nonce).toBe(before.nonce);
  expect(attempts).toHaveLength(2);
  expect(attempts[1]?.maxFeePerGas).toBeGreaterThan(baseFeePerGas);
  for (const fee of ["maxFeePerGas", "maxPriorityFeePerGas"] as const)
    expect(attempts[1]?.[fee]).toBeGreaterThanOrEqual(((first?.[fee] ?? 0n) * 11_250n) / 10_000n);

  await destination.mine();
  await world.watch(destination);
  const status = await world.status(agreed.requestId);
  expect(status).toMatchObject({ status: "success", txHashes: [attempts[1]?.txHash] });
  expect(await world.paymentsOf(agreed, destination)).toHaveLength(1);
  expect(await received(agreed)).toBe(agreed.terms.destination.expectedAmount);
});

test("lane maintenance skips a slot that its own process is signing, and signs and broadcasts a slot that another process left unsigned", async () => {
  const { destination, clock, services } = world;
  const released = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const slotsBeingSent = new Map<string, number>();
  const slow: WorkerServices = {
    ...services,
    slotsBeingSent,
    // The key is in another service. A local key would sign in the commit that reserves the slot.
    signer: {
      address: services.signer.address,
      signDigest: async (digest) => {
        begun.resolve();
        await released.promise;
        return await services.signer.signDigest(digest);
      },
    },
  };
  const filling = aSubmittedFill({}, slow);
  await begun.promise;
  const attempts = async () =>
    (await services.reads.unsettledSlots(destination.chain.id, world.solver.address)).map(
      (slot) => slot.attempts.length,
    );
  clock.forward(services.enginePolicy.orphanedAfterMs + 1);
  await world.maintainLaneOf(destination, { ...services, slotsBeingSent });
  expect(await attempts()).toEqual([0]);
  await world.maintainLaneOf(destination, { ...services, slotsBeingSent: new Map() });
  expect(await attempts()).toEqual([1]);
  released.resolve();
  const agreed = await filling;
  expect(slotsBeingSent.size).toBe(0);
  await destination.mine();
  await world.watch(destination);
  expect(await world.paymentsOf(agreed, destination)).toHaveLength(1);
});

test("at the chain's fee cap, no higher fee is signed and the same bytes are broadcast again", async () => {
  await world.stop();
  world = await startEngineWorld();
  const { destination, clock } = world;
  const agreed = await aSubmittedFill();
  const capped = { ...destination.chain, fees: { ...destination.chain.fees, maxFeePerGasWei: 1n } };
  const connected = { ...destination.connected, chain: capped };
  const workerServices = { ...world.services, chains: { ...world.services.chains, get: () => connected } };
  clock.forward(world.services.enginePolicy.stuckAfterMs + 1);
  await world.maintainLaneOf(destination, workerServices);
  expect((await slotOf(agreed)).attempts).toHaveLength(1);
  await destination.mine();
  await world.watch(destination);
  expect((await world.status(agreed.requestId)).status).toBe("success");
});

test("a fill whose gas the solver cannot pay waits and is paid when the solver is funded", async () => {
  const { destination, clock, events } = world;
  const agreed = await world.quote({ recipient: world.anAddress() });
  await world.pay(agreed);
  await world.origin.mine();
  await world.watch(world.origin);
  // Between the simulation and the broadcast, the solver loses the balance.
  const { signer } = world.services;
  await world.work({
    ...world.services,
    signer: {
      ...signer,
      signDigest: async (digest) => {
        await destination.client.setBalance({ address: world.solver.address, value: 1n });
        return await signer.signDigest(digest);
      },
    },
  });
  expect(events.of("attempt_refused")).toHaveLength(1);
  expect((await world.status(agreed.requestId)).status).toBe("pending");

  await destination.client.setBalance({ address: world.solver.address, value: parseEther("10") });
  // The payment is broadcast again only at the usual interval, so not every round raises the alarm again.
  const { orphanedAfterMs, rebroadcastIntervalMs } = world.services.enginePolicy;
  clock.forward(orphanedAfterMs + 1);
  await world.maintainLaneOf(destination);
  expect(
    await destination.client.getTransactionCount({ address: world.solver.address, blockTag: "pending" }),
  ).toBe((await slotOf(agreed)).nonce);
  clock.forward(rebroadcastIntervalMs);
  await world.maintainLaneOf(destination);
  await destination.mine();
  await world.watch(destination);
  expect((await world.status(agreed.requestId)).status).toBe("success");
  expect(await world.paymentsOf(agreed, destination)).toHaveLength(1);
});

test("a fill whose bytes the node permanently refuses is canceled at its nonce, does not block later fills, and its deposit is refunded", async () => {
  const { destination, origin, clock } = world;
  const [chain, others] = [destination.connected, world.services.chains];
  let refusals = 0;
  const refusing = {
    ...chain,
    connection: {
      ...chain.connection,
      writer: {
        broadcast: async () => {
          refusals++;
          return { kind: "rejected", reason: "intrinsic gas too low" } as const;
        },
      },
    },
  };
  const workerServices: WorkerServices = {
    ...world.services,
    chains: { ...others, get: (id) => (id === destination.chain.id ? refusing : others.get(id)) },
  };
  const refused = await aSubmittedFill({ refundTo: world.anAddress() }, workerServices);
  expect(refusals).toBe(1);
  const behind = await aSubmittedFill();
  expect((await slotOf(behind)).nonce).toBe((await slotOf(refused)).nonce + 1);
  await destination.mine();
  await world.watch(destination);
  expect((await world.status(behind.requestId)).status, "the nonce before it is missing").toBe("submitted");

  await world.maintainLaneOf(destination);
  await destination.mine();
  await world.watch(destination);
  expect((await world.status(behind.requestId)).status).toBe("success");
  // The nonce is used, but nothing is refunded before the block is final.
  expect((await world.status(refused.requestId)).status).toBe("pending");
  expect((await world.request(refused.requestId)).state.name).toBe("filling");

  const end = await world.untilFinal(refused.requestId);
  expect(end).toMatchObject({ status: "refund", failReason: "TRANSACTION_SUBMISSION_FAILED" });
  expect(await world.statusesOf(refused.requestId)).toEqual(["waiting", "pending", "refund"]);
  expect(await world.paymentsOf(refused, destination)).toEqual([]);
  expect(await world.paymentsOf(refused, origin)).toHaveLength(1);
  expect(clock.nowMs()).toBeGreaterThan(0);
});

test("a fill that is not mined long after its deadline is canceled at its nonce, later fills continue, and the deposit is refunded", async () => {
  const { destination, origin, clock } = world;
  const late = await aSubmittedFill({ ttl: 300, refundTo: world.anAddress() });
  clock.forward(200_000);
  const behind = await aSubmittedFill();
  clock.forward(100_000 + world.services.enginePolicy.cancelAfterDeadlineMs + 1);
  await world.maintainLaneOf(destination);
  const { attempts } = await slotOf(late);
  expect(attempts.map(({ kind }) => kind)).toEqual(["pay", "noop"]);
  await destination.mine();
  await world.watch(destination);
  expect((await world.status(behind.requestId)).status).toBe("success");
  const end = await world.untilFinal(late.requestId);
  expect(end).toMatchObject({ status: "refund", failReason: "TRANSACTION_NOT_INCLUDED", txHashes: [] });
  expect(await world.statusesOf(late.requestId)).toEqual([
    "waiting",
    "pending",
    "submitted",
    "pending",
    "refund",
  ]);
  expect(await received(late)).toBe(0n);
  expect(await world.paymentsOf(late, origin)).toHaveLength(1);
});

test("refunds the deposit of a fill whose nonce the key used elsewhere only once that transaction is final", async () => {
  const { destination, origin, clock } = world;
  const agreed = await aSubmittedFill();
  const { nonce } = await slotOf(agreed);
  // Another program with the same key replaces the fill in the mempool.
  const foreign = await destination.client.sendTransaction({
    account: privateKeyToAccount(world.solver.privateKey),
    to: world.stranger.address,
    value: 1n,
    nonce,
    gas: 21_000n,
    maxFeePerGas: 400_000_000_000n,
    maxPriorityFeePerGas: 300_000_000_000n,
  });
  await destination.mine();
  await world.watch(destination);
  expect(
    (await destination.sentBy(world.solver.address, agreed.since.get(destination.chain.id)))[0]?.hash,
  ).toBe(foreign);
  for (let block = 1; block <= 3; block++) {
    expect((await world.request(agreed.requestId)).state.name, `${block} blocks`).toBe("submitted");
    expect(await world.services.reads.slotOfLeg("fill", agreed.requestId)).toMatchObject({ state: "open" });
    await destination.mine();
    await world.watch(destination);
  }
  expect((await world.request(agreed.requestId)).state.name).toBe("refunding");
  clock.forward(1_000);
  const end = await world.untilFinal(agreed.requestId);
  expect(end.status).toBe("refund");
  expect(await received(agreed)).toBe(0n);
  expect(await world.paymentsOf(agreed, origin)).toHaveLength(1);
  // The lane continues at the next nonce.
  const next = await aSubmittedFill();
  expect((await world.untilFinal(next.requestId)).status).toBe("success");
});

test("a fill mined above the scanned head does not block the lane for other requests", async () => {
  const { destination } = world;
  const trail = await world.watch(destination);
  await aSubmittedFill();
  await destination.mine();
  for (const look of [1, 2]) {
    await trackLane(world.services, destination.connected, trail);
    expect((await slotOf(await aSubmittedFill())).state, `look ${look}`).toBe("open");
  }
});

test("a lane keeps planning while a receipt is missing at one head, and stops when it is also missing at a second head", async () => {
  const { destination } = world;
  const { connected } = destination;
  await aSubmittedFill();
  const reader = { ...connected.connection.reader, receipt: async () => undefined };
  const lagging = { ...connected, connection: { ...connected.connection, reader } };
  await destination.mine();
  const trail = await world.watch(destination, {
    ...world.services,
    chains: {
      ...world.services.chains,
      get: (id) => (id === destination.chain.id ? lagging : world.services.chains.get(id)),
    },
  });
  // Reading the same head twice does not count as two heads.
  await trackLane(world.services, lagging, trail);
  expect((await slotOf(await aSubmittedFill())).state).toBe("open");
  await destination.mine();
  const later = await scanChain(world.services, connected, trail, await destination.announce());
  await trackLane(world.services, lagging, later);
  const waiting = await aSubmittedFill();
  expect((await world.request(waiting.requestId)).state.name).toBe("fillable");
  await world.watch(destination);
  await world.work();
  expect((await slotOf(waiting)).state).toBe("open");
});

test("refunds the deposit if the token returns false instead of reverting the fill", async () => {
  const { destination } = world;
  const { client } = destination;
  const agreed = await aSubmittedFill({ refundTo: world.anAddress() });
  const address = agreed.terms.destination.currency;
  const bytecode = (await client.getCode({ address })) ?? "0x";
  // Code that returns false for every call.
  await client.setCode({ address, bytecode: "0x600060005260206000f3" });
  await destination.mine();
  await client.setCode({ address, bytecode });
  await world.watch(destination);
  expect((await world.status(agreed.requestId)).status).not.toBe("success");
  for (let round = 0; round < 8; round++) {
    await world.work();
    await world.round();
  }
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "refund",
    failReason: "TRANSACTION_REVERTED",
  });
  expect(await received(agreed)).toBe(0n);
});

test("refunds nothing if the node has lost the receipt of a paid nonce", async () => {
  const { destination, origin } = world;
  const agreed = await aSubmittedFill();
  await destination.mine();
  const { reader } = destination.connected.connection;
  const forgetful = {
    ...destination.connected,
    connection: {
      ...destination.connected.connection,
      reader: { ...reader, receipt: async () => undefined },
    },
  };
  const workerServices: WorkerServices = {
    ...world.services,
    chains: {
      ...world.services.chains,
      get: (id) => (id === destination.chain.id ? forgetful : world.services.chains.get(id)),
    },
  };
  for (let block = 0; block < 8; block++) {
    await world.watch(destination, workerServices);
    await world.work(workerServices);
    await destination.mine();
  }
  expect((await world.request(agreed.requestId)).state.name).toBe("submitted");
  expect(world.events.of("nonce_unexplained").length).toBeGreaterThan(0);
  // The node returns receipts again.
  await world.watch(destination);
  expect((await world.untilFinal(agreed.requestId)).status).toBe("success");
  expect(await world.paymentsOf(agreed, origin)).toEqual([]);
  expect(await world.paymentsOf(agreed, destination)).toHaveLength(1);
});

/**
 * Simulates that the database failed over to a copy without the commit that planned the fill.
 * @returns a function that restores the lost rows
 */
async function loseFill(agreed: QuotedRequest): Promise<() => Promise<void>> {
  const { requestId } = agreed;
  const { pool } = world;
  const slot = await slotOf(agreed);
  const restore = await loseRows(pool, slot);
  const requests = "update requests set state = $2, tx_hashes = $3 where request_id = $1";
  await pool.query(requests, [requestId, "fillable", []]);
  await pool.query(
    "insert into outbox (job_name, job_id, payload, created_at_ms) values ('fill', $1, $2, 0)",
    [`again-${requestId}`, JSON.stringify({ requestId })],
  );
  return async () => {
    await restore();
    await pool.query(requests, [requestId, "submitted", slot.attempts.map(({ txHash }) => txHash)]);
  };
}

test("a payment whose commit a failover lost is not repeated: its lane plans nothing until the operator has restored it", async () => {
  const { destination, origin } = world;
  const agreed = await aSubmittedFill();
  await destination.mine();
  await loseFill(agreed);
  await openLane(world.services, destination.connected);
  expect(world.events.of("payment_unrecorded")[0]?.facts).toMatchObject({ requestId: agreed.requestId });
  // No fill is planned on this lane, however long it waits.
  const other = await aSubmittedFill();
  for (let round = 0; round < 8; round++) {
    world.clock.forward(60_000);
    await world.round();
    await openLane(world.services, destination.connected);
  }
  for (const { requestId } of [agreed, other])
    expect((await world.request(requestId)).state.name).toBe("fillable");
  expect(await world.paymentsOf(agreed, destination)).toHaveLength(1);
  expect(await world.paymentsOf(other, destination)).toEqual([]);
  expect(await world.paymentsOf(agreed, origin)).toEqual([]);
});

test("holds a lane for a lost payment in blocks beyond the search window, until its rows are restored", async () => {
  const { destination, origin } = world;
  const agreed = await aSubmittedFill();
  await destination.mine();
  const restore = await loseFill(agreed);
  await openLane(world.services, destination.connected);
  await destination.mine(trailLength(destination.chain) + 5);
  for (let round = 0; round < 4; round++) {
    await world.round();
    await openLane(world.services, destination.connected);
  }
  expect((await world.request(agreed.requestId)).state.name).toBe("fillable");
  expect(await world.paymentsOf(agreed, destination)).toHaveLength(1);

  await restore();
  await openLane(world.services, destination.connected);
  expect((await world.untilFinal(agreed.requestId)).status).toBe("success");
  const next = await aSubmittedFill();
  expect((await world.untilFinal(next.requestId)).status).toBe("success");
  expect(await world.paymentsOf(agreed, destination)).toHaveLength(1);
  expect(await world.paymentsOf(agreed, origin)).toEqual([]);
});

/** The services after the operator replaced the solver's key and funded the new one. */
async function withNewKey({ signer: former, ...services }: WorkerServices): Promise<WorkerServices> {
  const signer = rawKeySigner(`0x${"e3".repeat(32)}`);
  await world.destination.fund(signer.address, { native: 10n ** 20n, tokens: 100_000_000n });
  await world.destination.mine();
  return { ...services, signer, formerSigners: [former] };
}

test("after the solver's key was replaced, the old lane replaces its stuck payment, and the new one pays the rest", async () => {
  const { destination, clock, services } = world;
  const [stuck, later] = [await aSubmittedFill(), await world.quote({ recipient: world.anAddress() })];
  const before = await slotOf(stuck);
  const baseFeePerGas = (before.attempts[0]?.maxFeePerGas ?? 0n) * 3n;
  await destination.client.setNextBlockBaseFeePerGas({ baseFeePerGas });
  await destination.mine();
  await world.watch(destination);

  const rotated = await withNewKey(services);
  await openLane(rotated, destination.connected);
  clock.forward(services.enginePolicy.stuckAfterMs + 1);
  await world.maintainLaneOf(destination, rotated);
  expect(await slotOf(stuck)).toMatchObject({ nonce: before.nonce, sender: services.signer.address });
  expect((await slotOf(stuck)).attempts).toHaveLength(2);

  // The order of this request names the old key.
  await world.pay(later);
  await world.origin.mine();
  await world.watch(world.origin, rotated);
  await world.work(rotated);
  expect((await slotOf(later)).sender).toBe(rotated.signer.address);
  await destination.mine();
  await world.watch(destination, rotated);
  for (const { requestId } of [stuck, later])
    expect(await world.status(requestId)).toMatchObject({ status: "success" });
  for (const agreed of [stuck, later])
    expect(await received(agreed)).toBe(agreed.terms.destination.expectedAmount);
});

test("while a lost payment waits in the mempool, nothing is planned with its nonce", async () => {
  const { destination, origin } = world;
  const agreed = await aSubmittedFill();
  await loseFill(agreed);
  await world.pool.query("delete from outbox where published_at_ms is null");
  const other = await aSubmittedFill();
  expect((await world.request(other.requestId)).state.name).toBe("fillable");
  expect(await pay(world.services, fillLeg, agreed.requestId)).toMatchObject({
    why: expect.stringContaining("pending transaction of the sending key is not in the database"),
  });
  await destination.mine();
  for (let round = 0; round < 4; round++) {
    await openLane(world.services, destination.connected);
    await pay(world.services, fillLeg, agreed.requestId);
    await pay(world.services, fillLeg, other.requestId);
    await world.round();
  }
  expect(await world.paymentsOf(agreed, destination)).toHaveLength(1);
  expect(await world.paymentsOf(other, destination)).toEqual([]);
  expect(await world.paymentsOf(agreed, origin)).toEqual([]);
});

test("a fill that was checked before the database failed over takes no nonce after it, and is planned again", async () => {
  const { origin, services, pool } = world;
  const agreed = await world.quote({ recipient: world.anAddress() });
  await world.pay(agreed);
  await origin.mine();
  await world.watch(origin);
  const replaced = { isNew: () => true, noteIdentity: () => undefined, identity: () => undefined };
  const midway = { ...services, uow: postgresUnitOfWork(pool, world.events, replaced) };
  await expect(pay(midway, fillLeg, agreed.requestId)).rejects.toThrow(ServerReplaced);
  const { chain } = world.destination;
  const raised = midway.uow.run(async (tx) => await tx.lanes.open(chain.id, world.solver.address, 10_000));
  await expect(raised).rejects.toThrow(ServerReplaced);
  const after = { ...services, reads: postgresReads(sqlOn(pool), replaced) };
  expect(await pay(after, fillLeg, agreed.requestId)).toMatchObject({
    why: expect.stringContaining("less than a minute ago"),
  });
  expect(await services.reads.slotOfLeg("fill", agreed.requestId)).toBeUndefined();
  expect((await world.untilFinal(agreed.requestId)).status).toBe("success");
});

test("a key that was used while the node had lost its old states opens its lane when the node knows them", async () => {
  const { destination, services, solver } = world;
  await openLane(services, destination.connected);
  await destination.send(solver, { to: world.stranger.address, value: 1n });
  await destination.mine();
  const { reader } = destination.connected.connection;
  const pruned = withChain(services, destination.connected, {
    connection: {
      reader: {
        ...reader,
        transactionByNonce: async () =>
          await Promise.reject(
            new RpcFault({ kind: "refused", method: "eth_getTransactionCount", reason: "no state" }),
          ),
      },
    },
  });
  const forgetful = pruned.chains.get(destination.chain.id) ?? destination.connected;
  await openLane(services, forgetful);
  await destination.mine(trailLength(destination.chain) + 5);
  await world.watch(destination);
  const waits = await aSubmittedFill();
  expect((await world.request(waits.requestId)).state.name).toBe("fillable");
  await openLane(services, destination.connected);
  expect((await world.untilFinal(waits.requestId)).status).toBe("success");
});

test("the holder of a key that is no longer configured cannot block its orders", async () => {
  const { destination, origin, services, solver } = world;
  await aSubmittedFill();
  const agreed = await world.quote({ recipient: world.anAddress() });
  await world.pay(agreed);
  await origin.mine();
  const kept = await withNewKey(services);
  expect(kept.formerSigners).toHaveLength(1);
  const rotated = { ...kept, formerSigners: [] };
  const data = agreed.terms.orderId;
  await destination.send(solver, { to: world.stranger.address, data, value: 1n });
  await destination.mine();
  for (let round = 0; round < 3; round++) {
    await openLane(rotated, destination.connected);
    await world.watch(origin, rotated);
    await destination.mine(3);
    await world.watch(destination, rotated);
    await pay(rotated, fillLeg, agreed.requestId);
  }
  expect((await world.request(agreed.requestId)).state.name).toBe("refunding");
});

test("a lost payment of a former key is not repeated by the new one, which pays for everything else", async () => {
  const { destination, origin, services } = world;
  const [agreed, other] = [await aSubmittedFill(), await world.quote({ recipient: world.anAddress() })];
  await destination.mine();
  await loseFill(agreed);
  await world.pay(other);
  await origin.mine();
  const rotated = await withNewKey(services);
  await openLane(rotated, destination.connected);
  await world.watch(origin, rotated);
  for (let round = 0; round < 4; round++) {
    await pay(rotated, fillLeg, agreed.requestId).catch(() => undefined);
    await pay(rotated, fillLeg, other.requestId).catch(() => undefined);
    await destination.mine(trailLength(destination.chain));
    await world.watch(destination, rotated);
    await openLane(rotated, destination.connected);
  }
  expect(await world.paymentsOf(agreed, destination)).toHaveLength(1);
  expect((await world.request(agreed.requestId)).state.name).toBe("fillable");
  expect(await received(other)).toBe(other.terms.destination.expectedAmount);
});

test.each(["is pending", "may be lost"])(
  "a fill of a former key that %s is neither repeated by the new key nor refunded",
  async (kind) => {
    const { destination, services, pool } = world;
    const rotated = await withNewKey(services);
    await openLane(rotated, destination.connected);
    const agreed = await aSubmittedFill();
    const [attempt] = (await slotOf(agreed)).attempts;
    await loseFill(agreed);
    if (kind === "may be lost") {
      await destination.client.request({
        method: "anvil_dropTransaction" as never,
        params: [attempt?.txHash] as never,
      });
      await pool.query("update lanes set server = 'a former server' where sender = $1", [
        services.signer.address,
      ]);
      expect(await whyFillHeld(rotated, agreed.terms)).toContain("may have lost payments");
    }
    await pay(rotated, fillLeg, agreed.requestId);
    expect(await rotated.reads.slotOfLeg("fill", agreed.requestId)).toBeUndefined();
    expect((await world.request(agreed.requestId)).state.name).toBe("fillable");
  },
);

test("a deposit whose lost fill was mined is not refunded while the destination's node does not answer, no matter how long", async () => {
  const { destination, origin, clock, services } = world;
  const { inventoryWaitMs } = services.enginePolicy;
  const agreed = await aSubmittedFill();
  await destination.mine();
  await loseFill(agreed);
  const { connection } = destination.connected;
  const fault = new NodeRefusal({ method: "eth_call", nodeCode: 503, nodeText: "busy", nodeData: undefined });
  const failing = async (): Promise<never> => await Promise.reject(fault);
  const silent = withChain(services, destination.connected, {
    connection: { reader: { ...connection.reader, nonce: failing, simulate: failing } },
  });
  const disabled: WorkerServices = {
    ...services,
    chains: {
      ...services.chains,
      get: (id) => (id === destination.chain.id ? undefined : services.chains.get(id)),
    },
  };
  const unknownSolver: WorkerServices = {
    ...services,
    signer: { ...services.signer, address: world.anAddress() },
  };
  const attempt = async (workerServices: WorkerServices): Promise<unknown> =>
    await pay(workerServices, fillLeg, agreed.requestId).catch((error: unknown) => error);
  for (const workerServices of [silent, disabled]) {
    for (let round = 0; round < 10; round++) {
      await attempt(workerServices);
      clock.forward(inventoryWaitMs / 4);
    }
    expect((await world.request(agreed.requestId)).state.name).toBe("fillable");
  }
  expect(await attempt(silent)).toBe(fault);
  expect(await attempt(disabled)).toMatchObject({ why: expect.stringContaining("not enabled") });
  // If nothing had been paid, the deposit would be refunded after this deadline.
  clock.forward(agreed.terms.fillDeadlineMs);
  for (const workerServices of [silent, disabled, unknownSolver, services]) await attempt(workerServices);
  expect((await world.request(agreed.requestId)).state.name).toBe("fillable");
  for (let round = 0; round < 4; round++) await world.round();
  expect(await world.paymentsOf(agreed, destination)).toHaveLength(1);
  expect(await world.paymentsOf(agreed, origin)).toEqual([]);
});

test("a fill whose commit a failover lost before its broadcast is planned again and paid once, although the old process broadcasts it late", async () => {
  const { destination, origin } = world;
  const kept: Hex[] = [];
  const broadcast = async (raw: Hex): Promise<never> => {
    kept.push(raw);
    return await Promise.reject(new Error("cut off"));
  };
  const cutOff = withChain(world.services, destination.connected, { connection: { writer: { broadcast } } });
  const agreed = await world.quote({ recipient: world.anAddress() });
  await world.pay(agreed);
  await origin.mine();
  await world.watch(origin);
  await world.work(cutOff).catch(() => undefined);
  await loseFill(agreed);
  // The fees differ, so the bytes differ.
  await destination.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 3n * 10n ** 9n });
  await destination.mine();
  await world.watch(destination);
  await world.work();
  const [attempt] = (await slotOf(agreed)).attempts;
  const [late = "0x"] = kept;
  expect(attempt?.txHash).not.toBe(keccak256(late));
  await destination.client.sendRawTransaction({ serializedTransaction: late }).catch(() => undefined);
  expect((await world.untilFinal(agreed.requestId)).status).toBe("success");
  expect(await world.paymentsOf(agreed, destination)).toHaveLength(1);
  expect(await received(agreed)).toBe(agreed.terms.destination.expectedAmount);
  expect(await world.paymentsOf(agreed, origin)).toEqual([]);
});

test("a slot whose nonce a lost payment of an order used is never treated as dead", async () => {
  const { destination, origin } = world;
  const agreed = await aSubmittedFill();
  await loseFill(agreed);
  // The lost bytes are still in the mempool. The fill is planned again at the same nonce with other fees.
  const { connected } = destination;
  const { maxFeePerGas, ...prices } = connected.pulse.gasPrices();
  const gasPrices = () => ({ ...prices, maxFeePerGas: maxFeePerGas - 1n });
  // The node does not reveal its mempool.
  const { connection } = connected;
  const nonce: typeof connection.reader.nonce = async (account) =>
    await connection.reader.nonce(account, "latest");
  const other = {
    ...connected,
    pulse: { ...connected.pulse, gasPrices },
    connection: { ...connection, reader: { ...connection.reader, nonce } },
  };
  await world.work({
    ...world.services,
    chains: {
      ...world.services.chains,
      get: (id) => (id === destination.chain.id ? other : world.services.chains.get(id)),
    },
  });
  expect((await slotOf(agreed)).attempts).toHaveLength(1);
  for (let round = 0; round < 8; round++) await world.round();
  expect(world.events.of("payment_unrecorded").at(-1)?.facts).toMatchObject({ requestId: agreed.requestId });
  expect((await slotOf(agreed)).state).toBe("open");
  expect(await world.paymentsOf(agreed, destination)).toHaveLength(1);
  expect(await world.paymentsOf(agreed, origin)).toEqual([]);
});

test("an outcome is final exactly when its block has the chain's finality depth", async () => {
  const { destination } = world;
  const agreed = await aSubmittedFill();
  for (const depth of [1, 2, 3]) {
    await destination.mine();
    await world.watch(destination);
    const { status, final } = await world.status(agreed.requestId);
    expect({ status, final }, `${depth} of 3 blocks`).toEqual({ status: "success", final: depth === 3 });
  }
});

test("a lane that starts behind the chain starts at the chain's nonce", async () => {
  const { destination } = world;
  for (let sent = 0; sent < 3; sent++) {
    await destination.send(world.solver, { to: world.stranger.address, value: 1n });
    await destination.mine();
  }
  const used = await destination.client.getTransactionCount({ address: world.solver.address });
  await openLane(world.services, destination.connected);
  const agreed = await aSubmittedFill();
  expect((await slotOf(agreed)).nonce).toBe(used);
  expect((await world.untilFinal(agreed.requestId)).status).toBe("success");
});

test("a fill that reverts on chain is refunded once that block is final, and shows no interim failure", async () => {
  const { destination, origin } = world;
  // After the simulation, the recipient becomes a contract that rejects the native payment.
  const agreed = await aSubmittedFill({ destinationCurrency: NATIVE_CURRENCY });
  await destination.client.setCode({ address: agreed.terms.recipient, bytecode: "0x60006000fd" });
  await destination.mine();
  await world.watch(destination);
  expect((await world.status(agreed.requestId)).status).toBe("submitted");
  expect(await world.services.reads.slotOfLeg("fill", agreed.requestId)).toMatchObject({
    state: "mined",
    minedStatus: "reverted",
  });
  // The payment could still succeed in a block that replaces this one.
  await destination.mine();
  await world.watch(destination);
  expect((await world.request(agreed.requestId)).state.name).toBe("submitted");
  const end = await world.untilFinal(agreed.requestId);
  expect(end).toMatchObject({ status: "refund", failReason: "TRANSACTION_REVERTED", txHashes: [] });
  expect(await world.statusesOf(agreed.requestId)).toEqual([
    "waiting",
    "pending",
    "submitted",
    "pending",
    "refund",
  ]);
  expect(await world.paymentsOf(agreed, destination)).toEqual([]);
  expect(await world.paymentsOf(agreed, origin)).toHaveLength(1);
});

test("broadcasts the same bytes of an orphaned fill again and pays once", async () => {
  const { destination, clock } = world;
  const agreed = await aSubmittedFill();
  await destination.mine();
  await world.watch(destination);
  const mined = await world.status(agreed.requestId);
  expect(mined.status).toBe("success");
  expect(mined.final).toBe(false);

  await destination.reorg(1);
  await world.watch(destination);
  expect(await received(agreed)).toBe(0n);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "submitted", final: false });

  clock.forward(world.services.enginePolicy.orphanedAfterMs + 1);
  await world.maintainLaneOf(destination);
  await destination.mine();
  await world.watch(destination);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "success", txHashes: mined.txHashes });
  const end = await world.untilFinal(agreed.requestId);
  expect(end).toMatchObject({ status: "success", final: true, txHashes: mined.txHashes });
  expect(await received(agreed)).toBe(agreed.terms.destination.expectedAmount);
  expect(await world.statusesOf(agreed.requestId)).toEqual([
    "waiting",
    "pending",
    "submitted",
    "success",
    "submitted",
    "success",
  ]);
});

test("a fill that is orphaned long after it was signed is broadcast again, and is not abandoned, because nodes had accepted it", async () => {
  const { destination, clock } = world;
  const agreed = await aSubmittedFill();
  await destination.mine();
  await world.watch(destination);
  // No process maintained the lane in the meantime.
  clock.forward(world.services.enginePolicy.stuckAfterMs + 1);
  await destination.reorg(1);
  await world.watch(destination);
  expect((await world.status(agreed.requestId)).status).toBe("submitted");

  await world.maintainLaneOf(destination);
  expect((await slotOf(agreed)).cancelReason).toBeUndefined();
  await destination.mine();
  await world.watch(destination);
  expect((await world.untilFinal(agreed.requestId)).status).toBe("success");
  expect(await received(agreed)).toBe(agreed.terms.destination.expectedAmount);
});

test("a fill that a reorg moved into another block stays paid once and becomes final there", async () => {
  const { destination } = world;
  const agreed = await aSubmittedFill();
  await destination.mine();
  await world.watch(destination);
  const raw = (await slotOf(agreed)).attempts[0]?.raw ?? "0x";
  await destination.client.request({ method: "anvil_reorg" as never, params: [1, []] as never });
  await destination.client.sendRawTransaction({ serializedTransaction: raw });
  await destination.mine();
  await world.watch(destination);
  expect((await world.status(agreed.requestId)).status).toBe("success");
  const [payment] = await world.paymentsOf(agreed, destination);
  expect((await slotOf(agreed)).minedBlockNumber).toBe(payment?.block);
  expect((await world.untilFinal(agreed.requestId)).status).toBe("success");
  expect(await received(agreed)).toBe(agreed.terms.destination.expectedAmount);
});

/** The services of a process that read the lane before other processes changed it. */
async function readBefore(): Promise<WorkerServices> {
  const stale = await world.services.reads.unsettledSlots(world.destination.chain.id, world.solver.address);
  const reads = {
    ...world.services.reads,
    unsettledSlots: async () => stale,
    slotsToTrack: async () => stale,
    openSlots: async () => stale.filter(({ state }) => state === "open"),
  };
  return { ...world.services, reads };
}

const eventsOf = ({ requestId }: QuotedRequest) =>
  world.events.all
    .filter(({ event, facts }) => event.startsWith("slot_") && facts["requestId"] === requestId)
    .map(({ event }) => event);

test("raises each event of a payment once, although a second process read the lane before", async () => {
  const { destination, clock, events } = world;
  const { connected } = destination;
  const agreed = await aSubmittedFill();
  const track = async (...processes: readonly WorkerServices[]) => {
    const trail = await loadTrail(world.services, connected);
    for (const workerServices of processes) await trackLane(workerServices, connected, trail);
  };
  const beforeMined = await readBefore();
  await destination.mine();
  await world.watch(destination);
  await track(beforeMined);
  expect(eventsOf(agreed)).toEqual(["slot_mined"]);

  const beforeOrphaned = await readBefore();
  await destination.reorg(1);
  await world.watch(destination);
  await track(beforeOrphaned);
  expect(eventsOf(agreed)).toEqual(["slot_mined", "slot_unmined"]);

  clock.forward(world.services.enginePolicy.orphanedAfterMs + 1);
  await world.maintainLaneOf(destination);
  await destination.mine();
  await world.watch(destination);
  const beforeFinal = await readBefore();
  for (let block = 2; block <= 3; block++) {
    await destination.mine();
    await world.watch(destination);
  }
  await track(beforeFinal);
  expect(eventsOf(agreed)).toEqual(["slot_mined", "slot_unmined", "slot_mined", "slot_final"]);
  expect(events.of("transition_rejected")).toEqual([]);
});

test("reports a reverted payment as dead once, although a second process read the lane before", async () => {
  const { destination } = world;
  const agreed = await aSubmittedFill({ destinationCurrency: NATIVE_CURRENCY });
  await destination.client.setCode({ address: agreed.terms.recipient, bytecode: "0x60006000fd" });
  await destination.mine();
  await world.watch(destination);
  const before = await readBefore();
  for (let block = 2; block <= 3; block++) {
    await destination.mine();
    await world.watch(destination);
  }
  await trackLane(before, destination.connected, await loadTrail(world.services, destination.connected));
  expect(eventsOf(agreed)).toEqual(["slot_mined", "slot_dead"]);
});

test("does not finalize a fill by a block that a reorg replaced after the lane was read", async () => {
  const { destination } = world;
  const { connected } = destination;
  const agreed = await aSubmittedFill();
  await destination.mine();
  await world.watch(destination);
  const slow = await readBefore();
  const { minedBlockHash: formerBlock, attempts } = await slotOf(agreed);
  const trail = await loadTrail(world.services, connected);
  const head = trail.at(-1);
  if (head === undefined) throw new Error("the chain has no blocks");
  const formerTrail = [
    ...trail,
    ...[1n, 2n].map((after) => ({ ...head, number: head.number + after, hash: `0x${after}` as const })),
  ];

  await destination.client.request({ method: "anvil_reorg" as never, params: [1, []] as never });
  await destination.client.sendRawTransaction({ serializedTransaction: attempts[0]?.raw ?? "0x" });
  await destination.mine();
  await world.watch(destination);
  const moved = await slotOf(agreed);
  expect(moved).toMatchObject({ state: "mined" });
  expect(moved.minedBlockHash).not.toBe(formerBlock);

  await trackLane(slow, connected, formerTrail);
  expect(await slotOf(agreed)).toEqual(moved);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "success", final: false });
  expect((await world.untilFinal(agreed.requestId)).status).toBe("success");
});

test("a used nonce does not end a payment if an attempt was signed after the lane was read", async () => {
  const { destination, origin } = world;
  const agreed = await aSubmittedFill();
  const { id, nonce, attempts } = await slotOf(agreed);
  await destination.client.sendTransaction({
    account: privateKeyToAccount(world.solver.privateKey),
    to: world.stranger.address,
    value: 1n,
    nonce,
    gas: 21_000n,
    maxFeePerGas: 400_000_000_000n,
    maxPriorityFeePerGas: 300_000_000_000n,
  });
  for (let block = 1; block <= 3; block++) {
    await destination.mine();
    await world.watch(destination);
  }
  const slow = await readBefore();
  const [attempt] = attempts;
  if (attempt === undefined) throw new Error("the fill is not signed");
  const later = { ...attempt, n: 1, txHash: keccak256("0x01") };
  await world.services.uow.run((tx) => tx.lanes.addAttempts([{ slotId: id, attempt: later }]));
  await destination.mine();
  const trail = await scanChain(
    world.services,
    destination.connected,
    await loadTrail(world.services, destination.connected),
    await destination.announce(),
  );
  await trackLane(slow, destination.connected, trail);
  expect((await slotOf(agreed)).state).toBe("open");
  expect(eventsOf(agreed)).toEqual([]);

  // A process that reads the slot with all attempts may end it.
  expect((await world.untilFinal(agreed.requestId)).status).toBe("refund");
  expect(await world.paymentsOf(agreed, origin)).toHaveLength(1);
});

test("a hundred pending fills of one lane are mined without a nonce gap", async () => {
  const { destination, origin } = world;
  const agreed: QuotedRequest[] = [];
  for (let at = 0; at < 100; at++)
    agreed.push(await world.quote({ recipient: world.anAddress(), amount: "5000000" }));
  const approval = agreed[0]?.answer.steps.find(({ id }) => id === "approve");
  expect(approval).toBeDefined();
  await origin.send(world.user, {
    to: world.usdc,
    data: encodeFunctionData({
      abi: testTokenAbi,
      functionName: "approve",
      args: [origin.chain.contracts.depository, 10n ** 18n],
    }),
  });
  const firstNonce = await origin.client.getTransactionCount({
    address: world.user.address,
    blockTag: "pending",
  });
  for (const [at, { answer }] of agreed.entries()) {
    const deposit = transactionsOf(answer.steps).at(-1);
    await origin.send(world.user, {
      to: (deposit?.to ?? "0x") as `0x${string}`,
      data: (deposit?.data ?? "0x") as `0x${string}`,
      nonce: firstNonce + at,
    });
  }
  while ((await origin.client.getTransactionCount({ address: world.user.address })) < firstNonce + 100)
    await origin.mine();
  await world.watch(origin);
  await world.work();
  const slots = await world.services.reads.unsettledSlots(destination.chain.id, world.solver.address);
  const nonces = slots.map(({ nonce }) => nonce);
  expect(nonces).toEqual(Array.from({ length: 100 }, (_, at) => (nonces[0] ?? 0) + at));
  await destination.mine(2);
  await world.watch(destination);
  const statuses = await Promise.all(
    agreed.map(async ({ requestId }) => (await world.status(requestId)).status),
  );
  expect(new Set(statuses)).toEqual(new Set(["success"]));
  const payments = await destination.sentBy(world.solver.address, agreed[0]?.since.get(destination.chain.id));
  expect(new Set(payments.map(({ input }) => input.slice(-64))).size).toBe(100);
  expect(payments).toHaveLength(100);
});

test("fills the nonce gap of a transaction that was orphaned before the lane was opened", async () => {
  const { origin, destination, services, solver } = world;
  const used = await destination.connected.connection.reader.nonce(solver.address, "latest");
  // The state of the chain before the reorg.
  await services.uow.run(async (tx) => await tx.lanes.open(destination.chain.id, solver.address, used + 2));
  const agreed = await world.quote();
  await world.pay(agreed);
  await origin.mine();
  await world.watch(origin);
  await world.work();
  await destination.mine();
  expect(await world.paymentsOf(agreed, destination)).toEqual([]);
  expect((await world.untilFinal(agreed.requestId)).status).toBe("success");
  const sent = await destination.sentBy(solver.address);
  expect(sent.map(({ nonce, input }) => [nonce, input === "0x"])).toEqual([
    [used, true],
    [used + 1, true],
    [used + 2, false],
  ]);
  expect(world.events.of("nonce_gap_filled").map(({ facts }) => facts["nonce"])).toEqual([used, used + 1]);
});
