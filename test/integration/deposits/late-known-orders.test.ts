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

interface Lost {
  readonly agreed: QuotedRequest;
  readonly hash: TxHash;
  /** Restores the request's row, with `changed` columns. */
  readonly restore: (changed?: Readonly<Record<string, unknown>>) => Promise<void>;
}

/** Pays a request, and removes the request's row before the deposit is scanned. */
async function lostRequest(ask: QuoteOverrides = {}): Promise<Lost> {
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
  const [row, ...others] = rows;
  if (row === undefined || others.length > 0) throw new Error(`${rows.length} deposits of ${hash}`);
  return row;
}

/** Runs the worker's periodic check of deposits for unknown orders. */
async function checkUnattributed(by: WorkerServices = world.services): Promise<void> {
  const connected = by.chains.get(world.origin.chain.id) ?? world.origin.connected;
  await attributeRecordedDeposits(by, connected);
  const tip = await by.reads.cursor(connected.chain.id);
  await returnUnattributed(by, connected, tip?.number ?? 0n);
}

async function rounds(count = 5, by: WorkerServices = world.services): Promise<void> {
  for (let round = 0; round < count; round++) {
    await world.round(by);
    await checkUnattributed(by);
    await world.work(by);
  }
}

/** The payments on either chain for the request or its deposit. There must be at most one. */
async function payments({
  agreed,
  hash,
}: Lost): Promise<{ fills: number; refunds: number; returns: number }> {
  const [fills, refunds, sent] = await Promise.all([
    world.paymentsOf(agreed, world.destination),
    world.paymentsOf(agreed, world.origin),
    world.origin.sentBy(world.solver.address),
  ]);
  const returns = sent.filter(({ input, succeeded }) => succeeded && input.endsWith(hash.slice(2)));
  return { fills: fills.length, refunds: refunds.length, returns: returns.length };
}

test("fills a deposit once if its request becomes known before the deadline", async () => {
  const lost = await lostRequest();
  await checkUnattributed();
  expect(await rowOf(lost.hash)).toMatchObject({ disposition: "unattributed", request_id: null });
  await lost.restore();
  await checkUnattributed();
  expect(await rowOf(lost.hash)).toMatchObject({
    disposition: "accepted",
    request_id: lost.agreed.requestId,
    refund_state: "none",
  });
  await rounds();
  expect(await world.status(lost.agreed.requestId)).toMatchObject({ status: "success" });
  world.clock.forward(2 * HOUR_MS);
  await rounds();
  expect(await payments(lost)).toEqual({ fills: 1, refunds: 0, returns: 0 });
});

test("a deposit whose request becomes known after its deadline is refunded to the request's refund address once", async () => {
  const refundTo = world.anAddress();
  const lost = await lostRequest({ refundTo });
  world.clock.forward(lost.agreed.terms.fillDeadlineMs - world.clock.nowMs() + 1);
  await lost.restore();
  await rounds();
  expect(await world.status(lost.agreed.requestId)).toMatchObject({ status: "refund" });
  expect(await world.origin.balance(refundTo, world.usdc)).toBeGreaterThan(0n);
  world.clock.forward(2 * HOUR_MS);
  await rounds();
  expect(await payments(lost)).toEqual({ fills: 0, refunds: 1, returns: 0 });
});

test("a deposit with too few confirmations waits for them, and a reorg removes it from its request", async () => {
  const lost = await lostRequest();
  await lost.restore();
  await checkUnattributed();
  expect(await world.request(lost.agreed.requestId)).toMatchObject({ state: { name: "deposited" } });
  await world.origin.reorg(2);
  await world.watch(world.origin);
  expect(await world.request(lost.agreed.requestId)).toMatchObject({ state: { name: "quoted" } });
  await rounds();
  expect(await payments(lost)).toEqual({ fills: 0, refunds: 0, returns: 0 });
});

test("a deposit that a reorg dropped is not assigned", async () => {
  const lost = await lostRequest();
  await world.origin.reorg(2);
  await world.watch(world.origin);
  await lost.restore();
  await checkUnattributed();
  expect(await rowOf(lost.hash)).toMatchObject({ disposition: "unattributed", request_id: null });
});

test("a planned return of a deposit continues, and the deposit does not fill its request", async () => {
  const lost = await lostRequest();
  await world.origin.mine(3);
  await world.watch(world.origin);
  world.clock.forward(HOUR_MS);
  await checkUnattributed();
  expect(await rowOf(lost.hash)).toMatchObject({ disposition: "refund", refund_state: "none" });
  await lost.restore();
  await rounds();
  expect(await rowOf(lost.hash)).toMatchObject({ refund_state: "final", request_id: null });
  expect(await payments(lost)).toEqual({ fills: 0, refunds: 0, returns: 1 });
});

test("a return that the operator released continues, and the deposit does not fill its request", async () => {
  const lost = await lostRequest();
  await world.origin.mine(3);
  await world.watch(world.origin);
  expect(await runOperatorRefund(world, lost.hash, "--yes")).toMatchObject({ code: 0 });
  await lost.restore();
  await rounds();
  expect(await payments(lost)).toEqual({ fills: 0, refunds: 0, returns: 1 });
});

test("two concurrent workers assign a deposit once, even if one of them would return it", async () => {
  const lost = await lostRequest();
  for (let round = 0; round < 3; round++) await world.round();
  world.clock.forward(HOUR_MS);
  await Promise.all([lost.restore(), checkUnattributed(), checkUnattributed()]);
  await Promise.all([checkUnattributed(), checkUnattributed()]);
  await Promise.all([world.work(), world.work()]);
  await rounds();
  world.clock.forward(2 * HOUR_MS);
  await rounds();
  const { fills, refunds, returns } = await payments(lost);
  expect(fills + refunds + returns).toBe(1);
});

test("a deposit that is returned, or that a reorg drops, during the check is not assigned", async () => {
  for (const change of ["disposition = 'refund'", "canonical = false", "refund_state = 'sent'"]) {
    const lost = await lostRequest();
    await lost.restore();
    const { reads } = world.services;
    const slotOfLeg: typeof reads.slotOfLeg = async (...leg) => {
      await world.pool.query(`update deposits set ${change} where tx_hash = $1`, [lost.hash]);
      return await reads.slotOfLeg(...leg);
    };
    await attributeRecordedDeposits(
      { ...world.services, reads: { ...reads, slotOfLeg } },
      world.origin.connected,
    );
    expect(await rowOf(lost.hash), change).toMatchObject({ request_id: null });
    expect((await world.request(lost.agreed.requestId)).state.depositId, change).toBeUndefined();
    await world.pool.query("delete from deposits where tx_hash = $1", [lost.hash]);
  }
});

test("dust that is assigned while another worker marks dust stays with its request", async () => {
  const lost = await lostRequest();
  await world.origin.mine(3);
  await world.watch(world.origin);
  world.clock.forward(HOUR_MS);
  const { reads } = world.services;
  const unattributedDeposits: typeof reads.unattributedDeposits = async (...due) => {
    const found = await reads.unattributedDeposits(...due);
    await lost.restore();
    await attributeRecordedDeposits(world.services, world.origin.connected);
    return found.map((deposit) => ({ ...deposit, amount: 1n }));
  };
  await returnUnattributed(
    { ...world.services, reads: { ...reads, unattributedDeposits } },
    world.origin.connected,
    1_000_000n,
  );
  expect(await rowOf(lost.hash)).toMatchObject({
    disposition: "accepted",
    refund_state: "none",
    request_id: lost.agreed.requestId,
  });
  await rounds();
  expect(await payments(lost)).toEqual({ fills: 1, refunds: 0, returns: 0 });
});

test("after a crash of the worker at any step, another one pays once for the deposit", async () => {
  const crashes = new Set<string>();
  for (let crashAt = 0; ; crashAt++) {
    const lost = await lostRequest();
    await lost.restore();
    const crashing = crashingServices(world.services, crashAt);
    try {
      await checkUnattributed(crashing);
    } catch (error) {
      if (!crashing.hasCrashed() || !isCrash(error)) throw error;
    }
    await rounds(4);
    const moment = crashing.moments.at(-1) ?? "before anything";
    expect(await payments(lost), moment).toEqual({ fills: 1, refunds: 0, returns: 0 });
    if (!crashing.hasCrashed()) break;
    crashes.add(moment);
  }
  expect(crashes).toContain("before commit");
  expect(crashes).toContain("after commit");
}, 240_000);

test("deposits of known orders that are not assigned yet do not delay returns of others", async () => {
  const lost = await lostRequest();
  const stray = await deposit(world.origin, world.user, lost.agreed, {
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
    [lost.hash],
  );
  await lost.restore();
  world.clock.forward(HOUR_MS);
  await returnUnattributed(world.services, world.origin.connected, 1_000_000n);
  expect(await rowOf(stray)).toMatchObject({ disposition: "refund" });
  await checkUnattributed();
  const { rows } = await world.pool.query("select from deposits where tx_hash = $1 and request_id is null", [
    lost.hash,
  ]);
  expect(rows).toHaveLength(0);
  await world.pool.query("delete from deposits where tx_hash = $1", [lost.hash]);
  await world.pool.query("delete from requests where request_id = $1", [lost.agreed.requestId]);
});

test("leaves a deposit to the operator if its request refers to a deposit that is not stored", async () => {
  const lost = await lostRequest();
  await lost.restore({ state: "submitted", deposit_id: 1_000_001 });
  const alarms = world.events.of("deposit_unattributed").length;
  await checkUnattributed();
  await checkUnattributed();
  const { id, ...row } = await rowOf(lost.hash);
  expect(row).toMatchObject({
    disposition: "unattributed",
    refund_state: "none",
    refund_waits:
      "the request refers to deposit 1000001, which is missing in the database and may be this deposit",
  });
  expect(world.events.of("deposit_unattributed")).toHaveLength(alarms + 1);
  expect(await strandedFunds(sqlOn(world.pool))).toContainEqual(expect.objectContaining({ id }));
  await world.pool.query("delete from requests where request_id = $1", [lost.agreed.requestId]);
});

test("a deposit whose slot shows a return is left to the operator", async () => {
  const lost = await lostRequest();
  await world.origin.mine(3);
  await world.watch(world.origin);
  world.clock.forward(HOUR_MS);
  await checkUnattributed();
  await rounds();
  const { id } = await rowOf(lost.hash);
  await world.pool.query(
    "update deposits set refund_state = 'none', disposition = 'unattributed' where id = $1",
    [id],
  );
  await lost.restore();
  await rounds();
  expect(await rowOf(lost.hash)).toMatchObject({
    refund_waits: expect.stringMatching(/^slot \d+ already refunds this deposit$/),
  });
  expect(await payments(lost)).toEqual({ fills: 0, refunds: 0, returns: 1 });
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
  const lost: Lost = { agreed, hash, restore: async () => undefined };
  expect(await payments(lost)).toEqual({ fills: 1, refunds: 0, returns: 0 });
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
  await rounds();
  expect(await payments(lost)).toEqual({ fills: 1, refunds: 0, returns: 0 });
});

test("a deposit whose return a failover lost is not assigned while that payment has no rows", async () => {
  const lost = await lostRequest();
  await world.origin.mine(3);
  await world.watch(world.origin);
  world.clock.forward(HOUR_MS);
  await checkUnattributed();
  await rounds();
  const { id } = await rowOf(lost.hash);
  const slot = await world.services.reads.slotOfLeg("refund", String(id));
  if (slot === undefined) throw new Error("the return has no slot");
  await loseRows(world.pool, slot);
  await world.pool.query(
    "update deposits set refund_state = 'none', disposition = 'unattributed' where id = $1",
    [id],
  );
  await openLane(world.services, world.origin.connected);
  await lost.restore();
  await rounds();
  expect(await rowOf(lost.hash)).toMatchObject({ disposition: "unattributed", request_id: null });
  expect(await payments(lost)).toEqual({ fills: 0, refunds: 0, returns: 1 });
});
