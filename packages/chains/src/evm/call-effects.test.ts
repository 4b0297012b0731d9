import { concat, encodeFunctionData, erc20Abi, pad, parseSignature } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  depositoryAbi,
  failuresAbi,
  failuresBytecode,
  originTakerAbi,
  originTakerBytecode,
  originTokenAbi,
  originTokenBytecode,
  takerAbi,
  takerBytecode,
  testKindsAbi,
  testKindsBytecode,
  testPieceAbi,
  testPieceBytecode,
  testTokenAbi,
  testUsdAbi,
  testUsdBytecode,
} from "@causeway/contracts";
import { NATIVE_CURRENCY, type Address, type Hex } from "@causeway/domain";
import { solver as solverAccount, startEvmWorld, user, type EvmWorld } from "../../test/chain.ts";
import type { AccountChange, CallEffects, ChainReader, TracedCall } from "@causeway/families/evm";
import { judgeEffects, type ForbiddenEffect } from "./call-effects.ts";
import { createChainReader } from "./reader.ts";
import { createRpcTransport, type RpcTransport } from "../nodes/transport.ts";

const chainId = 31_033;
const fees = { maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
const executor = user.address.toLowerCase() as Address;
const solver = solverAccount.address.toLowerCase() as Address;
const solverKey: Hex = `0x${Buffer.from(solverAccount.getHdKey().privateKey ?? []).toString("hex")}`;
const stranger: Address = `0x${"57".repeat(20)}`;

let world: EvmWorld;
let transport: RpcTransport;
let reader: ChainReader;
let taker: Address;
let usd: Address;

beforeAll(async () => {
  world = await startEvmWorld(chainId);
  transport = createRpcTransport({ url: world.node.url });
  reader = createChainReader(world.chain, transport);
  taker = await world.wallet.deploy(takerAbi, takerBytecode);
  usd = await world.wallet.deploy(testUsdAbi, testUsdBytecode, ["Dollar", "USD"]);
  for (const holder of [solver, executor]) {
    await world.wallet.send({
      to: usd,
      data: encodeFunctionData({ abi: testUsdAbi, functionName: "mint", args: [holder, 1_000n] }),
    });
  }
}, 30_000);
afterAll(async () => {
  await transport.close();
  await world.node.stop();
});

/** The forbidden effect of a successful call; its gas may be spent in addition to `pricedWei`. */
async function forbiddenEffectOf(
  call: Partial<TracedCall>,
  pricedWei = 0n,
): Promise<ForbiddenEffect | undefined> {
  const outcome = await reader.trace(executor, { to: taker, data: "0x", value: 0n, ...call }, fees);
  if (outcome.kind !== "ok") throw new Error(`no success: ${JSON.stringify(outcome)}`);
  return judgeEffects(outcome.effects, {
    sender: executor,
    protectedAccounts: [executor, solver],
    allowedSpendWei: pricedWei + outcome.gasUsed * fees.maxFeePerGas,
  });
}

const serve = encodeFunctionData({ abi: takerAbi, functionName: "serve" });

async function sendAsSolver(to: Address, data: Hex): Promise<void> {
  await world.wallet.send({ to, data, from: solverAccount });
}

test("accepts a call that takes nothing, and value that was priced", async () => {
  expect(await forbiddenEffectOf({ data: serve })).toBeUndefined();
  expect(await forbiddenEffectOf({ data: serve, value: 10n ** 18n }, 10n ** 18n)).toBeUndefined();
});

test("refuses value that was not priced", async () => {
  expect(await forbiddenEffectOf({ data: serve, value: 10n ** 18n }, 10n ** 17n)).toMatchObject({
    kind: "nativeSpent",
    account: executor,
    currency: NATIVE_CURRENCY,
  });
});

test("accepts our own deposit", async () => {
  const data = encodeFunctionData({
    abi: depositoryAbi,
    functionName: "depositNative",
    args: [stranger, pad("0x01")],
  });
  expect(
    await forbiddenEffectOf({ to: world.chain.contracts.depository, data, value: 5n }, 5n),
  ).toBeUndefined();
});

test("accepts transfers of other accounts' tokens", async () => {
  const mint = encodeFunctionData({ abi: testTokenAbi, functionName: "mint", args: [stranger, 5n] });
  expect(await forbiddenEffectOf({ to: world.token, data: mint })).toBeUndefined();
});

test("refuses transfers of our tokens through an allowance", async () => {
  const take = encodeFunctionData({ abi: takerAbi, functionName: "serveAndTake", args: [usd, solver, 1n] });
  await expect(forbiddenEffectOf({ data: take })).rejects.toThrow("ERC20_INSUFFICIENT_ALLOWANCE");
  await sendAsSolver(
    usd,
    encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [taker, 500n] }),
  );
  expect(await forbiddenEffectOf({ data: take })).toMatchObject({
    kind: "tokensMoved",
    account: solver,
    currency: usd,
  });
  // The same, through another contract.
  const failures = await world.wallet.deploy(failuresAbi, failuresBytecode);
  const forwarded = encodeFunctionData({ abi: failuresAbi, functionName: "forward", args: [taker, take] });
  expect(await forbiddenEffectOf({ to: failures, data: forwarded })).toMatchObject({
    kind: "tokensMoved",
    account: solver,
  });
});

test("ignores reverted transfers", async () => {
  await sendAsSolver(
    usd,
    encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [taker, 500n] }),
  );
  const failures = await world.wallet.deploy(failuresAbi, failuresBytecode);
  const take = encodeFunctionData({ abi: takerAbi, functionName: "serveAndTake", args: [usd, solver, 1n] });
  const reverted = encodeFunctionData({
    abi: failuresAbi,
    functionName: "forwardThenSay",
    args: [taker, take, "reverted after the transfer"],
  });
  const data = encodeFunctionData({ abi: failuresAbi, functionName: "swallow", args: [failures, reverted] });
  expect(await forbiddenEffectOf({ to: failures, data })).toBeUndefined();
});

test("refuses transfers and approvals of the executor's tokens, which sends every sponsored call", async () => {
  const transfer = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [stranger, 1n] });
  expect(await forbiddenEffectOf({ to: usd, data: transfer })).toMatchObject({
    kind: "tokensMoved",
    account: executor,
  });
  const approve = encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [stranger, 1n] });
  expect(await forbiddenEffectOf({ to: usd, data: approve })).toMatchObject({
    kind: "allowanceGiven",
    account: executor,
  });
});

test("refuses transfers by tokens that authorize by transaction sender", async () => {
  const token = await world.wallet.deploy(originTokenAbi, originTokenBytecode);
  const originTaker = await world.wallet.deploy(originTakerAbi, originTakerBytecode);
  const mint = encodeFunctionData({ abi: originTokenAbi, functionName: "mint", args: [executor, 9n] });
  await world.wallet.send({ to: token, data: mint });
  const data = encodeFunctionData({ abi: originTakerAbi, functionName: "serveAndTake", args: [token, 9n] });
  expect(await forbiddenEffectOf({ to: originTaker, data })).toMatchObject({
    kind: "tokensMoved",
    account: executor,
    currency: token,
  });
});

test("refuses an allowance from one of our signatures", async () => {
  const deadline = 2n ** 40n;
  const signature = parseSignature(
    await privateKeyToAccount(solverKey).signTypedData({
      domain: { name: "Dollar", version: "1", chainId, verifyingContract: usd },
      types: {
        Permit: [
          { name: "owner", type: "address" },
          { name: "spender", type: "address" },
          { name: "value", type: "uint256" },
          { name: "nonce", type: "uint256" },
          { name: "deadline", type: "uint256" },
        ],
      },
      primaryType: "Permit",
      message: { owner: solver, spender: taker, value: 7n, nonce: 0n, deadline },
    }),
  );
  const v = signature.yParity + 27;
  const data = encodeFunctionData({
    abi: takerAbi,
    functionName: "serveAndPermit",
    args: [usd, solver, 7n, deadline, v, signature.r, signature.s],
  });
  expect(await forbiddenEffectOf({ data })).toMatchObject({
    kind: "allowanceGiven",
    account: solver,
    currency: usd,
  });
});

test("refuses transfers of our NFTs (ERC-721 and ERC-1155)", async () => {
  const piece = await world.wallet.deploy(testPieceAbi, testPieceBytecode);
  const kinds = await world.wallet.deploy(testKindsAbi, testKindsBytecode);
  await world.wallet.send({
    to: piece,
    data: encodeFunctionData({ abi: testPieceAbi, functionName: "mint", args: [solver, 1n] }),
  });
  await world.wallet.send({
    to: kinds,
    data: encodeFunctionData({ abi: testKindsAbi, functionName: "mint", args: [solver, 1n, 5n] }),
  });
  for (const abi of [testPieceAbi, testKindsAbi] as const) {
    const data = encodeFunctionData({ abi, functionName: "setApprovalForAll", args: [taker, true] });
    await sendAsSolver(abi === testPieceAbi ? piece : kinds, data);
  }
  const takeErc721 = encodeFunctionData({
    abi: takerAbi,
    functionName: "serveAndTakeCollectible",
    args: [piece, solver, 1n],
  });
  expect(await forbiddenEffectOf({ data: takeErc721 })).toMatchObject({
    kind: "tokensMoved",
    account: solver,
    currency: piece,
  });
  const takeErc1155 = encodeFunctionData({
    abi: takerAbi,
    functionName: "serveAndTakeMany",
    args: [kinds, solver, 1n, 5n],
  });
  expect(await forbiddenEffectOf({ data: takeErc1155 })).toMatchObject({
    kind: "tokensMoved",
    account: solver,
    currency: kinds,
  });
  const approveOperator = encodeFunctionData({
    abi: testKindsAbi,
    functionName: "setApprovalForAll",
    args: [stranger, true],
  });
  expect(await forbiddenEffectOf({ to: kinds, data: approveOperator })).toMatchObject({
    kind: "allowanceGiven",
    account: executor,
  });
});

test("refuses code set in our account through one of our signatures", async () => {
  const nonce = await reader.nonce(solver, "latest");
  const { r, s, yParity } = await privateKeyToAccount(solverKey).signAuthorization({
    chainId,
    address: taker,
    nonce,
  });
  const authorizationList = [
    { chainId, address: taker, nonce, r, s, yParity: yParity === 1 ? (1 as const) : (0 as const) },
  ];
  expect(await forbiddenEffectOf({ data: serve, authorizationList })).toMatchObject({
    kind: "codeChanged",
    account: solver,
  });
});

test("refuses transfers in an old event without indexed fields", () => {
  const transfer = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
  const words = (...values: readonly Hex[]): Hex => concat(values.map((value) => pad(value)));
  const judge = (topics: readonly Hex[], data: Hex) =>
    judgeEffects(
      { kind: "seen", logs: [{ address: usd, topics: [transfer, ...topics], data }], accounts: new Map() },
      { sender: executor, protectedAccounts: [solver], allowedSpendWei: 0n },
    );
  expect(judge([], words(solver, stranger, "0x05"))).toMatchObject({ kind: "tokensMoved", account: solver });
  expect(judge([pad(solver)], words(stranger, "0x05"))).toMatchObject({ kind: "tokensMoved" });
  expect(judge([], words(stranger, solver, "0x05"))).toBeUndefined();
  expect(judge([], "0x")).toBeUndefined();
});

test("refuses changed nonces, code and native balances of our other accounts", () => {
  const change = (values: Partial<AccountChange>): CallEffects => ({
    kind: "seen",
    logs: [],
    accounts: new Map([
      [
        solver,
        {
          balanceBefore: 5n,
          balanceAfter: 5n,
          nonceBefore: 1n,
          nonceAfter: 1n,
          codeChanged: false,
          ...values,
        },
      ],
    ]),
  });
  const judge = (effects: CallEffects, sender = executor) =>
    judgeEffects(effects, { sender, protectedAccounts: [executor, solver], allowedSpendWei: 3n })?.kind;
  expect(judge(change({ balanceAfter: 4n }))).toBe("nativeSpent");
  expect(judge(change({ balanceAfter: 9n }))).toBeUndefined();
  expect(judge(change({ nonceAfter: 2n }))).toBe("nonceUsed");
  expect(judge(change({ codeChanged: true }))).toBe("codeChanged");
  // As the sender, it may spend the priced amount and one nonce.
  expect(judge(change({ nonceAfter: 2n, balanceAfter: 2n }), solver)).toBeUndefined();
  expect(judge(change({ nonceAfter: 3n }), solver)).toBe("nonceUsed");
  expect(judge(change({ balanceAfter: 1n }), solver)).toBe("nativeSpent");
  expect(judge(change({ codeChanged: true }), solver)).toBe("codeChanged");
});

test("rejects effects that could not be read", () => {
  const rules = { sender: executor, protectedAccounts: [executor], allowedSpendWei: 10n ** 18n };
  expect(judgeEffects({ kind: "unseen" }, rules)).toMatchObject({ kind: "unseen" });
});
