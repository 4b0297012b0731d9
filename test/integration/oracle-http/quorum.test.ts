import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { depositKey, onchainId, orderAddress } from "@causeway/attest";
import { afterEach, expect, test } from "vitest";
import { executionSigners, messageSigners } from "../../support/recovered-signers.ts";
import {
  aChain,
  account,
  aFill,
  aRefund,
  DEPOSIT_TX,
  FakeChain,
  oracleSigner,
  owner,
  startOracleWorld,
  USDC,
  word,
} from "../../support/oracle-world.ts";
import type { OracleWorld, OracleWorldOptions } from "../../support/oracle-world.ts";

// Several oracles on their own sockets. They are peers of each other, and read the same chains.

const worlds: OracleWorld[] = [];
afterEach(async () => {
  await Promise.all(worlds.splice(0).map(async (world) => await world.close()));
});

const OTHER_TX = word("12");
const addresses = [0, 1, 2].map((n) => oracleSigner(n).address);
const chains = () => ({
  origin: new FakeChain(aChain("origin", 1)),
  destination: new FakeChain(aChain("destination", 2)),
});

/** One oracle with two peers. All three signers are listed, and two signatures are required. */
async function startThreeOracles(
  mainOptions: Partial<OracleWorldOptions> = {},
  peerOptions: readonly Partial<OracleWorldOptions>[] = [],
) {
  const shared = chains();
  const quorumOptions = { signers: new Set(addresses), threshold: 2 };
  const peers = await Promise.all(
    [1, 2].map(
      async (n) =>
        await startOracleWorld({
          ...shared,
          ...quorumOptions,
          signer: oracleSigner(n),
          ...peerOptions[n - 1],
        }),
    ),
  );
  const main = await startOracleWorld({
    ...shared,
    ...quorumOptions,
    signer: oracleSigner(0),
    peers: peers.map(({ url }) => url),
    ...mainOptions,
  });
  worlds.push(main, ...peers);
  return { main, peers, ...shared };
}

const deposit = { chainId: "origin", transactionId: DEPOSIT_TX, requestPeerSignatures: true };

test("any number of deposits in one transaction gets a quorum, in parts that each have an execution", async () => {
  const { main, origin } = await startThreeOracles();
  origin.addDeposits(
    DEPOSIT_TX,
    Array.from({ length: 300 }, (_, index) => ({ depositId: word("0a"), amount: BigInt(index + 1) })),
  );
  const parts = [];
  // The parts are requested in sequence, as a solver does, because concurrent requests would need 900
  // concurrent signatures.
  for (const part of [0, 1, 2, 3, 4, 5])
    parts.push((await main.post("depository-deposits", { ...deposit, part })).body);
  expect(parts.map(({ messages }) => messages.length)).toEqual([64, 64, 64, 64, 44, 0]);
  const amounts = parts.flatMap(({ messages }) => messages.map(({ result }) => Number(result["amount"])));
  expect(amounts).toEqual(Array.from({ length: 300 }, (_, index) => index + 1));
  const attested = parts.slice(0, 5);
  expect(new Set(attested.map(({ execution }) => execution.idempotencyKey)).size).toBe(5);
  for (const { execution, messages } of attested) {
    expect((await executionSigners(execution)).length).toBeGreaterThanOrEqual(2);
    expect(execution.actions).toHaveLength(messages.length);
  }
  expect(parts[5]?.execution).toBeUndefined();
});

test("signs transfers without an order in later parts, and not with the deposits of an order", async () => {
  const { main, origin } = await startThreeOracles();
  const bare = Array.from({ length: 300 }, () => ({ currency: account("f4"), isBare: true as const }));
  origin.addDeposits(DEPOSIT_TX, [...bare.slice(0, 150), { depositId: word("0a") }, ...bare.slice(150)]);
  const { body } = await main.post("depository-deposits", deposit);
  expect(body.messages.map(({ result }) => result["depositId"])).toEqual([word("0a")]);
  expect(body.execution.actions).toHaveLength(1);
  expect((await executionSigners(body.execution)).length).toBeGreaterThanOrEqual(2);
  const next = await main.post("depository-deposits", { ...deposit, part: 1 });
  expect(next.body.messages.map(({ result }) => result["currency"])).toEqual(Array(64).fill(account("f4")));
  // Without a deposit for an order, the transfers are in the first part.
  origin.addDeposits(DEPOSIT_TX, bare.slice(0, 2));
  expect((await main.post("depository-deposits", deposit)).body.messages).toHaveLength(2);
});

test("attests a transaction from before depositPartsSince as one execution under its former key", async () => {
  const withPartsSince = (depositPartsSince: number) => ({ hub: { depositPartsSince } });
  const before = await startThreeOracles(withPartsSince(1_001), [
    withPartsSince(1_001),
    withPartsSince(1_001),
  ]);
  const depositAndTransfer = [{ depositId: word("0a") }, { currency: account("f4"), isBare: true as const }];
  before.origin.addDeposits(DEPOSIT_TX, depositAndTransfer);
  const undivided = (await before.main.post("depository-deposits", deposit)).body;
  expect(undivided.messages.map(({ result }) => result["depositId"])).toEqual([word("0a"), word("00")]);
  expect(undivided.execution.actions).toHaveLength(2);
  expect(undivided.execution.idempotencyKey).toBe(depositKey("origin", DEPOSIT_TX));
  expect((await executionSigners(undivided.execution)).length).toBeGreaterThanOrEqual(2);
  const later = await before.main.post("depository-deposits", { ...deposit, part: 1 });
  expect(later).toMatchObject({ status: 400, body: { code: "rejected", field: "part" } });
  // A different transaction, because this oracle may still be signing its answer for the first one.
  before.origin.addDeposits(
    OTHER_TX,
    Array.from({ length: 257 }, () => ({ depositId: word("0a") })),
  );
  const tooMany = await before.main.post("depository-deposits", { ...deposit, transactionId: OTHER_TX });
  expect(tooMany).toMatchObject({ status: 400, body: { code: "rejected", field: "transactionId" } });
  expect(tooMany.text).toContain("at most 256");

  const after = await startThreeOracles(withPartsSince(1_000), [
    withPartsSince(1_000),
    withPartsSince(1_000),
  ]);
  after.origin.addDeposits(DEPOSIT_TX, depositAndTransfer);
  const parts = await Promise.all(
    [0, 1].map(async (part) => (await after.main.post("depository-deposits", { ...deposit, part })).body),
  );
  expect(parts.map(({ execution }) => execution.actions.length)).toEqual([1, 1]);
  expect(parts.map(({ execution }) => execution.idempotencyKey)).toEqual([
    depositKey("origin", DEPOSIT_TX),
    depositKey("origin", DEPOSIT_TX, 1),
  ]);
});

test("returns no part of a transaction from before this oracle's depositPartsSince, although its peers divide the transaction", async () => {
  const { main, origin } = await startThreeOracles({ hub: { depositPartsSince: 1_001 } });
  origin.addDeposits(
    DEPOSIT_TX,
    Array.from({ length: 65 }, () => ({ depositId: word("0a") })),
  );
  expect(await main.post("depository-deposits", { ...deposit, part: 1 })).toMatchObject({
    status: 400,
    body: { code: "rejected", field: "part" },
  });
});

test("combines every kind of answer, sorted by signer, with each signature over the returned payload", async () => {
  const { main, peers, origin } = await startThreeOracles({ threshold: 3 });
  origin.addDeposits(DEPOSIT_TX, [{ depositId: word("0a") }, {}]);
  const deposits = await main.post("depository-deposits", deposit);
  expect(deposits.status).toBe(200);
  const sorted = addresses.toSorted();
  expect(await executionSigners(deposits.body.execution)).toEqual(sorted);
  for (const message of deposits.body.messages) {
    expect(await messageSigners("depositoryDeposit", message)).toEqual(sorted);
    expect(message.signature?.oracle).toBe(addresses[0]);
  }
  expect(deposits.body.quorum).toEqual({ signers: 3, threshold: 3, local: "ok" });

  const fill = await main.post("solver-fills", { ...(await aFill(main)), requestPeerSignatures: true });
  expect(await executionSigners(fill.body.execution)).toEqual(sorted);
  expect(await messageSigners("solverFill", fill.body.message)).toEqual(sorted);

  const refund = await main.post("solver-refunds", { ...(await aRefund(main)), requestPeerSignatures: true });
  expect(await executionSigners(refund.body.execution)).toEqual(sorted);
  expect(await messageSigners("solverRefund", refund.body.message)).toEqual(sorted);

  origin.withdrawals.set("0xabcd", {
    kind: "final",
    value: {
      withdrawalId: word("77"),
      depository: account("dd"),
      status: "executed",
      recipient: account("b2"),
      currency: USDC,
      amount: 50n,
    },
  });
  const withdrawalFields = {
    chainId: "origin",
    currency: USDC,
    withdrawer: owner.address,
    withdrawerChainId: "origin",
    recipient: account("b2"),
    withdrawalNonce: word("66"),
  };
  for (const oracle of [main, ...peers]) oracle.recordedWithdrawals.get = () => word("77");
  const withdrawal = await main.post("depository-withdrawals", {
    chainId: "origin",
    withdrawal: "0xabcd",
    withdrawalAddressRequest: withdrawalFields,
    requestPeerSignatures: true,
  });
  expect(await executionSigners(withdrawal.body.execution)).toEqual(sorted);
  expect(await messageSigners("depositoryWithdrawal", withdrawal.body.message)).toEqual(sorted);

  for (const oracle of [main, ...peers]) oracle.balances.get = () => 50n;
  const initiated = await main.post("withdrawal-initiated", {
    ...withdrawalFields,
    settlementChainId: "hub",
    expectedAmount: "50",
    requestPeerSignatures: true,
  });
  expect(
    initiated.body.payloadParams.signatures.map(
      (signature: { oracleSigner: string }) => signature.oracleSigner,
    ),
  ).toEqual(sorted);
});

test("without a list of signers a threshold has no effect", async () => {
  const singleOracle = await startOracleWorld({ threshold: 2 });
  worlds.push(singleOracle);
  singleOracle.origin.addDeposits(DEPOSIT_TX, [{}]);
  const { status, body } = await singleOracle.post("depository-deposits", {
    ...deposit,
    requireThreshold: true,
  });
  expect([status, body.quorum]).toEqual([200, { signers: 1, threshold: 1, local: "ok" }]);
});

test("queries no peer unless the caller sets requestPeerSignatures", async () => {
  const { main, peers, origin } = await startThreeOracles();
  origin.addDeposits(DEPOSIT_TX, [{}]);
  const { body } = await main.post("depository-deposits", { ...deposit, requestPeerSignatures: false });
  expect(body.quorum).toEqual({ signers: 1, threshold: 2, local: "ok" });
  expect(peers.flatMap(({ outcomes }) => outcomes)).toEqual([]);
});

test("with too few signatures, callers with requireThreshold get 409, and all others a success that says so", async () => {
  const { main, origin } = await startThreeOracles({ peers: [] });
  origin.addDeposits(DEPOSIT_TX, [{}]);
  expect((await main.post("depository-deposits", deposit)).body.quorum).toEqual({
    signers: 1,
    threshold: 2,
    local: "ok",
  });
  const strict = await main.post("depository-deposits", { ...deposit, requireThreshold: true });
  expect([strict.status, strict.body.code]).toEqual([409, "quorum_not_reached"]);
  origin.addDeposits(DEPOSIT_TX, []);
  // An answer with nothing to sign needs no signatures.
  expect((await main.post("depository-deposits", { ...deposit, requireThreshold: true })).status).toBe(200);
});

test("peers alone can satisfy the quorum, and the answer says that this oracle did not sign it", async () => {
  const emptyChains = chains();
  const { main, origin } = await startThreeOracles(emptyChains);
  origin.addDeposits(DEPOSIT_TX, [{ depositId: word("0a") }]);
  const { status, body, headers } = await main.post("depository-deposits", deposit);
  expect(status).toBe(200);
  expect(await executionSigners(body.execution)).toEqual(addresses.slice(1).toSorted());
  expect(["failed", "pending"]).toContain(body.quorum.local);
  expect(headers.get("x-attestation-local")).toBe(body.quorum.local);
});

test("prefers the local answer over an answer with as many signers, whatever and whenever the peer answers", async () => {
  const chainWithDeposit = (amount: bigint): FakeChain => {
    const { origin } = chains();
    origin.addDeposits(DEPOSIT_TX, [{ amount }]);
    return origin;
  };
  for (const [ownAmount, peerAmount] of [
    [7n, 8n],
    [8n, 7n],
  ] as const) {
    const { main } = await startThreeOracles({ origin: chainWithDeposit(ownAmount) }, [
      { origin: chainWithDeposit(peerAmount) },
      chains(),
    ]);
    const { body } = await main.post("depository-deposits", deposit);
    expect(body.messages[0]?.result["amount"]).toBe(ownAmount.toString());
    expect(body.quorum).toEqual({ signers: 1, threshold: 2, local: "ok" });
    expect(await executionSigners(body.execution)).toEqual([addresses[0]]);
  }
});

test("of two contradicting peers, always chooses the same one, whichever is queried first or answers first", async () => {
  const answers = new Set<string>();
  for (const first of [7n, 8n])
    for (const slowAmount of [7n, 8n]) {
      const chainWithDeposit = (amount: bigint): FakeChain => {
        const { origin } = chains();
        origin.addDeposits(DEPOSIT_TX, [{ amount }]);
        if (amount === slowAmount)
          origin.trouble = async () => await new Promise((resolve) => setTimeout(resolve, 80));
        return origin;
      };
      const { main } = await startThreeOracles(chains(), [
        { origin: chainWithDeposit(first) },
        { origin: chainWithDeposit(15n - first) },
      ]);
      const { body } = await main.post("depository-deposits", deposit);
      expect(body.quorum).toMatchObject({ signers: 1, threshold: 2, local: "failed" });
      answers.add(JSON.stringify([body.messages[0]?.result["amount"], body.execution.idempotencyKey]));
    }
  expect(answers.size).toBe(1);
});

test("refuses valid signatures for another transaction, complete or partial", async () => {
  const emptyChains = chains();
  const { main, peers, origin } = await startThreeOracles(emptyChains);
  origin.addDeposits(DEPOSIT_TX, [{ depositId: word("0a") }]);
  origin.addDeposits(word("99"), [{ depositId: word("0a") }]);
  const withoutPeers = { ...deposit, requestPeerSignatures: false };
  const otherAnswer = (await peers[0]?.post("depository-deposits", withoutPeers))?.body;
  const rightAnswer = (
    await peers[0]?.post("depository-deposits", { ...withoutPeers, transactionId: word("99") })
  )?.body;
  const statusWith = async (answer: object) => {
    const relay = await startFixedAnswerPeer(JSON.stringify(answer));
    const world = await startOracleWorld({ ...emptyChains, signers: new Set(addresses), peers: [relay.url] });
    worlds.push(world);
    const { status } = await world.post("depository-deposits", { ...deposit, transactionId: word("99") });
    await relay.close();
    return status;
  };
  expect(await statusWith({ ...rightAnswer })).toBe(200);
  expect(await statusWith({ ...otherAnswer })).toBe(400);
  expect(await statusWith({ ...rightAnswer, messages: otherAnswer?.messages })).toBe(400);
  expect(await statusWith({ ...rightAnswer, execution: otherAnswer?.execution })).toBe(400);
  expect(main.warnings).toEqual([]);
});

/** A peer that gives every caller this answer. */
async function startFixedAnswerPeer(text: string) {
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "application/json");
    response.end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test("in shadow mode, marks answers and counts the agreement with peers", async () => {
  const { main, peers, origin } = await startThreeOracles({ shadow: true, threshold: 3 });
  origin.addDeposits(DEPOSIT_TX, [{}]);
  const { body } = await main.post("depository-deposits", deposit);
  expect(body.shadow).toBe(true);
  expect((await peers[0]?.post("depository-deposits", deposit))?.body.shadow).toBeUndefined();
  const report = await main.get("/shadow/v1/report");
  expect(report.body).toMatchObject({
    shadow: true,
    attestations: 1,
    local: { ok: 1, alone: 0, failed: 0, mismatch: 0, pending: 0 },
    agreement: 1,
  });
});

test("a shadow that is slower than its peers is compared when it is done", async () => {
  const slowChains = chains();
  const { main, origin } = await startThreeOracles({ ...slowChains, shadow: true });
  origin.addDeposits(DEPOSIT_TX, [{}]);
  slowChains.origin.addDeposits(DEPOSIT_TX, [{ amount: 999n }]);
  slowChains.origin.trouble = async () => await new Promise((resolve) => setTimeout(resolve, 200));
  expect((await main.post("depository-deposits", deposit)).body.quorum.local).toBe("pending");
  await expect
    .poll(async () => (await main.get("/shadow/v1/report")).body.local)
    .toMatchObject({ mismatch: 1, pending: 0 });
});

test("honest oracles give byte-identical answers, regardless of the order in which their nodes list events", async () => {
  const { main, peers, origin } = await startThreeOracles();
  origin.addDeposits(DEPOSIT_TX, [{ depositId: word("0a") }, { index: "9" }]);
  const answers = await Promise.all(
    [main, ...peers].map(
      async (oracle) =>
        (await oracle.post("depository-deposits", { ...deposit, requestPeerSignatures: false })).body,
    ),
  );
  const payloads = answers.map((body) =>
    JSON.stringify([
      body.messages.map(({ data, result }: { data: object; result: object }) => [data, result]),
      body.execution.idempotencyKey,
      body.execution.actions,
    ]),
  );
  expect(new Set(payloads).size).toBe(1);
  expect(payloads[0]).toContain(onchainId("origin", DEPOSIT_TX, "9"));
  const holder = orderAddress(
    { name: "origin", vmType: "ethereum-vm" },
    { depositor: account("a1"), timestamp: 1_000n, depositId: word("0a") },
  );
  expect(payloads[0]).toContain(holder.slice(2));
});
