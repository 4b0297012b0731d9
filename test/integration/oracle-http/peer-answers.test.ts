import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createAttestationSigner } from "../../../apps/oracle/src/usecases/sign-attestations.ts";
import {
  decodeHubAction,
  encodeHubAction,
  hubTokenId,
  ownerAuthorizationHash,
  signPersonalMessage,
  withdrawalKey,
} from "@causeway/attest";
import type { Hex } from "@causeway/domain";
import { afterEach, expect, test } from "vitest";
import {
  aChain,
  account,
  aFill,
  aHub,
  aRefund,
  DEPOSIT_TX,
  DEPOSITORY,
  FakeChain,
  oracleSigner,
  owner,
  RECIPIENT,
  startOracleWorld,
  USDC,
  word,
} from "../../support/oracle-world.ts";
import type { AnswerBody, OracleWorld } from "../../support/oracle-world.ts";

// An oracle never forwards unsigned fields and irrelevant signatures of a peer. The signer list is
// configured, and the oracle's own nodes have no data.

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(cleanups.splice(0).map(async (close) => await close()));
});

type Edit = (body: AnswerBody) => unknown;

const honestSigner = oracleSigner(1);
const honestAttestationSigner = createAttestationSigner(honestSigner, aHub, () => undefined);

/** A peer that edits an honest peer's answer before it forwards it. */
async function startEditingRelay(target: string, edit: Edit): Promise<string> {
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => (text += String(chunk)));
    request.on("end", async () => {
      const headers = { "content-type": "application/json" };
      const answer = await fetch(`${target}${request.url}`, { method: "POST", headers, body: text });
      const body = (await answer.json()) as AnswerBody;
      await edit(body);
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The answer of an oracle without its own data. Its only peer edits an honest oracle's answer. */
async function postThroughEditingPeer(
  route: string,
  requestOf: (honest: OracleWorld) => Promise<object>,
  edit: Edit,
): Promise<{ readonly status: number; readonly body: AnswerBody }> {
  const signers = new Set([honestSigner.address, oracleSigner(0).address]);
  const honest = await startOracleWorld({ signer: honestSigner });
  cleanups.push(honest.close);
  honest.balances.get = () => 50n;
  honest.recordedWithdrawals.get = () => word("77");
  const request = await requestOf(honest);
  const oracleWithoutData = await startOracleWorld({
    signers,
    peers: [await startEditingRelay(honest.url, edit)],
  });
  cleanups.push(oracleWithoutData.close);
  const { status, body } = await oracleWithoutData.post(route, { ...request, requestPeerSignatures: true });
  return { status, body };
}

const withdrawalFields = {
  chainId: "origin",
  currency: USDC,
  withdrawer: owner.address,
  withdrawerChainId: "origin",
  recipient: RECIPIENT,
  withdrawalNonce: word("66"),
};
const initiationFields = { ...withdrawalFields, settlementChainId: "hub", expectedAmount: "50" };

const cases = {
  "depository-deposits": async (honest: OracleWorld) => {
    honest.origin.addDeposits(DEPOSIT_TX, [{ depositId: word("0a") }, {}]);
    return { chainId: "origin", transactionId: DEPOSIT_TX };
  },
  "solver-fills": async (honest: OracleWorld) => await aFill(honest),
  "solver-refunds": async (honest: OracleWorld) => await aRefund(honest),
  "depository-withdrawals": async (honest: OracleWorld) => {
    const value = {
      withdrawalId: word("77"),
      depository: DEPOSITORY,
      status: "executed",
      recipient: RECIPIENT,
      currency: USDC,
      amount: 50n,
    } as const;
    honest.origin.withdrawals.set("0xabcd", { kind: "final", value });
    return { chainId: "origin", withdrawal: "0xabcd", withdrawalAddressRequest: withdrawalFields };
  },
  "withdrawal-initiation": async () => ({
    ...initiationFields,
    signature: await signPersonalMessage(
      owner,
      ownerAuthorizationHash({
        operation: "withdrawal",
        chainId: withdrawalFields.chainId,
        currency: withdrawalFields.currency,
        amount: initiationFields.expectedAmount,
        ownerChainId: withdrawalFields.withdrawerChainId,
        owner: withdrawalFields.withdrawer,
        recipient: withdrawalFields.recipient,
        nonce: withdrawalFields.withdrawalNonce,
        settlementChainId: "hub",
        settlementNetwork: String(aHub.chainId),
        depository: DEPOSITORY,
        oracleContract: aHub.oracleAddress,
      }),
    ),
  }),
  "withdrawal-initiated": async () => initiationFields,
};

test.each(Object.entries(cases))("%s: unsigned fields are not passed on", async (route, ask) => {
  const { status, body } = await postThroughEditingPeer(route, ask, (answer) => {
    Object.assign(answer, { quorum: { signers: 9, threshold: 9, local: "ok" }, remark: "<script>" });
    const forgedOrigin = { address: "<script>", chainId: "mars", family: "x" };
    const metadata = [
      { hubTokenId: "666", origin: forgedOrigin, oracleChainId: "1", oracleContract: account("66") },
    ];
    if (answer.execution !== undefined) Object.assign(answer.execution, { metadata, remark: "<script>" });
    for (const message of [...(answer.messages ?? []), answer.message ?? {}])
      Object.assign(message, { remark: "<script>", extra: { timestamp: "4242424242" } });
  });
  expect(status).toBe(200);
  expect(JSON.stringify(body)).not.toMatch(/script|mars|"666"|4242424242/);
  expect(body.quorum.signers).toBe(1);
  if (route === "depository-deposits")
    expect(body.execution.metadata).toEqual(
      [0, 1].map(() => ({
        hubTokenId: hubTokenId({ name: "origin", vmType: "ethereum-vm" }, USDC).toString(),
        origin: { address: USDC, chainId: "origin", family: "ethereum-vm" },
        oracleChainId: String(aHub.chainId),
        oracleContract: aHub.oracleAddress,
      })),
    );
  else expect(body.execution?.metadata).toBeUndefined();
});

test("forwards a deposit's time if the signed mint proves it, and omits it otherwise", async () => {
  const { body } = await postThroughEditingPeer(
    "depository-deposits",
    cases["depository-deposits"],
    (answer) => Object.assign(answer.messages[1] ?? {}, { extraData: { timestamp: "4242424242" } }),
  );
  expect(body.messages.map((message) => (message as { extraData?: unknown }).extraData)).toEqual([
    { timestamp: "1000" },
    undefined,
  ]);
});

const replaceExecution = async (body: AnswerBody, changes: { idempotencyKey?: Hex; actions?: Hex[] }) => {
  const { idempotencyKey, actions } = { ...body.execution, ...changes };
  Object.assign(body, {
    execution: await honestAttestationSigner.signExecution({ idempotencyKey, actions }),
  });
};
const aBurn = (from: Hex, amount = 50n, currency: string = USDC): Hex =>
  encodeHubAction({
    kind: "burn",
    from,
    tokenId: hubTokenId({ name: "origin", vmType: "ethereum-vm" }, currency),
    amount,
  });
const spenderOf = ({ execution }: AnswerBody): Hex => {
  const action = decodeHubAction(execution.actions[0] ?? "0x");
  if (action.kind !== "burn") throw new Error("expected a burn of the executed withdrawal");
  return action.from;
};

test.each<[keyof typeof cases, string, Edit]>([
  [
    "depository-deposits",
    "another time",
    (b) => Object.assign(b.messages[0] ?? {}, { extraData: { timestamp: "1001" } }),
  ],
  ["depository-deposits", "no time", (b) => delete (b.messages[0] as { extraData?: unknown }).extraData],
  ["depository-deposits", "another key", (b) => replaceExecution(b, { idempotencyKey: word("99") })],
  [
    "depository-deposits",
    "another mint",
    (b) => replaceExecution(b, { actions: [...b.execution.actions].toReversed() }),
  ],
  [
    "depository-deposits",
    "an extra mint",
    (b) => replaceExecution(b, { actions: [...b.execution.actions, ...b.execution.actions.slice(0, 1)] }),
  ],
  [
    "depository-deposits",
    "another transaction",
    (b) => b.messages.forEach(({ data }) => Object.assign(data, { transactionId: word("99") })),
  ],
  ["solver-fills", "another key", (b) => replaceExecution(b, { idempotencyKey: word("99") })],
  ["solver-fills", "another order's id", (b) => Object.assign(b.message.result, { orderId: word("99") })],
  [
    "solver-fills",
    "other data",
    (b) => Object.assign(b.message.data, { fill: { transactionId: word("99") } }),
  ],
  ["solver-refunds", "another key", (b) => replaceExecution(b, { idempotencyKey: word("99") })],
  ["solver-refunds", "other data", (b) => Object.assign(b.message.data, { refunds: [] })],
  [
    "depository-withdrawals",
    "another owner's address",
    (b) => replaceExecution(b, { actions: [aBurn(account("99"))] }),
  ],
  [
    "depository-withdrawals",
    "another currency",
    (b) => replaceExecution(b, { actions: [aBurn(spenderOf(b), 50n, account("c9"))] }),
  ],
  [
    "depository-withdrawals",
    "two burns",
    (b) => replaceExecution(b, { actions: [...b.execution.actions, ...b.execution.actions] }),
  ],
  [
    "depository-withdrawals",
    "an expiry's key",
    (b) => replaceExecution(b, { idempotencyKey: withdrawalKey(word("77"), "expired") }),
  ],
  [
    "depository-withdrawals",
    "another payload",
    (b) => Object.assign(b.message.data, { withdrawal: "0xabce" }),
  ],
  ["withdrawal-initiation", "another key", (b) => replaceExecution(b, { idempotencyKey: word("99") })],
  [
    "withdrawal-initiation",
    "another action",
    (b) => replaceExecution(b, { actions: [aBurn(account("99"))] }),
  ],
  [
    "withdrawal-initiation",
    "another recipient",
    (b) => Object.assign(b.message.data, { recipient: account("99") }),
  ],
  ["withdrawal-initiated", "another amount", (b) => Object.assign(b.message.data, { expectedAmount: "51" })],
  [
    "withdrawal-initiated",
    "another recipient",
    (b) => Object.assign(b.payloadParams, { recipient: account("99") }),
  ],
  [
    "withdrawal-initiated",
    "another spender",
    (b) => Object.assign(b.payloadParams, { spender: account("99") }),
  ],
])("%s: a signed answer with %s does not count", async (route, _what, edit) => {
  const { status, body } = await postThroughEditingPeer(route, cases[route], edit);
  expect(status).toBeGreaterThanOrEqual(400);
  expect(JSON.stringify(body)).not.toMatch(/0x[0-9a-f]{130}/);
});

test("two slightly different concurrent requests each get their own answer", async () => {
  const world = await startOracleWorld({ hub: { allocatorAddress: aHub.allocatorAddress } });
  cleanups.push(world.close);
  const delay = async (): Promise<void> => await new Promise((resolve) => setTimeout(resolve, 150));
  world.hubReads.delayMs = 150;
  const statuses = async (route: string, ...bodies: object[]): Promise<number[]> => {
    world.origin.trouble = world.destination.trouble = delay;
    const answers = await Promise.all(bodies.map(async (body) => await world.post(route, body)));
    world.origin.trouble = world.destination.trouble = undefined;
    return answers.map(({ status }) => status);
  };
  const otherTransaction = word("99");
  const fill = await aFill(world);
  const otherInputs = fill.inputs.map((input) => ({ ...input, transactionId: otherTransaction }));
  expect(
    await statuses(
      "solver-fills",
      fill,
      { ...fill, fill: { transactionId: otherTransaction } },
      { ...fill, inputs: otherInputs },
      fill,
    ),
  ).toEqual([200, 400, 400, 200]);

  const refund = await aRefund(world);
  const otherRefunds = refund.refunds.map((listed) => ({ ...listed, transactionId: otherTransaction }));
  expect(
    await statuses(
      "solver-refunds",
      refund,
      { ...refund, refunds: otherRefunds },
      { ...refund, inputs: otherInputs },
      refund,
    ),
  ).toEqual([200, 400, 400, 200]);

  const withdrawal = await cases["depository-withdrawals"](world);
  world.recordedWithdrawals.get = () => word("77");
  expect(
    await statuses(
      "depository-withdrawals",
      withdrawal,
      { ...withdrawal, withdrawal: "0xabce" },
      { ...withdrawal, withdrawalAddressRequest: { ...withdrawalFields, recipient: account("99") } },
      withdrawal,
    ),
  ).toEqual([200, 400, 400, 200]);

  // The second request has the same signature and another amount, so it is refused before it shares anything
  // with the first. The third request repeats the first.
  const initiation = await cases["withdrawal-initiation"]();
  world.balances.get = () => 50n;
  expect(
    await statuses("withdrawal-initiation", initiation, { ...initiation, expectedAmount: "51" }, initiation),
  ).toEqual([200, 400, 200]);
  expect(
    await statuses(
      "withdrawal-initiated",
      initiationFields,
      { ...initiationFields, expectedAmount: "51" },
      initiationFields,
    ),
  ).toEqual([200, 400, 200]);

  world.origin.addDeposits(DEPOSIT_TX, [{}]);
  const deposit = { chainId: "origin", transactionId: DEPOSIT_TX };
  expect(
    await statuses(
      "depository-deposits",
      deposit,
      { ...deposit, transactionId: otherTransaction },
      {
        ...deposit,
        chainId: "destination",
      },
    ),
  ).toEqual([200, 400, 400]);
});

test("concurrent withdrawal initiations by the same owner get separate answers", async () => {
  const world = await startOracleWorld();
  cleanups.push(world.close);
  world.hubReads.delayMs = 150;
  world.balances.get = () => 50n;
  const initiation = async (nonce: Hex) => {
    const request = { ...initiationFields, withdrawalNonce: nonce };
    const hash = ownerAuthorizationHash({
      operation: "withdrawal",
      chainId: withdrawalFields.chainId,
      currency: withdrawalFields.currency,
      amount: initiationFields.expectedAmount,
      ownerChainId: withdrawalFields.withdrawerChainId,
      owner: withdrawalFields.withdrawer,
      recipient: withdrawalFields.recipient,
      nonce,
      settlementChainId: "hub",
      settlementNetwork: String(aHub.chainId),
      depository: DEPOSITORY,
      oracleContract: aHub.oracleAddress,
    });
    const signature = await signPersonalMessage(owner, hash);
    return (await world.post("withdrawal-initiation", { ...request, signature })).body;
  };
  const [first, second] = await Promise.all([initiation(word("66")), initiation(word("67"))]);
  expect(first.message.data).toMatchObject({ withdrawalNonce: word("66") });
  expect(second.message.data).toMatchObject({ withdrawalNonce: word("67") });
  expect(first.execution.idempotencyKey).not.toBe(second.execution.idempotencyKey);
});

test("returns the peers' quorum, without its own signature, when the peers disagree with it", async () => {
  const chainWithDeposit = (amount: bigint, delayMs: number): FakeChain => {
    const origin = new FakeChain(aChain("origin", 1));
    origin.addDeposits(DEPOSIT_TX, [{ amount }]);
    origin.trouble = async () => await new Promise((resolve) => setTimeout(resolve, delayMs));
    return origin;
  };
  const signers = [0, 1, 2].map((n) => oracleSigner(n));
  const quorumOptions = { signers: new Set(signers.map(({ address }) => address)), threshold: 2 };
  const peers = await Promise.all(
    [1, 2].map(
      async (n) =>
        await startOracleWorld({
          ...quorumOptions,
          origin: chainWithDeposit(8n, 400),
          signer: oracleSigner(n),
        }),
    ),
  );
  const main = await startOracleWorld({
    ...quorumOptions,
    origin: chainWithDeposit(7n, 0),
    peers: peers.map(({ url }) => url),
  });
  cleanups.push(...[main, ...peers].map(({ close }) => close));
  const request = { chainId: "origin", transactionId: DEPOSIT_TX, requestPeerSignatures: true };
  const { status, body, text } = await main.post("depository-deposits", request);
  expect([status, body.quorum]).toEqual([200, { signers: 2, threshold: 2, local: "mismatch" }]);
  expect(body.messages[0]?.result["amount"]).toBe("8");
  expect(text).not.toContain(main.signer.address);
});
