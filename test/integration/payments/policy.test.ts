import { paymentCall, transferCall } from "@causeway/chains";
import { rawKeySigner } from "@causeway/attest";
import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Address } from "@causeway/domain";
import { parseUnits } from "viem";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { SlotPlan } from "../../../apps/api/src/db/records.port.ts";
import { sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import type { WorkerServices } from "../../../apps/api/src/db/services.port.ts";
import type { LaneLimits } from "../../../apps/api/src/payments/policy/limits.port.ts";
import { pauseStore } from "../../../apps/api/src/payments/policy/policy.postgres.ts";
import { spentMemory } from "../../../apps/api/src/payments/policy/spent-memory.ts";
import { laneReport } from "../../../apps/api/src/payments/operator-reads.postgres.ts";
import { openLane } from "../../../apps/api/src/payments/open-lane.ts";
import { startEngineWorld, type QuotedRequest, type EngineWorld } from "../../support/engine-world.ts";
import { runJob } from "../../support/run-job.ts";
import { withChain } from "../../support/with-chain.ts";
import { someHash } from "../../support/terms.ts";

const DAY_MS = 24 * 3_600_000;

let world: EngineWorld;

beforeEach(async () => {
  world = await startEngineWorld({ chain: { finalityBlocks: 2 } });
});
afterEach(async () => await world.stop());

/** The services of a worker with these limits for the solver, in USD. */
function limited(limits: Partial<Record<keyof LaneLimits, number>>): WorkerServices {
  const usd = (value: number | undefined) =>
    value === undefined ? undefined : parseUnits(String(value), 18);
  const limit = {
    key: "solver",
    chainId: undefined,
    transactionUsd: usd(limits.transactionUsd),
    dayUsd: usd(limits.dayUsd),
    maxFeePerGasWei: limits.maxFeePerGasWei === undefined ? undefined : BigInt(limits.maxFeePerGasWei),
  } as const;
  return { ...world.services, spendingLimits: [limit], spentMemory: spentMemory() };
}

/** A request of 100 USDC whose deposit was just seen. */
async function deposited(workerServices: WorkerServices, ask = {}): Promise<QuotedRequest> {
  const agreed = await world.quote({ recipient: world.anAddress(), ttl: 7 * 24 * 3600, ...ask });
  await world.pay(agreed);
  await world.origin.mine();
  await world.watch(world.origin, workerServices);
  await world.work(workerServices);
  return agreed;
}

const received = async ({ terms }: QuotedRequest): Promise<bigint> =>
  await world.destination.balance(terms.recipient, terms.destination.currency);

async function rounds(workerServices: WorkerServices, count = 6): Promise<void> {
  for (let round = 0; round < count; round++) {
    world.clock.forward(3_000);
    await world.round(workerServices);
  }
}

/** Inserts a slot, as anyone with write access to the database could. */
async function plant(change: Partial<SlotPlan> & Pick<SlotPlan, "call">): Promise<void> {
  const { destination, services, usdc } = world;
  const { maxFeePerGas, maxPriorityFeePerGas } = destination.connected.pulse.gasPrices();
  await services.uow.run(async (tx) => {
    await tx.lanes.reserve(
      [
        {
          chainId: destination.chain.id,
          sender: services.signer.address,
          leg: { kind: "claim", id: someHash(), requestId: undefined },
          gasLimit: 100_000n,
          maxFeePerGas,
          maxPriorityFeePerGas,
          outflow: { currency: usdc, amount: 0n },
          cancelAfterMs: services.clock.nowMs() + DAY_MS,
          ...change,
        },
      ],
      services.clock.nowMs(),
    );
  });
}

/** Inserts a payout and its slot, as anyone with write access to the database could. */
async function plantClaim(
  recipient: Address,
  amount: bigint,
  sender = world.services.signer.address,
): Promise<void> {
  const { destination, pool, usdc } = world;
  const id = someHash();
  await pool.query(
    `insert into claims (claim_id, wallet, chain_id, currency, recipient, amount, fee_amount, expires_at, state, created_at_ms, updated_at_ms)
     values ($1, $3, $2, $4, $3, $5, 0, 1, 'paying', 1, 1)`,
    [id, destination.chain.id, recipient, usdc, amount.toString()],
  );
  await plant({
    sender,
    leg: { kind: "claim", id, requestId: undefined },
    call: transferCall(usdc, recipient, amount),
  });
}

test("planted slots move no funds, planted payouts move at most the daily limit, and cancel transactions use their nonces", async () => {
  const { destination, usdc, services } = world;
  const workerServices = limited({ dayUsd: 150 });
  const thief = world.anAddress();
  const agreed = await deposited(workerServices);
  await rounds(workerServices);
  expect(await received(agreed)).toBe(agreed.terms.destination.expectedAmount);
  const other = await world.quote({ recipient: world.anAddress() });
  await plant({ call: transferCall(usdc, thief, 10_000_000n) });
  await plant({
    call: transferCall(NATIVE_CURRENCY, thief, 10n ** 18n),
    leg: { kind: "hub", id: "9", requestId: undefined },
  });
  await plant({
    call: paymentCall(
      { currency: usdc, amount: 10_000_000n, recipient: thief, orderId: other.terms.orderId },
      false,
      NATIVE_CURRENCY,
    ),
    leg: { kind: "fill", id: other.requestId, requestId: other.requestId },
  });
  // Complete planted payouts are paid up to the limit, and only by the key for payouts.
  for (let n = 0; n < 3; n++) await plantClaim(thief, 40_000_000n);
  await plantClaim(thief, 1_000_000n, services.executor?.address);
  // The slot has a planted attempt, and other rows claim that its amount was counted.
  await plant({ call: transferCall(usdc, thief, 20_000_000n) });
  await world.pool.query(
    `insert into attempts (slot_id, n, kind, raw, tx_hash, max_fee_per_gas, max_priority_fee_per_gas, created_at_ms, broadcast_at_ms, first_broadcast_at_ms, offered_since_ms)
     select max(id), 0, 'pay', '0x02', '0x${"02".repeat(32)}', 1, 1, 1, 1, 1, 1 from slots`,
  );
  await world.pool.query(
    "insert into spent_slots (slot_id, chain_id, key_name, day, usd) select max(id), 1, 'solver', 1, 1e30 from slots",
  );
  await world.pool.query("delete from spent_days");
  world.clock.forward(services.enginePolicy.stuckAfterMs + 1);
  await world.maintainLaneOf(destination, workerServices);
  // No ledger has the planted claims. From now on only their slots matter.
  await world.pool.query("delete from claims");
  await rounds(workerServices, 8);
  expect(await destination.balance(thief, usdc)).toBe(40_000_000n);
  expect(await destination.balance(thief, NATIVE_CURRENCY)).toBe(0n);
  const { rows } = await world.pool.query(
    "select cancel_reason is null as paid, count(*)::int from slots where leg_kind in ('claim', 'hub') group by 1 order by 1",
  );
  expect(rows).toEqual([
    { paid: false, count: 6 },
    { paid: true, count: 1 },
  ]);
  expect(world.events.of("signature_refused").map(({ facts }) => facts["rule"])).toEqual(
    expect.arrayContaining(["leg", "amount", "key", "day"]),
  );
  // After its slot ended, no payment is still held.
  const ended = await world.pool.query(
    "select rule from held_payments join slots using (leg_kind, leg_id) where state = 'dead'",
  );
  expect(ended.rows).toEqual([]);
  // The process still counts 140 of the 150 USD, although the rows were deleted from the database.
  const second = await deposited(workerServices);
  await rounds(workerServices);
  expect(await received(second)).toBe(0n);
});

test("a fill above the daily limit waits, is reported as held, and is paid the next day", async () => {
  const workerServices = limited({ dayUsd: 150 });
  const [first, second] = [await deposited(workerServices), await deposited(workerServices)];
  await rounds(workerServices);
  expect([await received(first), await received(second)]).toEqual([
    first.terms.destination.expectedAmount,
    0n,
  ]);
  expect(await world.status(second.requestId)).toMatchObject({
    status: "pending",
    nextAction: "wait_for_fill",
    heldReason: "The payment waits because the operator's policy does not allow it now",
  });
  const notes = await world.pool.query(
    "select detail from request_events where request_id = $1 and event = 'paymentHeld'",
    [second.requestId],
  );
  expect(notes.rows).toHaveLength(1);
  expect(await laneReport(sqlOn(world.pool))).toContainEqual(
    expect.objectContaining({ held_payment: "fill", request_id: second.requestId, rule: "day" }),
  );
  world.clock.forward(DAY_MS);
  await rounds(workerServices);
  expect(await received(second)).toBe(second.terms.destination.expectedAmount);
  expect(await world.status(second.requestId)).not.toHaveProperty("heldReason");
});

test("two workers share one daily limit, and a payment that was never made releases its part", async () => {
  const { destination } = world;
  const losingWriter = {
    ...destination.connected.connection.writer,
    broadcast: async () => ({ kind: "accepted" }) as const,
  };
  const withLostBroadcasts = () =>
    withChain(limited({ dayUsd: 150 }), destination.connected, { connection: { writer: losingWriter } });
  const [first, second] = [withLostBroadcasts(), withLostBroadcasts()];
  const agreed = [
    await world.quote({ recipient: world.anAddress() }),
    await world.quote({ recipient: world.anAddress() }),
  ];
  for (const each of agreed) await world.pay(each);
  await world.origin.mine();
  await world.watch(world.origin, first);
  const { rows } = await world.pool.query<{ payload: string }>(
    "update outbox set published_at_ms = 1 where published_at_ms is null returning payload",
  );
  await Promise.all(
    rows.map(async ({ payload }, at) => await runJob(at === 0 ? first : second, "fill", JSON.parse(payload))),
  );
  const slots = await world.pool.query("select id from slots where leg_kind = 'fill'");
  expect(slots.rows).toHaveLength(1);
  const days = await world.pool.query<{ usd: string }>("select usd from spent_days");
  expect(Number(days.rows[0]?.usd) / 1e18).toBeGreaterThan(99);
  // No node received the payment before its deadline, so a cancel transaction uses its nonce.
  world.clock.forward(8 * DAY_MS);
  await rounds(limited({ dayUsd: 150 }), 8);
  const after = await world.pool.query<{ usd: string }>(
    "select usd from spent_days where day = (select min(day) from spent_days)",
  );
  expect(Number(after.rows[0]?.usd) / 1e18).toBeLessThan(1);
});

test("counts a fill once if its process crashed before signing and its price then rose", async () => {
  const workerServices = limited({ dayUsd: 150 });
  const signDigest = async () => await Promise.reject(new Error("the process died"));
  const dying = { ...workerServices, signer: { ...workerServices.signer, signDigest } };
  const agreed = await world.quote({ recipient: world.anAddress(), ttl: 7 * 24 * 3600 });
  await world.pay(agreed);
  await world.origin.mine();
  await world.watch(world.origin, dying);
  await world.work(dying).catch(() => undefined);
  expect((await workerServices.reads.slotOfLeg("fill", agreed.requestId))?.attempts).toEqual([]);
  world.prices.set("usd-coin", "1.01");
  world.clock.forward(workerServices.enginePolicy.orphanedAfterMs + 1);
  await rounds(workerServices);
  expect(await received(agreed)).toBe(agreed.terms.destination.expectedAmount);
});

test("a fill waits until the next day even if only the process's memory counts the limit as spent", async () => {
  const { destination, services, clock, usdc } = world;
  const workerServices = limited({ dayUsd: 150 });
  const call = transferCall(usdc, world.anAddress(), 1n);
  const outflow = { currency: usdc, amount: 1n };
  const { address: sender } = services.signer;
  // In the database alone, another process released the amount of an unpaid payment.
  const payment = { id: "0", chainId: destination.chain.id, sender, nonce: 0, call, outflow };
  const day = Math.floor(clock.nowMs() / DAY_MS);
  workerServices.spentMemory?.add({
    payment,
    key: "solver",
    day,
    usd: parseUnits("100", 18),
    maxUsd: undefined,
  });
  const agreed = await deposited(workerServices);
  await rounds(workerServices);
  expect(await services.reads.slotOfLeg("fill", agreed.requestId)).toBeUndefined();
  expect((await world.request(agreed.requestId)).state.name).toBe("fillable");
  clock.forward(DAY_MS);
  await rounds(workerServices);
  expect(await received(agreed)).toBe(agreed.terms.destination.expectedAmount);
});

test("a stuck fill is replaced under limits that became too low for it, also without a price, up to the fee limit", async () => {
  const { destination, clock, services } = world;
  const agreed = await deposited(services);
  const stuck = async (): Promise<number> => {
    clock.forward(services.enginePolicy.stuckAfterMs + 1);
    return (await services.reads.slotOfLeg("fill", agreed.requestId))?.attempts.length ?? 0;
  };
  const first = await services.reads.slotOfLeg("fill", agreed.requestId);
  const baseFeePerGas = (first?.attempts[0]?.maxFeePerGas ?? 0n) * 3n;
  await destination.client.setNextBlockBaseFeePerGas({ baseFeePerGas });
  await destination.mine();
  await world.watch(destination);
  expect(await stuck()).toBe(1);
  world.prices.set("usd-coin", undefined);
  await world.maintainLaneOf(destination, limited({ transactionUsd: 1, dayUsd: 1, maxFeePerGasWei: 1 }));
  expect(await stuck()).toBe(1);
  await world.maintainLaneOf(destination, limited({ transactionUsd: 1, dayUsd: 1 }));
  expect(await stuck()).toBe(2);
  world.prices.set("usd-coin", "1");
  await rounds(services);
  expect(await received(agreed)).toBe(agreed.terms.destination.expectedAmount);
});

test("while a chain is paused, new fills wait and are then refunded, and payments in progress continue", async () => {
  const { services, destination } = world;
  const pauses = pauseStore(sqlOn(world.pool));
  const scope = { kind: "chain", chainId: destination.chain.id } as const;
  const inFlight = await deposited(services);
  await pauses.add({ scope, pausedBy: "ann", reason: "drill", sinceMs: 1 });
  const waiting = await deposited(services, { ttl: 600 });
  const late = await deposited(services, { ttl: 7 * 24 * 3600 });
  await rounds(services);
  expect(await received(inFlight)).toBe(inFlight.terms.destination.expectedAmount);
  expect(await received(waiting)).toBe(0n);
  expect(await world.status(waiting.requestId)).toMatchObject({
    nextAction: "wait_for_fill",
    heldReason: "The operator has paused new payments of this route",
  });
  world.clock.forward(3_600_000);
  expect(await world.untilFinal(waiting.requestId)).toMatchObject({ status: "refund" });
  expect(await received(late)).toBe(0n);
  await pauses.remove(scope);
  expect(await world.untilFinal(late.requestId)).toMatchObject({ status: "success" });
  const known = [{ scope, pausedBy: "ann", reason: "drill", sinceMs: 1 }];
  await expect(world.quote({}, undefined, { pauses: () => known })).rejects.toMatchObject({
    code: "SERVICE_UNAVAILABLE",
  });
});

test("after a rotation, the new key pays orders agreed before it, and counts against the same daily limit", async () => {
  const { destination, origin, services } = world;
  const workerServices = limited({ dayUsd: 150 });
  const first = await deposited(workerServices);
  const second = await world.quote({ recipient: world.anAddress(), ttl: 7 * 24 * 3600 });
  await world.pay(second);
  await origin.mine();
  const signer = rawKeySigner(`0x${"e3".repeat(32)}`);
  await destination.fund(signer.address, { native: 10n ** 20n, tokens: 100_000_000n });
  await destination.mine();
  const rotated = { ...workerServices, signer, formerSigners: [services.signer] };
  await openLane(rotated, destination.connected);
  await rounds(rotated);
  expect(await received(first)).toBe(first.terms.destination.expectedAmount);
  expect(await received(second)).toBe(0n);
  world.clock.forward(DAY_MS);
  await rounds(rotated);
  expect(await received(second)).toBe(second.terms.destination.expectedAmount);
});
