import { concat, encodeErrorResult, encodeFunctionData, getAbiItem, type Address, type Hex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  approve,
  eventsOf,
  deployApprovedToken,
  id,
  mint,
  reenteredError,
  transfer,
  zeroAddress,
} from "../test/calls.ts";
import { accounts, startTestChain, type TestChain } from "../test/chain.ts";
import { callbackTokenAbi, callbackTokenBytecode } from "./generated/callback-token.ts";
import {
  blocksRecipientAbi,
  blocksRecipientBytecode,
  depositoryAbi,
  depositoryBytecode,
  feeOnTransferAbi,
  feeOnTransferBytecode,
  returnsFalseAbi,
  returnsFalseBytecode,
  returnsNothingAbi,
  returnsNothingBytecode,
  transferErrorsAbi,
} from "./index.ts";

const { user, owner, allocator, stranger } = accounts;
const pullFailed = encodeErrorResult({ abi: transferErrorsAbi, errorName: "TransferFromFailed" });

let chain: TestChain;
let depository: Address;

beforeAll(async () => {
  chain = await startTestChain();
  depository = await chain.deploy(depositoryAbi, depositoryBytecode, [owner.address, allocator.address]);
});
afterAll(async () => await chain.stop());

function depositNative(depositor: Address): Hex {
  return encodeFunctionData({ abi: depositoryAbi, functionName: "depositNative", args: [depositor, id] });
}

function depositErc20(token: Address, amount: bigint, depositor: Address = zeroAddress): Hex {
  return encodeFunctionData({
    abi: depositoryAbi,
    functionName: "depositErc20",
    args: [depositor, token, amount, id],
  });
}

function depositAllErc20(token: Address, depositor: Address = zeroAddress): Hex {
  return encodeFunctionData({
    abi: depositoryAbi,
    functionName: "depositErc20",
    args: [depositor, token, id],
  });
}

test("a native deposit without a depositor belongs to the caller", async () => {
  const before = await chain.nativeBalance(depository);
  const receipt = await chain.send(user, { to: depository, data: depositNative(zeroAddress), value: 7n });
  expect(eventsOf(receipt, depository, depositoryAbi, "NativeDeposit")).toEqual([
    { from: user.address, amount: 7n, id },
  ]);
  expect(await chain.nativeBalance(depository)).toBe(before + 7n);
});

test("a native deposit belongs to the depositor it names, and may be zero", async () => {
  const receipt = await chain.send(user, { to: depository, data: depositNative(stranger.address) });
  expect(eventsOf(receipt, depository, depositoryAbi, "NativeDeposit")).toEqual([
    { from: stranger.address, amount: 0n, id },
  ]);
});

test("refuses native tokens without a deposit call", async () => {
  expect(await chain.revertOf(user, { to: depository, value: 1n })).toBe("0x");
  expect(await chain.revertOf(user, { to: depository, data: id, value: 1n })).toBe("0x");
});

test("an ERC-20 deposit moves the requested amount and emits an event", async () => {
  const token = await deployApprovedToken(chain, depository, 1_000n);
  const receipt = await chain.send(user, { to: depository, data: depositErc20(token, 400n) });
  expect(eventsOf(receipt, depository, depositoryAbi, "Erc20Deposit")).toEqual([
    { from: user.address, token, amount: 400n, id },
  ]);
  expect(await chain.tokenBalance(token, depository)).toBe(400n);
  expect(await chain.tokenBalance(token, user.address)).toBe(600n);
});

test("an ERC-20 deposit belongs to the depositor it names but is paid by the caller", async () => {
  const token = await deployApprovedToken(chain, depository, 10n);
  const data = depositErc20(token, 10n, stranger.address);
  const receipt = await chain.send(user, { to: depository, data });
  expect(eventsOf(receipt, depository, depositoryAbi, "Erc20Deposit")).toEqual([
    { from: stranger.address, token, amount: 10n, id },
  ]);
  expect(await chain.tokenBalance(token, user.address)).toBe(0n);
});

test("the overload without an amount deposits the caller's whole allowance", async () => {
  const token = await deployApprovedToken(chain, depository, 1_000n);
  await chain.send(user, { to: token, data: approve(depository, 250n) });
  const receipt = await chain.send(user, { to: depository, data: depositAllErc20(token, stranger.address) });
  expect(eventsOf(receipt, depository, depositoryAbi, "Erc20Deposit")).toEqual([
    { from: stranger.address, token, amount: 250n, id },
  ]);
  expect(await chain.tokenBalance(token, depository)).toBe(250n);
});

test("an account cannot deposit tokens that another account approved", async () => {
  const token = await deployApprovedToken(chain, depository, 1_000n);
  const data = depositErc20(token, 1n, user.address);
  expect(await chain.revertOf(stranger, { to: depository, data })).toBe(pullFailed);
  // With no allowance, depositing the whole allowance deposits zero.
  await chain.send(stranger, { to: depository, data: depositAllErc20(token, user.address) });
  expect(await chain.tokenBalance(token, user.address)).toBe(1_000n);
});

test("refuses a deposit above the allowance", async () => {
  const token = await deployApprovedToken(chain, depository, 5n);
  expect(await chain.revertOf(user, { to: depository, data: depositErc20(token, 6n) })).toBe(pullFailed);
});

test.each([
  ["with an amount", (token: Address) => depositErc20(token, 1_000n)],
  ["of the whole allowance", (token: Address) => depositAllErc20(token)],
])("emits the received amount for a deposit %s of a fee-on-transfer token", async (_form, deposit) => {
  const token = await deployApprovedToken(chain, depository, 1_000n, {
    abi: feeOnTransferAbi,
    bytecode: feeOnTransferBytecode,
  });
  await chain.send(accounts.deployer, { to: token, data: mint(depository, 77n) });
  const receipt = await chain.send(user, { to: depository, data: deposit(token) });
  expect(eventsOf(receipt, depository, depositoryAbi, "Erc20Deposit")).toEqual([
    { from: user.address, token, amount: 990n, id },
  ]);
  expect(await chain.tokenBalance(token, depository)).toBe(77n + 990n);
});

test("accepts a token that returns nothing, in both overloads", async () => {
  const token = await deployApprovedToken(chain, depository, 100n, {
    abi: returnsNothingAbi,
    bytecode: returnsNothingBytecode,
  });
  await chain.send(user, { to: depository, data: depositErc20(token, 40n) });
  await chain.send(user, { to: depository, data: depositAllErc20(token) });
  expect(await chain.tokenBalance(token, depository)).toBe(100n);
});

test("refuses a token that returns false, in both overloads", async () => {
  const token = await deployApprovedToken(chain, depository, 100n, {
    abi: returnsFalseAbi,
    bytecode: returnsFalseBytecode,
  });
  expect(await chain.revertOf(user, { to: depository, data: depositErc20(token, 40n) })).toBe(pullFailed);
  expect(await chain.revertOf(user, { to: depository, data: depositAllErc20(token) })).toBe(pullFailed);
});

test("refuses a token that blocks the depository", async () => {
  const token = await deployApprovedToken(chain, depository, 100n, {
    abi: blocksRecipientAbi,
    bytecode: blocksRecipientBytecode,
  });
  const block = encodeFunctionData({
    abi: blocksRecipientAbi,
    functionName: "setBlocked",
    args: [depository, true],
  });
  await chain.send(user, { to: token, data: block });
  expect(await chain.revertOf(user, { to: depository, data: depositErc20(token, 40n) })).toBe(pullFailed);
});

test("refuses an address without code as a token", async () => {
  const data = depositErc20(stranger.address, 1n);
  expect(await chain.revertOf(user, { to: depository, data })).toBe("0x");
  expect(await chain.revertOf(user, { to: depository, data: depositAllErc20(stranger.address) })).toBe("0x");
});

test("accepts a plain transfer with the id after its calldata", async () => {
  const token = await deployApprovedToken(chain, depository, 9n);
  const receipt = await chain.send(user, { to: token, data: concat([transfer(depository, 9n), id]) });
  expect(await chain.tokenBalance(token, depository)).toBe(9n);
  const { input } = await chain.client.getTransaction({ hash: receipt.transactionHash });
  expect(input.endsWith(id.slice(2))).toBe(true);
});

async function callbackToken(target: (token: Address) => { to: Address; data: Hex }): Promise<Address> {
  const token = await deployApprovedToken(chain, depository, 1_000n, {
    abi: callbackTokenAbi,
    bytecode: callbackTokenBytecode,
  });
  const { to, data } = target(token);
  const arm = encodeFunctionData({ abi: callbackTokenAbi, functionName: "arm", args: [to, data] });
  await chain.send(user, { to: token, data: arm });
  return token;
}

async function callbackOutcome(token: Address): Promise<{ succeeded: boolean; answer: Hex }> {
  const succeeded = await chain.client.readContract({
    address: token,
    abi: callbackTokenAbi,
    functionName: "succeeded",
  });
  const answer = await chain.client.readContract({
    address: token,
    abi: callbackTokenAbi,
    functionName: "answer",
  });
  return { succeeded, answer };
}

test.each([
  ["depositNative", () => depositNative(user.address)],
  ["depositErc20", (token: Address) => depositErc20(token, 0n)],
  ["depositErc20 of the whole allowance", (token: Address) => depositAllErc20(token)],
  [
    "execute",
    () =>
      encodeFunctionData({
        abi: [getAbiItem({ abi: depositoryAbi, name: "execute" })],
        args: [{ calls: [], nonce: 0n, expiration: 2n ** 64n }, "0x"],
      }),
  ],
])("a token cannot reenter %s during its own deposit", async (_name, reentry) => {
  const token = await callbackToken((self) => ({ to: depository, data: reentry(self) }));
  const receipt = await chain.send(user, { to: depository, data: depositErc20(token, 100n) });
  expect(await callbackOutcome(token)).toEqual({ succeeded: false, answer: reenteredError });
  expect(eventsOf(receipt, depository, depositoryAbi, "Erc20Deposit")).toHaveLength(1);
  expect(eventsOf(receipt, depository, depositoryAbi, "NativeDeposit")).toHaveLength(0);
});

test("releases the reentrancy lock after a deposit", async () => {
  const token = await deployApprovedToken(chain, depository, 2n);
  await chain.send(user, { to: depository, data: depositErc20(token, 1n) });
  await chain.send(user, { to: depository, data: depositErc20(token, 1n) });
  expect(await chain.tokenBalance(token, depository)).toBe(2n);
});

test("does not credit a deposit with other tokens that arrive during it", async () => {
  const token = await callbackToken((self) => ({ to: self, data: mint(depository, 5_000n) }));
  const receipt = await chain.send(user, { to: depository, data: depositErc20(token, 100n) });
  expect((await callbackOutcome(token)).succeeded).toBe(true);
  expect(await chain.tokenBalance(token, depository)).toBe(5_100n);
  expect(eventsOf(receipt, depository, depositoryAbi, "Erc20Deposit")).toEqual([
    { from: user.address, token, amount: 100n, id },
  ]);
});
