import { encodeHubAction, executionDigester, signatureToHex } from "@causeway/attest";
import type { Hex32 } from "@causeway/domain";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { laneReport } from "../../../apps/api/src/payments/operator-reads.postgres.ts";
import { sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import type { SignedExecution } from "../../../apps/api/src/settlement/settlement.port.ts";
import { someAddress, someHash } from "../../support/terms.ts";
import { settlementPolicy, startSettlementWorld, type SettlementWorld } from "./settlement-world.ts";

let world: SettlementWorld;
beforeAll(async () => {
  world = await startSettlementWorld();
});
afterAll(async () => await world.stop());
beforeEach(async () => await setBlockGasLimit(30_000_000n));

/** Sets the gas limit of the hub's blocks. */
async function setBlockGasLimit(limit: bigint): Promise<void> {
  await world.hubClient.setBlockGasLimit({ gasLimit: limit });
  await world.mineHub();
}

/** A deposit of this many parts. The quorum has signed it, and it waits to be executed. */
async function addWaitingDeposit(mints: number): Promise<Hex32> {
  const execution = {
    idempotencyKey: someHash(),
    actions: Array.from({ length: mints }, () =>
      encodeHubAction({ kind: "mint", to: someAddress(), tokenId: 7n, amount: 1n }),
    ),
  };
  const { hub, engine } = world;
  const digest = executionDigester(hub)(execution);
  const signers = world.signers.slice(0, 2).toSorted((a, b) => (a.address < b.address ? -1 : 1));
  const signatures = await Promise.all(
    signers.map(async (signer) => signatureToHex(await signer.signDigest(digest)).slice(2)),
  );
  const signed: SignedExecution = { ...execution, kind: "deposit", signature: `0x${signatures.join("")}` };
  await engine.services.uow.run(async (tx) => tx.settlement.addExecutions([signed], engine.clock.nowMs()));
  return execution.idempotencyKey;
}

async function gasLimits(): Promise<bigint[]> {
  const { rows } = await world.engine.pool.query<{ gas: string }>(
    "select gas_limit::text as gas from slots where leg_kind = 'hub' order by id",
  );
  return rows.map(({ gas }) => BigInt(gas));
}

async function isExecuted(key: Hex32): Promise<boolean> {
  return (await world.services.hub.executed([key], "latest")).has(key);
}

const hubLane = async (): Promise<object | undefined> => (await laneReport(sqlOn(world.engine.pool))).at(-1);

test("an execution that does not fit into the hub's blocks is postponed, and all others are submitted", async () => {
  await setBlockGasLimit(2_000_000n);
  const before = await gasLimits();
  const large = await addWaitingDeposit(70);
  const agreed = await world.makeFilled();
  await world.untilSettled(agreed.requestId);
  expect(await isExecuted(large)).toBe(false);
  const reported = world.engine.events.of("execution_set_aside").map(({ facts }) => facts);
  expect(reported).toEqual([{ key: large, kind: "deposit", reason: expect.stringContaining("2000000") }]);
  for (const gas of (await gasLimits()).slice(before.length)) expect(gas).toBeLessThanOrEqual(2_000_000n);
  expect(await hubLane()).toMatchObject({
    chain_id: "hub",
    sender: world.engine.solver.address,
    open: 0,
    waiting: 0,
    postponed: 1,
    postponed_reason: expect.stringContaining("70 actions"),
  });

  // When the hub has larger blocks, the execution is retried.
  await setBlockGasLimit(30_000_000n);
  world.engine.clock.forward(settlementPolicy.rejectedRetryMs);
  await world.submit();
  await world.mineHub();
  expect(await isExecuted(large)).toBe(true);
  await world.mineHub(3);
  await world.submit();
  expect(await hubLane()).toMatchObject({ postponed: 0, postponed_since_ms: null });
});

test("spreads executions over as many transactions as their gas needs", async () => {
  const keys = [await addWaitingDeposit(25), await addWaitingDeposit(25), await addWaitingDeposit(25)];
  await setBlockGasLimit(2_500_000n);
  const before = await gasLimits();
  for (let round = 0; round < 4; round++) {
    await world.submit();
    await world.mineHub(3);
  }
  expect(await Promise.all(keys.map(isExecuted))).toEqual([true, true, true]);
  const limits = (await gasLimits()).slice(before.length);
  expect(limits).toHaveLength(2);
  for (const gas of limits) expect(gas).toBeLessThanOrEqual(2_500_000n);
});

test("never plans a transaction of more than 2^24 gas, regardless of the size of the hub's blocks", async () => {
  const maxTransactionGas = 2n ** 24n;
  await setBlockGasLimit(100_000_000n);
  expect(await world.services.hub.transactionGasLimit()).toBe(maxTransactionGas);
  const large = [await addWaitingDeposit(180), await addWaitingDeposit(180), await addWaitingDeposit(180)];
  const before = await gasLimits();
  for (let round = 0; round < 3; round++) {
    await world.submit();
    await world.mineHub(3);
  }
  expect(await Promise.all(large.map(isExecuted))).toEqual([true, true, true]);
  const limits = (await gasLimits()).slice(before.length);
  expect(limits.length).toBeGreaterThan(1);
  expect(limits.reduce((sum, gas) => sum + gas)).toBeGreaterThan(maxTransactionGas);
  for (const gas of limits) expect(gas).toBeLessThanOrEqual(maxTransactionGas);
});

test("plans about as much gas as a batch uses", async () => {
  const key = await addWaitingDeposit(60);
  await world.submit();
  await world.mineHub();
  expect(await isExecuted(key)).toBe(true);
  const { gasUsed } = await world.hubClient.getBlock();
  const plannedGas = (await gasLimits()).at(-1) ?? 0n;
  expect(plannedGas).toBeGreaterThan(gasUsed);
  expect(plannedGas).toBeLessThan((gasUsed * 13n) / 10n);
});

test("splits a transaction that the hub permanently refuses, and cancels its nonce", async () => {
  const large = await addWaitingDeposit(60);
  const agreed = await world.makeFilled();
  await world.attest();
  await expect(world.submit(world.unreachable())).rejects.toThrow("connection refused");
  // The blocks become smaller after the batch was signed.
  await setBlockGasLimit(2_000_000n);
  await world.untilSettled(agreed.requestId);
  expect(world.engine.events.of("hub_refused").length).toBeGreaterThan(0);
  expect(await isExecuted(large)).toBe(false);
  expect(await hubLane()).toMatchObject({ open: 0, postponed: 1 });
  await setBlockGasLimit(30_000_000n);
  world.engine.clock.forward(settlementPolicy.rejectedRetryMs);
  await world.submit();
  await world.mineHub();
  expect(await isExecuted(large)).toBe(true);
});
