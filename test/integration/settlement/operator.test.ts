import { NATIVE_CURRENCY } from "@causeway/domain";
import { repositoryRoot, workspaceNode } from "@causeway/testkit";
import { createMetrics } from "@causeway/service-kit";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  settlementOf,
  settlementReport,
} from "../../../apps/api/src/payments/operator-settlement.postgres.ts";
import { traceOf } from "../../../apps/api/src/payments/operator-trace.postgres.ts";
import { sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import { settlementGauges } from "../../../apps/api/src/telemetry/settlement-gauges.ts";
import { deposit } from "../../support/deposits.ts";
import { honest } from "./fake-oracle.ts";
import { startSettlementWorld, type SettlementWorld } from "./settlement-world.ts";

let world: SettlementWorld;
beforeAll(async () => {
  world = await startSettlementWorld();
});
afterAll(async () => await world.stop());

test("reports to the operator whether a payment is due, attested or settled, why it waits, and since when", async () => {
  const sql = sqlOn(world.engine.pool);
  const agreed = await world.makeFilled();
  const readSettlement = async () => (await settlementOf(sql, agreed.requestId))?.[0];
  const metrics = createMetrics("test");
  settlementGauges(metrics.registry, world.services.settlement, world.engine.clock);
  const gauges = async () => await metrics.registry.metrics();

  // The payment is not processed yet, and stays so while settlement is disabled.
  expect(await readSettlement()).toMatchObject({ settlement: "due", leg: "fill", rejected: false });
  expect(await settlementReport(sql)).toMatchObject([
    { settlement: "due", reason: "not processed yet", payments: 1, example: agreed.requestId },
  ]);

  world.oracle.behave(async () => ({ status: 400, json: { message: "no", code: "rejected" } }));
  await world.attest();
  expect(await readSettlement()).toMatchObject({
    settlement: "due",
    rejected: true,
    reason: "rejected: no",
    tries: 1,
  });
  expect(await settlementReport(sql)).toMatchObject([
    { settlement: "due", rejected: true, reason: "rejected: no", payments: 1, example: agreed.requestId },
  ]);
  expect(await gauges()).toContain('causeway_settlement_waiting{state="rejected",service="test"} 1');

  world.oracle.behave(honest);
  world.engine.clock.forward(21_600_000);
  await world.attest();
  expect(await readSettlement()).toMatchObject({
    settlement: "attested",
    reason: null,
    execution: "attested",
  });
  const gaugesText = await gauges();
  expect(gaugesText).toContain('causeway_settlement_waiting{state="attested",service="test"} 1');
  expect(gaugesText).toContain('causeway_settlement_waiting{state="rejected",service="test"} 0');
  const age = /causeway_settlement_oldest_seconds\{state="attested",service="test"\} (\d+)/.exec(
    gaugesText,
  )?.[1];
  expect(Number(age)).toBeGreaterThanOrEqual(21_600);

  await world.untilSettled(agreed.requestId);
  expect(await readSettlement()).toMatchObject({ settlement: "settled", execution: "settled" });
  expect(await settlementReport(sql)).toEqual([]);
  const trace = (await traceOf(sql, agreed.requestId)) as { about: string; event: string }[];
  expect(await traceOf(sql, `0x${"de".repeat(32)}`)).toBeUndefined();
  const onHub = trace.filter(({ about }) => about === "hub").map(({ event }) => event);
  expect(onHub.toSorted()).toEqual(["execution of the deposit settled", "execution of the fill settled"]);
  expect(trace.map(({ event }) => event)).toEqual(expect.arrayContaining(["attested", "settled"]));
});

test("reports a payment that no oracle can attest, without querying oracles", async () => {
  const agreed = await world.makeFilled();
  await world.engine.pool.query("update deposits set order_id = $2 where request_id = $1", [
    agreed.requestId,
    `0x${"12".repeat(32)}`,
  ]);
  const requestsBefore = world.oracle.requests.length;
  await world.attest();
  expect(await world.stateOf(agreed.requestId)).toEqual({
    state: "due",
    rejected: true,
    reason: "the deposit does not carry the id of the order",
  });
  expect(world.oracle.requests).toHaveLength(requestsBefore);
});

test("never settles a refund in a currency other than the order's, because the hub cannot repay it", async () => {
  const { engine } = world;
  const agreed = await engine.quote({ refundTo: engine.anAddress() });
  const { user, origin } = engine;
  const hash = await deposit(origin, user, agreed, { currency: NATIVE_CURRENCY, amount: 10n ** 16n });
  await engine.untilFinal(agreed.requestId);
  await world.attest();
  expect(await world.stateOf(agreed.requestId)).toEqual({
    state: "unrepayable",
    rejected: true,
    reason: "the deposit is not in the currency of the order's input",
  });
  engine.clock.forward(7 * 86_400_000);
  await world.attest();
  expect(JSON.stringify(world.oracle.requests)).not.toContain(hash);
});

test("distinguishes an unknown request from one that has nothing to settle", async () => {
  const reportFor = async (requestId: string, report = "settlement"): Promise<unknown> => {
    const program = join(repositoryRoot, "apps/api/src/operator.ts");
    return await promisify(execFile)(
      workspaceNode,
      ["-C", "source", program, report, requestId],
      // The command gets the environment of this process and the database of the test.
      { cwd: repositoryRoot, env: { ...process.env, DATABASE_URL: world.engine.databaseUrl } },
    );
  };
  const agreed = await world.engine.quote({ recipient: world.engine.anAddress() });
  await world.engine.pay(agreed);
  expect(await reportFor(agreed.requestId)).toEqual({ stdout: "", stderr: "none\n" });
  const unknown = `0x${"77".repeat(32)}`;
  for (const report of ["settlement", "trace"])
    await expect(reportFor(unknown, report)).rejects.toMatchObject({
      code: 1,
      stdout: "",
      stderr: `Request ${unknown} not found\n`,
    });
});
