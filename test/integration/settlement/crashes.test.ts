import { afterAll, beforeAll, expect, test } from "vitest";
import type { HubChain } from "../../../apps/api/src/settlement/hub.port.ts";
import type { SettlementServices } from "../../../apps/api/src/settlement/settlement-services.port.ts";
import { rawKeySigner } from "@causeway/attest";
import { oracleMultisigAbi } from "@causeway/contracts";
import { hubContracts, localAccount } from "@causeway/localnet";
import { encodeFunctionData } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { Crashed, crashingServices } from "../../fakes/crashing-services.ts";
import { startSettlementWorld, type SettlementWorld } from "./settlement-world.ts";

let world: SettlementWorld;
beforeAll(async () => {
  world = await startSettlementWorld();
});
afterAll(async () => await world.stop());

/**
 * The services of a settler that crashes at the moment with this index. Each statement, signature and hub
 * call has one or two moments.
 */
function crashingSettler(crashAt: number): {
  readonly services: SettlementServices;
  readonly moments: readonly string[];
  readonly hasCrashed: () => boolean;
} {
  const crashing = crashingServices(world.engine.services, crashAt);
  const { hub } = world.services;
  const [anyChain] = world.engine.services.chains.evmChains;
  if (anyChain === undefined) throw new Error("no chain is configured");
  const crashingConnectionOf = (reader: object) =>
    crashing.crashingChain({
      ...anyChain,
      chain: { ...anyChain.chain, id: -1 },
      connection: { ...anyChain.connection, reader: reader as never, writer: hub.lane.connection.writer },
    }).connection;
  const reader = crashingConnectionOf(hub).reader as unknown as HubChain;
  const crashingHub: HubChain = {
    ...hub,
    lane: { ...hub.lane, connection: crashingConnectionOf(hub.lane.connection.reader) },
    executed: (keys, blockTag) => reader.executed(keys, blockTag),
    refusal: (execution, sender) => reader.refusal(execution, sender),
  };
  const services: SettlementServices = {
    ...world.services,
    uow: crashing.uow,
    reads: crashing.reads,
    signer: crashing.signer,
    hub: crashingHub,
  };
  return { services, moments: crashing.moments, hasCrashed: crashing.hasCrashed };
}

test("after a crash of the settler at any step, the next one continues from the committed state and settles the payment once", async () => {
  const crashes: string[] = [];
  const hubTransactions: number[] = [];
  for (let crashAt = 0; ; crashAt++) {
    const balanceBefore = await world.solverOnHub();
    const nonce = await world.hubClient.getTransactionCount({ address: world.engine.solver.address });
    const agreed = await world.makeFilled();
    const crashing = crashingSettler(crashAt);
    try {
      // A fault of one payment does not stop the others, so the crashed process fails at its next action.
      await world.attest(crashing.services);
      await world.submit(crashing.services);
      await world.mineHub();
      await world.submit(crashing.services);
      await world.mineHub(2);
      await world.submit(crashing.services);
    } catch (error) {
      if (!crashing.hasCrashed() || !isCrash(error)) throw error;
    }
    const moment = crashing.moments.at(-1) ?? "before anything";
    await world.untilSettled(agreed.requestId);
    await world.mineHub(3);
    expect(await world.solverOnHub(), moment).toBe(balanceBefore + agreed.terms.origin.amount);
    const after = await world.hubClient.getTransactionCount({ address: world.engine.solver.address });
    hubTransactions.push(after - nonce);
    if (!crashing.hasCrashed()) break;
    crashes.push(moment);
  }
  // Each execution was in exactly one transaction.
  expect(new Set(hubTransactions)).toEqual(new Set([1]));
  for (const moment of [
    "before sign",
    "before settlement.notePayments",
    "before settlement.markAttested",
    "before settlement.addExecutions",
    "before commit",
    "after commit",
    "before settlement.lockUnsubmitted",
    "before lanes.reserve",
    "before settlement.markSubmitted",
    "before lanes.addAttempts",
    "before broadcast",
    "after broadcast",
    "before lanes.setBroadcasts",
    "before lanes.setMined",
    "before lanes.setFinal",
    "before settlement.settle",
  ])
    expect(crashes).toContain(moment);
}, 300_000);

test("two concurrent settlers settle each payment once", async () => {
  const balanceBefore = await world.solverOnHub();
  const requests = [await world.makeFilled(), await world.makeFilled(), await world.makeFilled()];
  for (let round = 0; round < 6; round++) {
    await Promise.all([world.attest(), world.attest()]);
    await Promise.all([world.submit(), world.submit(), world.submit()]);
    await world.mineHub();
    world.engine.clock.forward(10_000);
  }
  for (const { requestId } of requests) await world.untilSettled(requestId);
  expect(await world.solverOnHub()).toBe(balanceBefore + 3n * (requests[0]?.terms.origin.amount ?? 0n));
});

test("an execution that a third party submitted is settled without the solver's own transaction", async () => {
  const agreed = await world.makeFilled();
  await world.attest();
  const before = await world.solverOnHub();
  // A stranger submits the call that the solver would send.
  const waiting = await world.services.settlement.executionsToSubmit(world.engine.clock.nowMs(), 10);
  const call = world.services.hub.batchCall(waiting);
  const stranger = world.engine.stranger;
  await world.hubClient.setBalance({ address: stranger.address, value: 10n ** 18n });
  await world.hubClient.impersonateAccount({ address: stranger.address });
  await world.hubClient.sendUnsignedTransaction({
    from: stranger.address,
    to: call.to,
    data: call.data,
    gas: 2_000_000n,
  });
  await world.mineHub();
  const nonce = await world.hubClient.getTransactionCount({ address: world.engine.solver.address });
  // The execution is mined, but not final yet.
  await world.submit();
  expect((await world.stateOf(agreed.requestId)).state).toBe("attested");
  await world.mineHub(3);
  world.engine.clock.forward(1_000);
  await world.submit();
  expect((await world.stateOf(agreed.requestId)).state).toBe("settled");
  expect(await world.solverOnHub()).toBe(before + agreed.terms.origin.amount);
  expect(await world.hubClient.getTransactionCount({ address: world.engine.solver.address })).toBe(nonce);
});

test("broadcasts the same bytes again when a hub block with executions is orphaned", async () => {
  const agreed = await world.makeFilled();
  const balanceBefore = await world.solverOnHub();
  await world.attest();
  await world.submit();
  await world.mineHub();
  await world.hubClient.request({ method: "anvil_reorg" as never, params: [1, []] as never });
  expect(await world.solverOnHub()).toBe(balanceBefore);
  await world.untilSettled(agreed.requestId);
  expect(await world.solverOnHub()).toBe(balanceBefore + agreed.terms.origin.amount);
  const { rows } = await world.engine.pool.query<{ count: number }>(
    `select count(*)::int as count from attempts
     where slot_id = (select max(id) from slots where leg_kind = 'hub') and broadcast_at_ms is not null`,
  );
  expect(rows[0]?.count).toBe(1);
});

test("a transaction that is never mined is replaced at its nonce with higher fees", async () => {
  const agreed = await world.makeFilled();
  const balanceBefore = await world.solverOnHub();
  await world.attest();
  await world.submit();
  world.engine.clock.forward(60_001);
  await world.submit();
  const { rows } = await world.engine.pool.query<{ n: number; fee: string }>(
    "select n, max_fee_per_gas::text as fee from attempts where slot_id = (select max(id) from slots where leg_kind = 'hub') order by n",
  );
  expect(rows).toHaveLength(2);
  expect(BigInt(rows[1]?.fee ?? 0)).toBeGreaterThan((BigInt(rows[0]?.fee ?? 0) * 112n) / 100n);
  await world.untilSettled(agreed.requestId);
  expect(await world.solverOnHub()).toBe(balanceBefore + agreed.terms.origin.amount);
});

test("attests a refused execution again, with signatures that the hub accepts now", async () => {
  const agreed = await world.makeFilled();
  const balanceBefore = await world.solverOnHub();
  await world.attest();
  // Simulates that the signers changed, so that the old signatures are invalid.
  await world.engine.pool.query(
    "update hub_executions set signature = '0x' || repeat('11', 130) where state = 'attested'",
  );
  await world.submit();
  await world.mineHub(3);
  await world.submit();
  expect(await world.stateOf(agreed.requestId)).toMatchObject({
    state: "due",
    reason: expect.stringContaining("InvalidSignature"),
  });
  world.engine.clock.forward(300_000);
  await world.untilSettled(agreed.requestId);
  expect(await world.solverOnHub()).toBe(balanceBefore + agreed.terms.origin.amount);
});

/** Sets how many of the three oracles the hub requires from now on. */
async function requireOracles(threshold: number): Promise<void> {
  const owner = privateKeyToAccount(localAccount("owner").privateKey);
  const signers = world.signers.map(({ address }) => address);
  await world.hubClient.setBalance({ address: owner.address, value: 10n ** 18n });
  await world.hubClient.sendTransaction({
    account: owner,
    to: hubContracts({ signers, threshold: 2 }).oracleMultisig,
    data: encodeFunctionData({
      abi: oracleMultisigAbi,
      functionName: "setSigners",
      args: [signers, BigInt(threshold)],
    }),
    gas: 500_000n,
  });
  await world.mineHub();
}

test("waits for more signatures when the hub's threshold is raised, and settles once", async () => {
  const agreed = await world.makeFilled();
  const balanceBefore = await world.solverOnHub();
  await world.attest();
  await requireOracles(3);
  await world.submit();
  await world.mineHub(3);
  await world.submit();
  expect(await world.stateOf(agreed.requestId)).toMatchObject({
    state: "due",
    reason: expect.stringContaining("InvalidSignature"),
  });
  world.engine.clock.forward(300_000);
  await world.attest();
  expect(await world.stateOf(agreed.requestId)).toMatchObject({
    state: "due",
    reason: expect.stringContaining("2 accepted oracle signatures, but the quorum is 3"),
  });
  expect(await world.solverOnHub()).toBe(balanceBefore);

  const askingAllSigners = world.servicesAsking(await world.startOracle(world.signers));
  world.engine.clock.forward(300_000);
  await world.attest(askingAllSigners);
  await requireOracles(2);
  await world.untilSettled(agreed.requestId);
  expect(await world.solverOnHub()).toBe(balanceBefore + agreed.terms.origin.amount);
});

/**
 * Leaves a signed transaction of the solver's key that the hub has not received. It carries an execution and
 * a nonce mapping.
 */
async function openTransaction() {
  const agreed = await world.makeFilled();
  await world.attest();
  await expect(world.submit(world.unreachable())).rejects.toThrow("connection refused");
  const { rows } = await world.engine.pool.query<{ key: string }>(
    `insert into nonce_mappings (chain_id, wallet, nonce, mapped_id, depositor, signature, signature_chain_id, state, next_try_ms,
       hub_signature, slot_id, created_at_ms, updated_at_ms)
     select 1337, '0x1', coalesce(max(id), 0), '0x2', '0x3', '0x4', 1, 'signed', 0, '0x5', max(id), 0, 0 from slots where leg_kind = 'hub' returning key`,
  );
  const mapping = async () => {
    const mappingRows = await world.engine.pool.query<{ state: string; slot_id: string | null }>(
      "select state, slot_id from nonce_mappings where key = $1",
      [rows[0]?.key],
    );
    return mappingRows.rows[0];
  };
  return { agreed, mapping };
}

async function rotateKey(byte: string) {
  const signer = rawKeySigner(`0x${byte.repeat(32)}`);
  await world.hubClient.setBalance({ address: signer.address, value: 10n ** 20n });
  return { ...world.services, signer };
}

test("a new key submits the executions of an open transaction of an unconfigured former key, once", async () => {
  const { agreed, mapping } = await openTransaction();
  const balanceBefore = await world.solverOnHub();
  const current = await rotateKey("e1");
  await world.submit(current);
  expect(await mapping()).toEqual({ state: "stored", slot_id: null });
  await world.mineHub(3);
  await world.submit(current);
  expect((await world.stateOf(agreed.requestId)).state).toBe("settled");
  expect(await world.solverOnHub()).toBe(balanceBefore + agreed.terms.origin.amount);
  expect(world.engine.events.of("hub_transaction_abandoned")).toHaveLength(1);

  // The former key is configured again. Its nonce gets used, and nothing is executed twice.
  const otherRequest = await world.makeFilled();
  await world.untilSettled(otherRequest.requestId);
  expect(await world.solverOnHub()).toBe(
    balanceBefore + agreed.terms.origin.amount + otherRequest.terms.origin.amount,
  );
});

test("a configured former key gets its open transaction mined, and one without gas leaves it to the new key", async () => {
  const formerSigner = world.engine.services.signer;
  const nonce = await world.hubClient.getTransactionCount({ address: formerSigner.address });
  const { agreed } = await openTransaction();
  const current = { ...(await rotateKey("e2")), formerSigners: [formerSigner] };
  world.engine.clock.forward(60_001);
  await world.submit(current);
  await world.mineHub(3);
  expect(await world.hubClient.getTransactionCount({ address: formerSigner.address })).toBe(nonce + 1);
  await world.submit(current);
  expect((await world.stateOf(agreed.requestId)).state).toBe("settled");

  const { agreed: requestWithoutGas, mapping } = await openTransaction();
  await world.hubClient.setBalance({ address: formerSigner.address, value: 0n });
  world.engine.clock.forward(60_001);
  await world.submit(current);
  expect(await mapping()).toEqual({ state: "stored", slot_id: null });
  await world.mineHub(3);
  await world.submit(current);
  expect((await world.stateOf(requestWithoutGas.requestId)).state).toBe("settled");
});

test("an execution by a former key's transaction is settled after the rotation", async () => {
  const formerSigner = world.engine.services.signer;
  await world.hubClient.setBalance({ address: formerSigner.address, value: 10n ** 20n });
  world.engine.clock.forward(60_001);
  await world.submit();
  await world.mineHub(3);
  await world.submit();
  const agreed = await world.makeFilled();
  await world.attest();
  await world.submit();
  await world.mineHub(3);
  await world.submit(await rotateKey("e3"));
  expect((await world.stateOf(agreed.requestId)).state).toBe("settled");
});

function isCrash(error: unknown): boolean {
  return error instanceof Crashed || (error instanceof Error && isCrash(error.cause));
}
