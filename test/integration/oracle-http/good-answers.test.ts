import {
  decodeHubAction,
  depositKey,
  hubAlias,
  hubTokenId,
  initiationKey,
  onchainId,
  orderAddress,
  ownerAuthorizationDigest,
  signatureToHex,
  submitWithdrawRequestDigest,
  withdrawalAddress,
  withdrawalKey,
} from "@causeway/attest";
import type { Hex } from "@causeway/domain";
import { recoverAddress } from "viem";
import { afterEach, beforeEach, expect, test } from "vitest";
import { executionSigners, messageSigners } from "../../support/recovered-signers.ts";
import {
  account,
  aFill,
  anOrder,
  aRefund,
  DEPOSIT_TX,
  DEPOSITORY,
  orderIdFor,
  owner,
  RECIPIENT,
  solver,
  startWorld,
  USDC,
  USER,
  word,
} from "../../support/oracle-world.ts";
import type { World } from "../../support/oracle-world.ts";

// Checks with an independent implementation that every signature recovers to its claimed signer over the
// returned payload.

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

const chain = { name: "origin", vmType: "ethereum-vm" } as const;

test("mints, in chain order, each deposit to its order's account, or to its depositor if it has no id", async () => {
  world.origin.addDeposits(DEPOSIT_TX, [
    { depositId: word("0a"), amount: 5n },
    { index: "7", amount: 6n },
  ]);
  const { status, body, headers } = await world.post("depository-deposits", {
    chainId: "origin",
    transactionId: DEPOSIT_TX,
  });
  expect(status).toBe(200);
  expect(body.messages.map((message: { result: unknown }) => message.result)).toEqual([
    {
      onchainId: onchainId("origin", DEPOSIT_TX, "0"),
      depository: DEPOSITORY,
      depositId: word("0a"),
      depositor: USER,
      currency: USDC,
      amount: "5",
    },
    {
      onchainId: onchainId("origin", DEPOSIT_TX, "7"),
      depository: DEPOSITORY,
      depositId: word("00"),
      depositor: USER,
      currency: USDC,
      amount: "6",
    },
  ]);
  expect(body.messages[0]).toMatchObject({
    data: { chainId: "origin", transactionId: DEPOSIT_TX },
    extraData: { timestamp: "1000" },
    signature: { oracle: world.signer.address },
  });
  const tokenId = hubTokenId(chain, USDC);
  expect(body.execution.idempotencyKey).toBe(depositKey("origin", DEPOSIT_TX));
  expect(body.execution.actions.map((action: Hex) => decodeHubAction(action))).toEqual([
    {
      kind: "mint",
      to: orderAddress(chain, { depositor: USER, timestamp: 1_000n, depositId: word("0a") }),
      tokenId,
      amount: 5n,
    },
    { kind: "mint", to: hubAlias(chain, USER), tokenId, amount: 6n },
  ]);
  expect(body.execution.metadata).toMatchObject([
    { hubTokenId: tokenId.toString(), origin: { address: USDC, chainId: "origin", family: "ethereum-vm" } },
    {},
  ]);
  expect(await executionSigners(body.execution)).toEqual([world.signer.address]);
  for (const message of body.messages)
    expect(await messageSigners("depositoryDeposit", message)).toEqual([world.signer.address]);
  expect(body.quorum).toEqual({ signers: 1, threshold: 1, local: "ok" });
  expect(["local", "signers", "threshold"].map((name) => headers.get(`x-attestation-${name}`))).toEqual([
    "ok",
    "1",
    "1",
  ]);
});

test("returns an empty, unsigned list for a transaction without deposits", async () => {
  world.origin.addDeposits(DEPOSIT_TX, []);
  const { status, body } = await world.post("depository-deposits", {
    chainId: "origin",
    transactionId: DEPOSIT_TX,
    mode: "fast",
  });
  expect(status).toBe(200);
  expect(body).toEqual({ messages: [], quorum: { signers: 0, threshold: 1, local: "ok" } });
});

test("a fill credits every deposit to the solver minus the fees, with an idempotency key of order and payment", async () => {
  const order = anOrder((draft) => {
    draft.fees.push({
      recipientChainId: "destination",
      recipient: account("f1"),
      currencyChainId: "origin",
      currency: USDC,
      amount: "3",
    });
  });
  const { status, body } = await world.post("solver-fills", await aFill(world, order));
  expect(status).toBe(200);
  const tokenId = hubTokenId(chain, USDC);
  const solverAlias = hubAlias(chain, solver.address);
  expect(body.execution.actions.map((action: Hex) => decodeHubAction(action))).toEqual([
    {
      kind: "transfer",
      from: orderAddress(chain, { depositor: USER, timestamp: 1_000n, depositId: orderIdFor(order) }),
      to: solverAlias,
      tokenId,
      amount: 1_000n,
    },
    {
      kind: "transfer",
      from: solverAlias,
      to: hubAlias({ name: "destination", vmType: "ethereum-vm" }, account("f1")),
      tokenId,
      amount: 3n,
    },
  ]);
  expect(body.message.result).toEqual({
    orderId: orderIdFor(order),
    status: 1,
    totalWeightedInputPaymentBpsDiff: "0",
  });
  expect(await executionSigners(body.execution)).toEqual([world.signer.address]);
  expect(await messageSigners("solverFill", body.message)).toEqual([world.signer.address]);
});

test("a refund credits the deposit to the solver, with the idempotency key that a fill by the same payment would have", async () => {
  const request = await aRefund(world);
  const { status, body } = await world.post("solver-refunds", request);
  expect(status).toBe(200);
  expect(body.execution.actions).toHaveLength(1);
  expect(decodeHubAction(body.execution.actions[0] ?? "0x")).toMatchObject({
    kind: "transfer",
    to: hubAlias(chain, solver.address),
    amount: 1_000n,
  });
  expect(await executionSigners(body.execution)).toEqual([world.signer.address]);
  expect(await messageSigners("solverRefund", body.message)).toEqual([world.signer.address]);
});

const withdrawalFields = {
  chainId: "origin",
  currency: USDC,
  withdrawer: owner.address as string,
  withdrawerChainId: "destination",
  recipient: RECIPIENT as string,
  withdrawalNonce: word("66") as string,
};
const ownerAlias = hubAlias({ name: "destination", vmType: "ethereum-vm" }, owner.address);
const address = withdrawalAddress(chain, {
  depository: DEPOSITORY,
  currency: USDC,
  recipient: RECIPIENT,
  ownerAlias,
  nonce: word("66"),
});
const PAYLOAD = "0xabcd";
const FORMER = `0x${"0f".repeat(20)}` as const;

function withdrawalIs(
  status: "pending" | "executed" | "expired",
  formerDepositories: readonly string[] = [],
): void {
  world.origin.withdrawals.set(PAYLOAD, {
    kind: "final",
    value: {
      withdrawalId: word("77"),
      depository: DEPOSITORY,
      formerDepositories,
      status,
      recipient: RECIPIENT,
      currency: USDC,
      amount: 50n,
    },
  });
}

test.each([
  ["executed", 1, { kind: "burn", from: address, tokenId: hubTokenId(chain, USDC), amount: 50n }],
  [
    "expired",
    2,
    { kind: "transfer", from: address, to: ownerAlias, tokenId: hubTokenId(chain, USDC), amount: 50n },
  ],
] as const)("a withdrawal that is %s settles on the hub, with its own key", async (status, code, action) => {
  withdrawalIs(status);
  world.recorded.set(address, word("77"));
  const { body, status: http } = await world.post("depository-withdrawals", {
    chainId: "origin",
    withdrawal: PAYLOAD,
    transactionId: word("99"),
    withdrawalAddressRequest: withdrawalFields,
  });
  expect(http).toBe(200);
  expect(body.message.result).toEqual({
    withdrawalId: word("77"),
    depository: DEPOSITORY,
    status: code,
  });
  expect(body.execution.idempotencyKey).toBe(withdrawalKey(word("77"), status));
  expect(body.execution.actions.map((actionHex: Hex) => decodeHubAction(actionHex))).toEqual([action]);
  expect(await executionSigners(body.execution)).toEqual([world.signer.address]);
  expect(await messageSigners("depositoryWithdrawal", body.message)).toEqual([world.signer.address]);
});

test("a pending withdrawal is reported, and nothing is signed", async () => {
  withdrawalIs("pending");
  const { body } = await world.post("depository-withdrawals", {
    chainId: "origin",
    withdrawal: PAYLOAD,
    withdrawalAddressRequest: withdrawalFields,
  });
  expect(body.message.result["status"]).toBe(0);
  expect([body.message.signature, body.message.signatures, body.execution]).toEqual([
    undefined,
    [],
    undefined,
  ]);
});

const hubWithdrawal = { ...withdrawalFields, settlementChainId: "hub", expectedAmount: "50" };

async function authorized(changes: Record<string, string> = {}): Promise<Hex> {
  const digest = ownerAuthorizationDigest({
    operation: "withdrawal",
    chainId: "origin",
    currency: USDC,
    amount: "50",
    ownerChainId: "destination",
    owner: owner.address,
    recipient: RECIPIENT,
    nonce: word("66"),
    settlementChainId: "hub",
    settlementNetwork: String(world.hub.chainId),
    depository: DEPOSITORY,
    oracleContract: world.hub.oracleAddress,
    ...changes,
  });
  return signatureToHex(await owner.signDigest(digest));
}

test("a withdrawal that its owner signed and the balance covers is reserved", async () => {
  world.balances.set(`${ownerAlias}:${hubTokenId(chain, USDC)}`, 50n);
  const { status, body } = await world.post("withdrawal-initiation", {
    ...hubWithdrawal,
    signature: await authorized(),
  });
  expect(status).toBe(200);
  expect(body.message).toEqual({ data: hubWithdrawal, result: { withdrawalAddress: address } });
  expect(body.execution.idempotencyKey).toBe(initiationKey("hub", hubTokenId(chain, USDC), address));
  expect(body.execution.actions.map((action: Hex) => decodeHubAction(action))).toEqual([
    { kind: "transfer", from: ownerAlias, to: address, tokenId: hubTokenId(chain, USDC), amount: 50n },
  ]);
  expect(await executionSigners(body.execution)).toEqual([world.signer.address]);
});

test.each([
  ["another recipient", { recipient: account("b3") }],
  ["another amount", { amount: "51" }],
  ["another currency", { currency: account("c2") }],
  ["another nonce", { nonce: word("67") }],
  ["another hub", { settlementChainId: "other" }],
  ["a hub of the same name on another chain", { settlementNetwork: "72" }],
  ["another depository", { depository: account("d1") }],
  ["another environment's oracle contract", { oracleContract: account("e9") }],
])("an owner's signature for %s is rejected", async (_what, changes) => {
  world.balances.set(`${ownerAlias}:${hubTokenId(chain, USDC)}`, 50n);
  const { status, body } = await world.post("withdrawal-initiation", {
    ...hubWithdrawal,
    signature: await authorized(changes),
  });
  expect([status, body.code, body.field]).toEqual([400, "rejected", "signature"]);
});

test("a withdrawal above the owner's balance is not reserved", async () => {
  world.balances.set(`${ownerAlias}:${hubTokenId(chain, USDC)}`, 49n);
  const { body } = await world.post("withdrawal-initiation", {
    ...hubWithdrawal,
    signature: await authorized(),
  });
  expect(body.code).toBe("rejected");
});

test("confirms a reservation to the allocator, even if the balance is larger", async () => {
  world.balances.set(`${address}:${hubTokenId(chain, USDC)}`, 51n);
  const { status, body } = await world.post("withdrawal-initiated", hubWithdrawal);
  expect(status).toBe(200);
  expect(body.message.result).toEqual({
    proofOfWithdrawalAddressBalance: `${address}${(50).toString(16).padStart(64, "0")}${"66".repeat(32)}`,
    withdrawalAddress: address,
  });
  const { signatures, ...params } = body.payloadParams;
  expect(params).toEqual({
    chainId: "1",
    depository: DEPOSITORY,
    currency: USDC,
    amount: "50",
    spender: address,
    recipient: RECIPIENT,
    nonce: word("66"),
    data: "0x",
  });
  const digest = submitWithdrawRequestDigest(
    { chainId: world.hub.chainId, verifyingContract: account("e4") },
    {
      chainId: 1n,
      depository: DEPOSITORY,
      currency: USDC,
      amount: 50n,
      spender: address,
      receiver: RECIPIENT,
      data: "0x",
      nonce: word("66"),
    },
  );
  expect(
    (await recoverAddress({ hash: digest, signature: signatures[0]?.signature ?? "0x" })).toLowerCase(),
  ).toBe(world.signer.address);
  world.balances.set(`${address}:${hubTokenId(chain, USDC)}`, 49n);
  expect((await world.post("withdrawal-initiated", hubWithdrawal)).body.code).toBe("rejected");
});

test("lists chains by name, family and depository without revealing their nodes", async () => {
  const { body, text } = await world.get("/chains/v1");
  expect(body.chains[0]).toEqual({ id: "origin", vmType: "ethereum-vm", depository: DEPOSITORY });
  expect(text).not.toContain("127.0.0.1");
  expect(text).not.toContain("hub");
});

test("returns the amount of a withdrawal from a former depository that expired unused", async () => {
  const fromFormer = withdrawalAddress(chain, {
    depository: FORMER,
    currency: USDC,
    recipient: RECIPIENT,
    ownerAlias,
    nonce: word("66"),
  });
  withdrawalIs("expired", [`0x${"0e".repeat(20)}`, FORMER]);
  const ask = async () =>
    await world.post("depository-withdrawals", {
      chainId: "origin",
      withdrawal: PAYLOAD,
      withdrawalAddressRequest: withdrawalFields,
    });
  expect((await ask()).body.code).toBe("rejected");
  world.recorded.set(fromFormer, word("77"));
  const { body, status } = await ask();
  expect(status).toBe(200);
  expect(body.message.result).toEqual({ withdrawalId: word("77"), depository: FORMER, status: 2 });
  expect(body.execution.actions.map((action: Hex) => decodeHubAction(action))).toEqual([
    {
      kind: "transfer",
      from: fromFormer,
      to: ownerAlias,
      tokenId: hubTokenId(chain, USDC),
      amount: 50n,
    },
  ]);
  expect(await messageSigners("depositoryWithdrawal", body.message)).toEqual([world.signer.address]);
});
