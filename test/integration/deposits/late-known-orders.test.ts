import type { TxHash } from "@causeway/domain";
import { afterAll, beforeAll, expect, test } from "vitest";
import { strandedFunds } from "../../../apps/api/src/payments/operator-reads.postgres.ts";
import { sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import type { WorkerServices } from "../../../apps/api/src/db/services.port.ts";
import { attributeRecordedDeposits } from "../../../apps/api/src/payments/attribute-recorded-deposits.ts";
import { openLane } from "../../../apps/api/src/payments/open-lane.ts";
import { returnUnattributed } from "../../../apps/api/src/deposits/return-unattributed.ts";
import { isCrash, crashingServices } from "../../fakes/crashing-services.ts";
import { deposit } from "../../support/deposits.ts";
import {
  startEngineWorld,
  type QuotedRequest,
  type QuoteOverrides,
  type EngineWorld,
} from "../../support/engine-world.ts";
import { loseRows } from "../../support/lost-rows.ts";
import { runOperatorRefund } from "../../support/operator-refund.ts";
import { someHash } from "../../support/terms.ts";

const HOUR_MS = 3_600_000;
let world: EngineWorld;

beforeAll(async () => {
  world = await startEngineWorld({
    chain: { finalityBlocks: 3 },
    policy: { unattributedRefundAfterMs: HOUR_MS },
  });
});
afterAll(async () => await world.stop());

interface LostRequest {
  readonly agreed: QuotedRequest;
  readonly hash: TxHash;
  /** Restores the request's row, with `changed` columns. */
  readonly restore: (changed?: Readonly<Record<string, unknown>>) => Promise<void>;
}

/** Pays a request, and removes the request's row before the deposit is scanned. */
async function payAndLoseRequest(ask: QuoteOverrides = {}): Promise<LostRequest> {
  const agreed = await world.quote({ recipient: world.anAddress(), ...ask });
  const { rows } = await world.pool.query<{ row: object }>(
    "delete from requests where request_id = $1 returning to_jsonb(requests) as row",
    [agreed.requestId],
  );
  const hash = await world.pay(agreed);
  await world.origin.mine();
  await world.watch(world.origin);
  return {
    agreed,
    hash,
    async restore(changed = {}) {
      await world.pool.query("insert into requests select (jsonb_populate_record(null::requests, $1)).*", [
        JSON.stringify({ ...rows[0]?.row, ...changed }),
      ]);
    },
  };
}

interface Row {
  readonly id: number;
  readonly disposition: string;
  readonly request_id: string | null;
  readonly refund_state: string;
  readonly refund_waits: string | null;
}

async function rowOf(hash: TxHash): Promise<Row> {
  const { rows } = await world.pool.query<Row>("select * from deposits where tx_hash = $1", [hash]);
  const [row, ...moreRows] = rows;
  if (row === undefined || moreRows.length > 0) throw new Error(`${rows.length} deposits of ${hash}`);
  return row;
}

/** Runs the worker's periodic check of deposits for unknown orders. */
async function checkUnattributed(workerServices: WorkerServices = world.services): Promise<void> {
  const connected = workerServices.chains.get(world.origin.chain.id) ?? world.origin.connected;
  await attributeRecordedDeposits(workerServices, connected);
  const tip = await workerServices.reads.cursor(connected.chain.id);
  await returnUnattributed(workerServices, connected, tip?.number ?? 0n);
}

async function runRounds(count = 5, workerServices: WorkerServices = world.services): Promise<void> {
  for (let round = 0; round < count; round++) {
    await world.round(workerServices);
    await checkUnattributed(workerServices);
    await world.work(workerServices);
  }
}

/** The payments on either chain for the request or its deposit. There must be at most one. */
async function countPayments({
  agreed,
  hash,
}: LostRequest): Promise<{ fills: number; refunds: number; returns: number }> {
  const [fills, refunds, sentTransactions] = await Promise.all([
    world.paymentsOf(agreed, world.destination),
    world.paymentsOf(agreed, world.origin),
    world.origin.sentBy(world.solver.address),
  ]);
  const returns = sentTransactions.filter(
    ({ input, succeeded }) => succeeded && input.endsWith(hash.slice(2)),
  );
  return { fills: fills.length, refunds: refunds.length, returns: returns.length };
}

test("fills a deposit once if its request becomes known before the deadline", async () => {
  const lostRequest = await payAndLoseRequest();
  await checkUnattributed();
  expect(await rowOf(lostRequest.hash)).toMatchObject({ disposition: "unattributed", request_id: null });
  await lostRequest.restore();
  await checkUnattributed();
  expect(await rowOf(lostRequest.hash)).toMatchObject({
    disposition: "accepted",
    request_id: lostRequest.agreed.requestId,
    refund_state: "none",
  });
  await runRounds();
  expect(await world.status(lostRequest.agreed.requestId)).toMatchObject({ status: "success" });
  world.clock.forward(2 * HOUR_MS);
  await runRounds();
  expect(await countPayments(lostRequest)).toEqual({ fills: 1, refunds: 0, returns: 0 });
});

test("a deposit whose request becomes known after its deadline is refunded to the request's refund address once", async () => {
  const refundTo = world.anAddress();
  const lostRequest = await payAndLoseRequest({ refundTo });
  world.clock.forward(lostRequest.agreed.terms.fillDeadlineMs - world.clock.nowMs() + 1);
  await lostRequest.restore();
  await runRounds();
  expect(await world.status(lostRequest.agreed.requestId)).toMatchObject({ status: "refund" });
  expect(await world.origin.balance(refundTo, world.usdc)).toBeGreaterThan(0n);
  world.clock.forward(2 * HOUR_MS);
  await runRounds();
  expect(await countPayments(lostRequest)).toEqual({ fills: 0, refunds: 1, returns: 0 });
});

test("a deposit with too few confirmations waits for them, and a reorg removes it from its request", async () => {
  const lostRequest = await payAndLoseRequest();
  await lostRequest.restore();
  await checkUnattributed();
  expect(await world.request(lostRequest.agreed.requestId)).toMatchObject({ state: { name: "deposited" } });
  await world.origin.reorg(2);
  await world.watch(world.origin);
  expect(await world.request(lostRequest.agreed.requestId)).toMatchObject({ state: { name: "quoted" } });
  await runRounds();
  expect(await countPayments(lostRequest)).toEqual({ fills: 0, refunds: 0, returns: 0 });
});

test("a deposit that a reorg dropped is not assigned", async () => {
  const lostRequest = await payAndLoseRequest();
  await world.origin.reorg(2);
  await world.watch(world.origin);
  await lostRequest.restore();
  await checkUnattributed();
  expect(await rowOf(lostRequest.hash)).toMatchObject({ disposition: "unattributed", request_id: null });
});

test("a planned return of a deposit continues, and the deposit does not fill its request", async () => {
  const lostRequest = await payAndLoseRequest();
  await world.origin.mine(3);
  await world.watch(world.origin);
  world.clock.forward(HOUR_MS);
  await checkUnattributed();
  expect(await rowOf(lostRequest.hash)).toMatchObject({ disposition: "refund", refund_state: "none" });
  await lostRequest.restore();
  await runRounds();
  expect(await rowOf(lostRequest.hash)).toMatchObject({ refund_state: "final", request_id: null });
  expect(await countPayments(lostRequest)).toEqual({ fills: 0, refunds: 0, returns: 1 });
});

test("a return that the operator released continues, and the deposit does not fill its request", async () => {
  const lostRequest = await payAndLoseRequest();
  await world.origin.mine(3);
  await world.watch(world.origin);
  expect(await runOperatorRefund(world, lostRequest.hash, "--yes")).toMatchObject({ code: 0 });
  await lostRequest.restore();
  await runRounds();
  expect(await countPayments(lostRequest)).toEqual({ fills: 0, refunds: 0, returns: 1 });
});

test("two concurrent workers assign a deposit once, even if one of them would return it", async () => {
  const lostRequest = await payAndLoseRequest();
  for (let round = 0; round < 3; round++) await world.round();
  world.clock.forward(HOUR_MS);
  await Promise.all([lostRequest.restore(), checkUnattributed(), checkUnattributed()]);
  await Promise.all([checkUnattributed(), checkUnattributed()]);
  await Promise.all([world.work(), world.work()]);
  await runRounds();
  world.clock.forward(2 * HOUR_MS);
  await runRounds();
  const { fills, refunds, returns } = await countPayments(lostRequest);
  expect(fills + refunds + returns).toBe(1);
});

test("a deposit that is returned, or that a reorg drops, during the check is not assigned", async () => {
  for (const change of ["disposition = 'refund'", "canonical = false", "refund_state = 'sent'"]) {
    const lostRequest = await payAndLoseRequest();
    await lostRequest.restore();
    const { reads } = world.services;
    const slotOfLeg: typeof reads.slotOfLeg = async (...leg) => {
      await world.pool.query(`update deposits set ${change} where tx_hash = $1`, [lostRequest.hash]);
      return await reads.slotOfLeg(...leg);
    };
    await attributeRecordedDeposits(
      { ...world.services, reads: { ...reads, slotOfLeg } },
      world.origin.connected,
    );
    expect(await rowOf(lostRequest.hash), change).toMatchObject({ request_id: null });
    expect((await world.request(lostRequest.agreed.requestId)).state.depositId, change).toBeUndefined();
    await world.pool.query("delete from deposits where tx_hash = $1", [lostRequest.hash]);
  }
});

test("dust that is assigned while another worker marks dust stays with its request", async () => {
  const lostRequest = await payAndLoseRequest();
  await world.origin.mine(3);
  await world.watch(world.origin);
  world.clock.forward(HOUR_MS);
  const { reads } = world.services;
  const unattributedDeposits: typeof reads.unattributedDeposits = async (...args) => {
    const deposits = await reads.unattributedDeposits(...args);
    await lostRequest.restore();
    await attributeRecordedDeposits(world.services, world.origin.connected);
    return deposits.map((deposit) => ({ ...deposit, amount: 1n }));
  };
  await returnUnattributed(
    { ...world.services, reads: { ...reads, unattributedDeposits } },
    world.origin.connected,
    1_000_000n,
  );
  expect(await rowOf(lostRequest.hash)).toMatchObject({
    disposition: "accepted",
    refund_state: "none",
    request_id: lostRequest.agreed.requestId,
  });
  await runRounds();
  expect(await countPayments(lostRequest)).toEqual({ fills: 1, refunds: 0, returns: 0 });
});

test("after a crash of the worker at any step, another one pays once for the deposit", async () => {
  const crashes = new Set<string>();
  for (let crashAt = 0; ; crashAt++) {
    const lostRequest = await payAndLoseRequest();
    await lostRequest.restore();
    const crashing = crashingServices(world.services, crashAt);
    try {
      await checkUnattributed(crashing);
    } catch (error) {
      if (!crashing.hasCrashed() || !isCrash(error)) throw error;
    }
    await runRounds(4);
    const moment = crashing.moments.at(-1) ?? "before anything";
    expect(await countPayments(lostRequest), moment).toEqual({ fills: 1, refunds: 0, returns: 0 });
    if (!crashing.hasCrashed()) break;
    crashes.add(moment);
  }
  expect(crashes).toContain("before commit");
  expect(crashes).toContain("after commit");
}, 240_000);

test("deposits of known orders that are not assigned yet do not delay returns of others", async () => {
  const lostRequest = await payAndLoseRequest();
  const stray = await deposit(world.origin, world.user, lostRequest.agreed, {
    id: someHash(),
    depositor: world.anAddress(),
  });
  for (let round = 0; round < 4; round++) await world.round();
  // There are more deposits than one check handles, and all are older than the deposit to return.
  await world.pool.query(
    `insert into deposits (chain_id, tx_hash, ordinal, block_number, block_hash, canonical, confirm_at_block, depositor, sender, currency,
       amount, value_usd, order_id, disposition, seen_at_ms)
     select chain_id, tx_hash, n, block_number, block_hash, canonical, confirm_at_block, depositor, sender, currency, amount, value_usd, order_id,
       disposition, seen_at_ms - n from deposits, generate_series(1, 60) n where tx_hash = $1`,
    [lostRequest.hash],
  );
  await lostRequest.restore();
  world.clock.forward(HOUR_MS);
  await returnUnattributed(world.services, world.origin.connected, 1_000_000n);
  expect(await rowOf(stray)).toMatchObject({ disposition: "refund" });
  await checkUnattributed();
  const { rows } = await world.pool.query("select from deposits where tx_hash = $1 and request_id is null", [
    lostRequest.hash,
  ]);
  expect(rows).toHaveLength(0);
  await world.pool.query("delete from deposits where tx_hash = $1", [lostRequest.hash]);
  await world.pool.query("delete from requests where request_id = $1", [lostRequest.agreed.requestId]);
});

test("leaves a deposit to the operator if its request refers to a deposit that is not stored", async () => {
  const lostRequest = await payAndLoseRequest();
  await lostRequest.restore({ state: "submitted", deposit_id: 1_000_001 });
  const alarms = world.events.of("deposit_unattributed").length;
  await checkUnattributed();
  await checkUnattributed();
  const { id, ...row } = await rowOf(lostRequest.hash);
  expect(row).toMatchObject({
    disposition: "unattributed",
    refund_state: "none",
    refund_waits:
      "the request refers to deposit 1000001, which is missing in the database and may be this deposit",
  });
  expect(world.events.of("deposit_unattributed")).toHaveLength(alarms + 1);
  expect(await strandedFunds(sqlOn(world.pool))).toContainEqual(expect.objectContaining({ id }));
  await world.pool.query("delete from requests where request_id = $1", [lostRequest.agreed.requestId]);
});

test("a deposit whose slot shows a return is left to the operator", async () => {
  const lostRequest = await payAndLoseRequest();
  await world.origin.mine(3);
  await world.watch(world.origin);
  world.clock.forward(HOUR_MS);
  await checkUnattributed();
  await runRounds();
  const { id } = await rowOf(lostRequest.hash);
  await world.pool.query(
    "update deposits set refund_state = 'none', disposition = 'unattributed' where id = $1",
    [id],
  );
  await lostRequest.restore();
  await runRounds();
  expect(await rowOf(lostRequest.hash)).toMatchObject({
    refund_waits: expect.stringMatching(/^slot \d+ already refunds this deposit$/),
  });
  expect(await countPayments(lostRequest)).toEqual({ fills: 0, refunds: 0, returns: 1 });
});

test("a request that a failover lost together with its fill is not filled again when only its row is restored", async () => {
  const { services, pool, destination } = world;
  const agreed = await world.quote({ recipient: world.anAddress() });
  const row = await pool.query<{ row: object }>(
    "select to_jsonb(requests) as row from requests where request_id = $1",
    [agreed.requestId],
  );
  const hash = await world.pay(agreed);
  for (let round = 0; round < 5; round++) await world.round();
  const lostRequest: LostRequest = { agreed, hash, restore: async () => undefined };
  expect(await countPayments(lostRequest)).toEqual({ fills: 1, refunds: 0, returns: 0 });
  const slot = await services.reads.slotOfLeg("fill", agreed.requestId);
  if (slot === undefined) throw new Error("the fill has no slot");
  await loseRows(pool, slot);
  await pool.query(
    "update deposits set request_id = null, disposition = 'unattributed' where request_id = $1",
    [agreed.requestId],
  );
  await pool.query("delete from requests where request_id = $1", [agreed.requestId]);
  await openLane(services, destination.connected);

  await pool.query("insert into requests select (jsonb_populate_record(null::requests, $1)).*", [
    JSON.stringify(row.rows[0]?.row),
  ]);
  await runRounds();
  expect(await countPayments(lostRequest)).toEqual({ fills: 1, refunds: 0, returns: 0 });
});

test("a deposit whose return a failover lost is not assigned while that payment has no rows", async () => {
  const lostRequest = await payAndLoseRequest();
  await world.origin.mine(3);
  await world.watch(world.origin);
  world.clock.forward(HOUR_MS);
  await checkUnattributed();
  await runRounds();
  const { id } = await rowOf(lostRequest.hash);
  const slot = await world.services.reads.slotOfLeg("refund", String(id));
  if (slot === undefined) throw new Error("the return has no slot");
  await loseRows(world.pool, slot);
  await world.pool.query(
    "update deposits set refund_state = 'none', disposition = 'unattributed' where id = $1",
    [id],
  );
  await openLane(world.services, world.origin.connected);
  await lostRequest.restore();
  await runRounds();
  expect(await rowOf(lostRequest.hash)).toMatchObject({ disposition: "unattributed", request_id: null });
  expect(await countPayments(lostRequest)).toEqual({ fills: 0, refunds: 0, returns: 1 });
});
