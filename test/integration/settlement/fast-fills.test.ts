import { afterAll, beforeAll, expect, test } from "vitest";
import { settlementReads } from "../../../apps/api/src/settlement/settlement-reads.postgres.ts";
import { sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import type { WorkerServices } from "../../../apps/api/src/db/services.port.ts";
import { deposit } from "../../support/deposits.ts";
import type { QuotedRequest } from "../../support/engine-world.ts";
import { aSponsor, type Sponsor } from "../../support/sponsors.ts";
import { startSettlementWorld, type SettlementWorld } from "./settlement-world.ts";

let world: SettlementWorld;
let sponsor: Sponsor;
beforeAll(async () => {
  world = await startSettlementWorld();
  sponsor = await aSponsor(world.engine, 100_000);
});
afterAll(async () => await world.stop());

/** A fast fill that is final while its deposit has not arrived. */
async function makeFastFill(ttl = 3_600, by = world.engine.services): Promise<QuotedRequest> {
  const { engine } = world;
  const agreed = await engine.quote({ recipient: engine.anAddress(), refundTo: engine.anAddress(), ttl });
  await sponsor.fastFill(agreed, {}, by);
  await engine.work();
  await engine.untilFinal(agreed.requestId, 1_000);
  return agreed;
}

const waiting = async () =>
  Object.fromEntries(
    (await settlementReads(sqlOn(world.engine.pool)).waiting()).map(({ state, count }) => [state, count]),
  );

test("neither queries oracles nor raises an alarm for a fast fill before its deposit, then settles it", async () => {
  const { engine } = world;
  const owned = await world.solverOnHub();
  const agreed = await makeFastFill();
  const [requests, alarms] = [world.oracle.requests.length, engine.events.of("settlement_rejected").length];
  for (let round = 0; round < 5; round++) {
    await world.attest();
    engine.clock.forward(100_000);
  }
  expect(await world.stateOf(agreed.requestId)).toEqual({ state: "due", reason: null, rejected: false });
  expect(await waiting()).toEqual({ before_deposit: 1 });
  expect(world.oracle.requests.length).toBe(requests);
  expect(engine.events.of("settlement_rejected").length).toBe(alarms);
  expect(engine.events.of("settlement_waits")).toEqual([]);

  await deposit(engine.origin, engine.user, agreed);
  await engine.origin.mine();
  await engine.watch(engine.origin);
  expect(await waiting()).toEqual({ due: 1 });
  await world.attest();
  expect((await world.stateOf(agreed.requestId)).state, "attested at the first attempt").toBe("attested");
  await world.untilSettled(agreed.requestId);
  expect(await world.solverOnHub()).toBe(owned + agreed.terms.origin.amount);
});

test("the refund of a wrong deposit is settled while the fast fill still waits", async () => {
  const { engine } = world;
  const owned = await world.solverOnHub();
  const agreed = await makeFastFill();
  await deposit(engine.origin, engine.user, agreed, { amount: 60_000_000n });
  for (let round = 0; round < 14; round++) {
    await engine.round();
    await world.attest();
    await world.submit();
    await world.mineHub();
  }
  const { rows } = await engine.pool.query<{ leg_kind: string; state: string }>(
    "select s.leg_kind, d.state from settlements d join slots s on s.id = d.slot_id where d.request_id = $1 order by 1",
    [agreed.requestId],
  );
  expect(rows).toEqual([
    { leg_kind: "fill", state: "due" },
    { leg_kind: "refund", state: "settled" },
  ]);
  expect(await world.solverOnHub()).toBe(owned + 60_000_000n);
});

test("a fast fill that the app paid for is not reported as waiting for settlement", async () => {
  const { engine } = world;
  const agreed = await makeFastFill(600);
  const { quotePolicy, enginePolicy } = engine.services;
  engine.clock.forward((600 + quotePolicy.fillGraceSeconds + 5) * 1_000 + enginePolicy.fastFillGraceMs);
  await engine.origin.client.setNextBlockTimestamp({
    timestamp: BigInt(Math.ceil(engine.clock.nowMs() / 1_000)),
  });
  await engine.round();
  expect(await sponsor.holdState(agreed)).toBe("permanent");
  await world.attest();
  expect(await waiting()).toMatchObject({ paid_by_app: 1 });
});

/**
 * The engine's services in a network that settles a fill only if it is at most this much older than its
 * deposit.
 */
const settlingWithin = (seconds: number): WorkerServices => ({
  ...world.engine.services,
  enginePolicy: { ...world.engine.services.enginePolicy, fillLeadMs: seconds * 1_000 },
});

test("refuses a fast fill whose deposit may arrive too late for settlement", async () => {
  const { engine } = world;
  const agreed = await engine.quote({ recipient: engine.anAddress(), ttl: 3_600 });
  const { quotePolicy, enginePolicy } = engine.services;
  const needed = 3_600 + quotePolicy.fillGraceSeconds + enginePolicy.fastFillGraceMs / 1_000 + 120;
  await expect(sponsor.fastFill(agreed, {}, settlingWithin(needed - 5))).rejects.toMatchObject({
    code: "FAST_FILL_REFUSED",
    facts: { data: { rule: "settledTooSoon" } },
  });
  await expect(sponsor.fastFill(agreed, {}, settlingWithin(60))).rejects.toMatchObject({
    facts: { data: { rule: "settledTooSoon" } },
  });
  expect(await sponsor.fastFill(agreed, {}, settlingWithin(needed + 5))).toBe("queued");
  await engine.untilFinal(agreed.requestId, 1_000);
});

test("refunds a deposit that arrives too late to settle its fast fill, and keeps the app's debit", async () => {
  const { engine } = world;
  const lead = 7_200;
  const agreed = await makeFastFill(600, settlingWithin(lead));
  engine.clock.forward((lead - 110) * 1_000);
  await engine.origin.client.setNextBlockTimestamp({
    timestamp: BigInt(Math.ceil(engine.clock.nowMs() / 1_000)),
  });
  await engine.round();
  expect(await sponsor.holdState(agreed)).toBe("permanent");
  const { balance } = (await sponsor.book()).lines[0] ?? {};
  await deposit(engine.origin, engine.user, agreed);
  await engine.origin.mine();
  await engine.watch(engine.origin, settlingWithin(lead));
  expect(await engine.depositsOf(agreed.requestId)).toMatchObject([
    { disposition: "refund", reason: "TTL_EXPIRED" },
  ]);
  expect(await sponsor.holdState(agreed)).toBe("permanent");
  expect((await sponsor.book()).lines[0]?.balance).toBe(balance);
  for (let round = 0; round < 10; round++) await engine.round(settlingWithin(lead));
  expect(await engine.origin.balance(agreed.terms.refundTo, agreed.terms.origin.currency)).toBeGreaterThan(
    0n,
  );
});

test("does not charge the app for a timely deposit when fillLeadMs is shortened after the fast fill was accepted", async () => {
  const { engine } = world;
  const agreed = await makeFastFill();
  engine.clock.forward(300_000);
  await engine.origin.client.setNextBlockTimestamp({
    timestamp: BigInt(Math.ceil(engine.clock.nowMs() / 1_000)),
  });
  await deposit(engine.origin, engine.user, agreed);
  await engine.origin.mine();
  await engine.watch(engine.origin, settlingWithin(180));
  expect(await engine.depositsOf(agreed.requestId)).toMatchObject([{ disposition: "accepted" }]);
  expect(await sponsor.holdState(agreed)).toBe("released");
});
