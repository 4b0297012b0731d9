import { messageDigest, rawKeySigner, recoverSigner } from "@causeway/attest";
import { createChainReader, createRpcTransport } from "@causeway/chains";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createChainDirectory } from "../../../apps/api/src/chains/directory.adapter.ts";
import { indexTransaction } from "../../../apps/api/src/deposits/index-transaction.ts";
import type { CurrencyAmount } from "../../../apps/api/src/balances/currency-amount.port.ts";
import { depositoryBalances, hubBalances } from "../../../apps/api/src/settlement/hub-balances.ts";
import { attestedChain, startFakeOracle } from "./fake-oracle.ts";
import { startSettlementWorld, type SettlementWorld } from "./settlement-world.ts";

let world: SettlementWorld;
beforeAll(async () => {
  world = await startSettlementWorld();
});
afterAll(async () => await world.stop());

test("attests a final fill, executes it on the hub and credits the deposit to the solver", async () => {
  const before = await world.solverOnHub();
  const agreed = await world.makeFilled();
  expect((await world.stateOf(agreed.requestId)).state).toBe("none");
  await world.attest();
  expect((await world.stateOf(agreed.requestId)).state).toBe("attested");
  await world.submit();
  await world.mineHub();
  // The transaction is mined, but the hub's policy requires two more blocks.
  await world.submit();
  expect((await world.stateOf(agreed.requestId)).state).toBe("attested");
  await world.mineHub(2);
  await world.submit();
  expect((await world.stateOf(agreed.requestId)).state).toBe("settled");
  expect(await world.solverOnHub()).toBe(before + agreed.terms.origin.amount);
  expect(
    world.oracle.requests.slice(-2).map(({ body }) => [body.requestPeerSignatures, body.requireThreshold]),
  ).toEqual([
    [true, true],
    [true, true],
  ]);
});

test("lists the solver's balances on the hub and in the depositories by chain and currency", async () => {
  const { chains, quotePolicy } = world.engine.services;
  const { origin, usdc, solver } = world.engine;
  const home = { address: solver.address, chainName: quotePolicy.solverChainName };
  const agreed = await world.makeFilled();
  const before = await world.solverOnHub();
  await world.untilSettled(agreed.requestId);
  const onHub = await hubBalances(chains, world.services.hub, home);
  const amountOf = (amounts: readonly CurrencyAmount[]): bigint | undefined =>
    amounts.find((amount) => amount.chain === origin.chain.name && amount.currency.address === usdc)?.amount;
  expect(amountOf(onHub)).toBe(before + agreed.terms.origin.amount);
  expect(amountOf(await depositoryBalances(chains))).toBe(
    await origin.balance(origin.chain.contracts.depository, usdc),
  );
});

test("a fill's metric reports the time from the detection of the deposit to the block of the fill", async () => {
  const agreed = await world.makeFilled();
  const [fill] = world.engine.events
    .of("fill_mined")
    .filter(({ facts }) => facts["requestId"] === agreed.requestId);
  expect(fill?.facts).toMatchObject({
    originChain: world.engine.origin.chain.name,
    destinationChain: world.engine.destination.chain.name,
  });
  expect(fill?.facts["tookMs"]).toBeGreaterThanOrEqual(0);
  await world.untilSettled(agreed.requestId);
});

test("settles a refund of the agreed deposit by crediting the deposit to the solver", async () => {
  const before = await world.solverOnHub();
  const agreed = await world.makeRefunded();
  await world.untilSettled(agreed.requestId);
  expect(await world.solverOnHub()).toBe(before + agreed.terms.origin.amount);
});

test("fills and settles an order of a former solver key while that key is configured to sign", async () => {
  const { engine, services } = world;
  const formerSigner = rawKeySigner(`0x${"f0".repeat(32)}`);
  const agreed = await engine.quote({ recipient: engine.anAddress() }, undefined, {
    solver: formerSigner.address,
  });
  const withFormerKey = { ...services, formerSigners: [formerSigner] };
  await engine.pay(agreed);
  for (let round = 0; round < 6; round++)
    await engine.round({ ...engine.services, formerSigners: [formerSigner] });
  expect(await engine.status(agreed.requestId)).toMatchObject({ status: "success", final: true });

  await world.attest();
  expect(await world.stateOf(agreed.requestId)).toMatchObject({
    state: "due",
    reason: expect.stringContaining("SOLVER_FORMER_KEYS"),
  });
  engine.clock.forward(7 * 86_400_000);
  await world.attest(withFormerKey);
  expect((await world.stateOf(agreed.requestId)).state).toBe("attested");
  const { orderSignature } = world.oracle.requests.at(-1)?.body ?? {};
  expect(recoverSigner(messageDigest(agreed.terms.orderId), orderSignature ?? "0x")).toBe(
    formerSigner.address,
  );
});

test.for([
  { way: "a block", isHinted: false, ask: {}, status: "success" },
  { way: "a client's hint", isHinted: true, ask: { referrer: "debug-force-refund" }, status: "refund" },
])(
  "settles a deposit to a former depository, shown by $way, with status $status",
  async ({ isHinted, ask, status }) => {
    const { engine, services } = world;
    const { origin, destination } = engine;
    const before = await world.solverOnHub();
    const agreed = await engine.quote({
      recipient: engine.anAddress(),
      refundTo: engine.anAddress(),
      ...ask,
    });
    const formerDepository = origin.chain.contracts.depository;
    const depository = engine.anAddress();
    const bytecode = (await origin.client.getCode({ address: formerDepository })) ?? "0x";
    await origin.client.setCode({ address: depository, bytecode });
    const contracts = { ...origin.chain.contracts, depository, formerDepositories: [formerDepository] };
    const chain = { ...origin.chain, contracts };
    const transport = createRpcTransport({ url: chain.rpcUrl });
    const reader = createChainReader(chain, transport, { attestation: {} });
    const { connection } = origin.connected;
    const connected = { ...origin.connected, chain, connection: { ...connection, reader } };
    const chains = createChainDirectory([connected, destination.connected]);
    const withNewDepository = { ...engine.services, chains };
    const attestedChains = [attestedChain({ ...origin, chain, connected }), attestedChain(destination)];
    const oracle = await startFakeOracle(attestedChains, world.hub, world.signers.slice(0, 2));
    try {
      const txHash = await engine.pay(agreed);
      await origin.mine();
      if (isHinted) await indexTransaction(withNewDepository, { chainId: chain.id, txHash });
      else await engine.watch(origin, withNewDepository);
      expect(await engine.depositsOf(agreed.requestId)).toMatchObject([
        { txHash, depository: formerDepository },
      ]);
      expect(await engine.status(agreed.requestId)).toMatchObject({
        status: "pending",
        fundsAt: "depository",
      });
      for (let round = 0; round < 6; round++) await engine.round(withNewDepository);
      expect(await engine.status(agreed.requestId)).toMatchObject({ status, final: true });

      const settling = { ...services, oracles: world.servicesAsking(oracle).oracles, chains };
      for (let round = 0; round < 6; round++) {
        await world.attest(settling);
        await world.submit(settling);
        await world.mineHub(1);
      }
      expect(await world.stateOf(agreed.requestId)).toMatchObject({ state: "settled" });
      expect(await world.solverOnHub()).toBe(before + agreed.terms.origin.amount);
    } finally {
      await oracle.close();
      await transport.close();
    }
  },
);

test("several payments share one transaction, with deposits before the payments from them", async () => {
  const before = await world.solverOnHub();
  const requests = [await world.makeFilled(), await world.makeFilled(), await world.makeFilled()];
  const sentBefore = await world.hubClient.getTransactionCount({ address: world.engine.solver.address });
  for (const { requestId } of requests) await world.untilSettled(requestId);
  expect(await world.solverOnHub()).toBe(before + 3n * (requests[0]?.terms.origin.amount ?? 0n));
  expect(await world.hubClient.getTransactionCount({ address: world.engine.solver.address })).toBe(
    sentBefore + 1,
  );
});

test("running every settlement step again changes nothing", async () => {
  const agreed = await world.makeFilled();
  await world.untilSettled(agreed.requestId);
  const [balanceBefore, executions, requests] = [
    await world.solverOnHub(),
    await world.executions(),
    world.oracle.requests.length,
  ];
  world.engine.clock.forward(86_400_000);
  for (let round = 0; round < 3; round++) {
    await world.attest();
    await world.submit();
    await world.mineHub(3);
  }
  expect(await world.solverOnHub()).toBe(balanceBefore);
  expect(await world.executions()).toEqual(executions);
  expect(world.oracle.requests).toHaveLength(requests);
});
