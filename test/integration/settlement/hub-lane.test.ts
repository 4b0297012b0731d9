import { rawKeySigner } from "@causeway/attest";
import { createChainReader, createRpcTransport, RpcFault, type BlockRef } from "@causeway/chains";
import { NATIVE_CURRENCY, type Address, type RequestId } from "@causeway/domain";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ConnectedChain } from "../../../apps/api/src/chains/chains.port.ts";
import { createChainDirectory } from "../../../apps/api/src/chains/directory.adapter.ts";
import type { WorkerServices } from "../../../apps/api/src/db/services.port.ts";
import { sendSolverCall } from "../../../apps/api/src/payments/contract-calls.ts";
import { maintainLane } from "../../../apps/api/src/payments/maintain-lane.ts";
import { openLane } from "../../../apps/api/src/payments/open-lane.ts";
import { payoutLeg } from "../../../apps/api/src/payments/legs/contract-call-leg.ts";
import { payTogether } from "../../../apps/api/src/payments/pay-together.ts";
import { trackLane } from "../../../apps/api/src/payments/track-lane.ts";
import type { SettlementServices } from "../../../apps/api/src/settlement/settlement-services.port.ts";
import { someHash } from "../../support/terms.ts";
import { startSettlementWorld, type SettlementWorld } from "./settlement-world.ts";

// The solver also pays on the hub's chain, so payments and hub transactions share one sequence of nonces.

let world: SettlementWorld;
let hubChain: ConnectedChain;
let payingServices: WorkerServices;
let settlementServices: SettlementServices;
let close: () => Promise<void>;

beforeAll(async () => {
  world = await startSettlementWorld();
  const { engine, hub } = world;
  const { connected } = engine.destination;
  const chain = {
    ...connected.chain,
    id: hub.chainId,
    name: hub.name,
    rpcUrl: hub.rpcUrl,
    finalityBlocks: 3,
  };
  const transport = createRpcTransport({ url: hub.rpcUrl });
  close = async () => await transport.close();
  const { writer } = world.services.hub.lane.connection;
  const connection = { ...connected.connection, reader: createChainReader(chain, transport), writer };
  const solverBalance = () => ({ amount: 10n ** 19n, blockNumber: 0n });
  hubChain = { ...connected, chain, connection, pulse: { ...connected.pulse, solverBalance } };
  const chains = createChainDirectory([...engine.services.chains.evmChains, hubChain]);
  payingServices = { ...engine.services, chains };
  settlementServices = {
    ...world.services,
    chains,
    sendAsPayment: async (call) => await sendSolverCall(payingServices, hubChain, call),
  };
  await world.mineHub(8);
});
afterAll(async () => {
  await close();
  await world.stop();
});

/** Pays an account on the hub's chain, as the engine pays. */
async function payOnHub(recipient: Address, amount: bigint): Promise<void> {
  const { maxFeePerGas, maxPriorityFeePerGas } = hubChain.pulse.gasPrices();
  const id = someHash();
  await world.engine.pool.query(
    `insert into claims (claim_id, wallet, chain_id, currency, recipient, amount, fee_amount, expires_at, state, created_at_ms, updated_at_ms)
     values ($1, $3, $2, $4, $3, $5, 0, 1, 'paying', 1, 1)`,
    [id, hubChain.chain.id, recipient, NATIVE_CURRENCY, amount.toString()],
  );
  const plan = {
    chainId: hubChain.chain.id,
    sender: payingServices.signer.address,
    leg: { kind: "claim", id, requestId: undefined },
    call: { to: recipient, data: "0x", value: amount },
    gasLimit: 21_000n,
    maxFeePerGas,
    maxPriorityFeePerGas,
    outflow: { currency: NATIVE_CURRENCY, amount },
    cancelAfterMs: payingServices.clock.nowMs() + 3_600_000,
  } as const;
  expect(await payTogether(payingServices, payoutLeg, [{ plan }])).toEqual(["sent"]);
  // No ledger has the claim. From now on only its slot matters.
  await world.engine.pool.query("delete from claims where claim_id = $1", [id]);
}

/** Runs one round of the watcher of the hub's chain. */
async function watchHub(): Promise<void> {
  const { reader } = hubChain.connection;
  const { number } = await reader.head();
  const trail = await Promise.all(
    Array.from({ length: 8 }, async (_, index) => await reader.block(number - 7n + BigInt(index))),
  );
  const blocks = trail.flatMap((block): BlockRef[] => (block === undefined ? [] : [block]));
  const { id } = hubChain.chain;
  await payingServices.uow.run(async (tx) => await tx.trail.replace(id, number - 8n, blocks, 64));
  await trackLane(payingServices, hubChain, blocks);
  await maintainLane(payingServices, hubChain);
}

async function hubLaneSlots(): Promise<{ leg_kind: string; nonce: number; state: string }[]> {
  const { rows } = await world.engine.pool.query<{ leg_kind: string; nonce: string; state: string }>(
    "select leg_kind, nonce, state from slots where chain_id = $1 and sender = $2 order by nonce",
    [world.hub.chainId, payingServices.signer.address],
  );
  return rows.map(({ nonce, ...row }) => ({ ...row, nonce: Number(nonce) }));
}

test("payments and hub transactions of one key get different nonces, and each is made once", async () => {
  await openLane(payingServices, hubChain);
  const balanceBefore = await world.solverOnHub();
  const requests = [await world.makeFilled(), await world.makeFilled()];
  await world.attest(settlementServices);
  const recipients = Array.from({ length: 4 }, () => world.engine.anAddress());
  const [first, second, third, fourth] = recipients;
  if (!first || !second || !third || !fourth) throw new Error("expected four recipients");
  await Promise.all([
    payOnHub(first, 1n),
    world.submit(settlementServices),
    payOnHub(second, 2n),
    world.submit(settlementServices),
  ]);
  await payOnHub(third, 3n);
  for (let round = 0; round < 8; round++) {
    await world.mineHub();
    await Promise.all([watchHub(), world.submit(settlementServices)]);
    if (round === 3) await payOnHub(fourth, 4n);
    world.engine.clock.forward(1_000);
  }
  for (const { requestId } of requests)
    expect(await world.stateOf(requestId)).toMatchObject({ state: "settled" });
  expect(await world.solverOnHub()).toBe(balanceBefore + 2n * (requests[0]?.terms.origin.amount ?? 0n));
  const balances = recipients.map(async (address) => await world.hubClient.getBalance({ address }));
  expect(await Promise.all(balances)).toEqual([1n, 2n, 3n, 4n]);
  const usedSlots = await hubLaneSlots();
  expect(usedSlots.map(({ nonce }) => nonce)).toEqual(usedSlots.map((_, index) => index));
  expect(usedSlots.map(({ state }) => state)).toEqual(usedSlots.map(() => "final"));
  expect(usedSlots.filter(({ leg_kind: kind }) => kind === "hub")).toHaveLength(1);
});

test("sends no batch until the watcher has identified the transaction at an unknown nonce", async () => {
  const { hubClient, engine } = world;
  const agreed = await world.makeFilled();
  await world.attest(settlementServices);
  await hubClient.impersonateAccount({ address: engine.solver.address });
  const byHand = { from: engine.solver.address, to: engine.anAddress(), value: 1n, gas: 21_000n };
  await hubClient.sendUnsignedTransaction(byHand);
  await world.mineHub();
  const before = await hubLaneSlots();
  await world.submit(settlementServices);
  expect(await hubLaneSlots()).toEqual(before);
  expect(engine.events.of("hub_waits")).toHaveLength(1);

  // No batch is sent while the chain is disabled either, because a lost payment of the lane may have used the
  // nonce.
  await world.submit();
  expect(await hubLaneSlots()).toEqual(before);
  expect(engine.events.of("hub_waits")).toHaveLength(2);
  expect(engine.events.of("nonce_spent_elsewhere")).toEqual([]);

  await watchHub();
  await openLane(payingServices, hubChain);
  expect(engine.events.of("nonce_spent_elsewhere")).toHaveLength(1);
  await world.submit(settlementServices);
  expect((await hubLaneSlots()).at(-1)).toMatchObject({ leg_kind: "hub", nonce: before.length + 1 });
  await untilSettled(agreed.requestId);
});

test("a batch whose nonce was used elsewhere is sent again only after the watcher identified that transaction", async () => {
  const { hubClient, engine } = world;
  const agreed = await world.makeFilled();
  await world.attest(settlementServices);
  const { connection } = hubChain;
  const broadcast = async (): Promise<never> => {
    throw new RpcFault({ kind: "network", method: "eth_sendRawTransaction", reason: "unreachable" });
  };
  const unreachable = { ...hubChain, connection: { ...connection, writer: { broadcast } } };
  const chains = createChainDirectory([...engine.services.chains.evmChains, unreachable]);
  const sendAsPayment: SettlementServices["sendAsPayment"] = async (call) =>
    await sendSolverCall({ ...payingServices, chains }, unreachable, call);
  await expect(world.submit({ ...settlementServices, sendAsPayment })).rejects.toThrow("unreachable");
  await hubClient.impersonateAccount({ address: engine.solver.address });
  const byHand = { from: engine.solver.address, to: engine.anAddress(), value: 1n, gas: 21_000n };
  await hubClient.sendUnsignedTransaction(byHand);
  await world.mineHub(5);
  await world.submit(settlementServices);
  // A lost payment may have used the nonce, so the slot stays open until the search has found the
  // transaction.
  expect((await hubLaneSlots()).at(-1)).toMatchObject({ leg_kind: "hub", state: "open" });
  for (let round = 0; round < 6; round++) {
    await watchHub();
    await world.mineHub();
  }
  expect((await hubLaneSlots()).at(-1)).toMatchObject({ leg_kind: "hub", state: "dead" });
  const countCarried = async (): Promise<number> =>
    (await engine.pool.query("select from hub_executions where state = 'attested' and slot_id is not null"))
      .rows.length;
  const before = await countCarried();
  expect(before).toBeGreaterThan(0);
  // A node that lags does not show the nonce as used in its final block yet.
  const final = async () => ({ executed: new Set<never>(), nonces: new Map<never, number>() });
  await world.submit({ ...settlementServices, hub: { ...settlementServices.hub, final } });
  expect(await countCarried()).toBe(before);
  await untilSettled(agreed.requestId);
});

test("releases the payload of a former key's transaction, which no watcher replaces, to the current key", async () => {
  const { engine } = world;
  const agreed = await world.makeFilled();
  await world.attest(settlementServices);
  const { connection } = hubChain;
  const broadcast = async (): Promise<never> => {
    throw new RpcFault({ kind: "network", method: "eth_sendRawTransaction", reason: "unreachable" });
  };
  const unreachable = { ...hubChain, connection: { ...connection, writer: { broadcast } } };
  const chains = createChainDirectory([...engine.services.chains.evmChains, unreachable]);
  const sendAsPayment: SettlementServices["sendAsPayment"] = async (call) =>
    await sendSolverCall({ ...payingServices, chains }, unreachable, call);
  await expect(world.submit({ ...settlementServices, sendAsPayment })).rejects.toThrow("unreachable");
  const current = rawKeySigner(`0x${"e7".repeat(32)}`);
  const sendLater = async () => ({ kind: "waits", why: "not yet" }) as const;
  await world.submit({
    ...settlementServices,
    signer: current,
    formerSigners: [payingServices.signer],
    sendAsPayment: sendLater,
  });
  expect(engine.events.of("hub_transaction_abandoned").at(-1)?.facts).toMatchObject({
    sender: payingServices.signer.address,
    freed: 2,
  });
  await untilSettled(agreed.requestId);
});

async function untilSettled(requestId: RequestId): Promise<void> {
  for (let round = 0; round < 12 && (await world.stateOf(requestId)).state !== "settled"; round++) {
    world.engine.clock.forward(120_000);
    await world.attest(settlementServices);
    await world.submit(settlementServices);
    await world.mineHub();
    await watchHub();
  }
  expect(await world.stateOf(requestId)).toMatchObject({ state: "settled" });
}
