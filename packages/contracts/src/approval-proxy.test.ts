import { concat, encodeErrorResult, encodeFunctionData, maxUint256, type Address, type Hex } from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import {
  approve,
  call,
  eventsOf,
  deployApprovedToken,
  id,
  mint,
  nativeTransfer,
  reenteredError,
  refuse,
  refusedError,
  transfer,
  zeroAddress,
  type Call,
} from "../test/calls.ts";
import { freshAddress, accounts, startTestChain, type TestChain } from "../test/chain.ts";
import { callbackTokenAbi, callbackTokenBytecode } from "./generated/callback-token.ts";
import { probeAbi, probeBytecode } from "./generated/probe.ts";
import {
  approvalProxyAbi,
  approvalProxyBytecode,
  depositoryAbi,
  depositoryBytecode,
  feeOnTransferAbi,
  feeOnTransferBytecode,
  returnsFalseAbi,
  returnsFalseBytecode,
  returnsNothingAbi,
  returnsNothingBytecode,
  routerAbi,
  routerBytecode,
  transferErrorsAbi,
} from "./index.ts";

const { user, stranger, owner, allocator } = accounts;
const pullFailed = encodeErrorResult({ abi: transferErrorsAbi, errorName: "TransferFromFailed" });

let chain: TestChain;
let router: Address;
let proxy: Address;
let probe: Address;
let token: Address;
let recipient: Address;
let recipients = 0;

beforeAll(async () => {
  chain = await startTestChain();
  router = await chain.deploy(routerAbi, routerBytecode);
  proxy = await chain.deploy(approvalProxyAbi, approvalProxyBytecode, [router]);
  probe = await chain.deploy(probeAbi, probeBytecode);
});
beforeEach(async () => {
  recipients += 1;
  recipient = freshAddress(recipients);
  token = await deployApprovedToken(chain, proxy, 1_000n);
});
afterEach(async () => {
  for (const holder of [proxy, router]) {
    expect(await chain.nativeBalance(holder), "native left behind").toBe(0n);
    expect(await chain.tokenBalance(token, holder), "tokens left behind").toBe(0n);
  }
});
afterAll(async () => await chain.stop());

function pullAndRoute(
  amount: bigint,
  calls: readonly Call[],
  refundTo: Address = zeroAddress,
  refundTokens: readonly Address[] = [],
): Hex {
  return encodeFunctionData({
    abi: approvalProxyAbi,
    functionName: "pullAndRoute",
    args: [token, amount, calls, refundTo, refundTokens],
  });
}

test("pulls exactly the amount, lets the calls spend it, and accepts an order id after the calldata", async () => {
  const calls = [call(token, transfer(recipient, 300n)), call(router, nativeTransfer(recipient, 8n), 8n)];
  const data = concat([pullAndRoute(300n, calls), id]);
  const receipt = await chain.send(user, { to: proxy, data, value: 8n });
  expect(await chain.tokenBalance(token, recipient)).toBe(300n);
  expect(await chain.tokenBalance(token, user.address)).toBe(700n);
  expect(eventsOf(receipt, router, routerAbi, "SolverCallExecuted")).toEqual([
    { to: token, data: transfer(recipient, 300n), amount: 0n },
  ]);
  expect(eventsOf(receipt, router, routerAbi, "SolverNativeTransfer")).toEqual([
    { to: recipient, amount: 8n },
  ]);
});

test("sends the remainder of the token, of native tokens and of other listed tokens to the refund address", async () => {
  const other = await deployApprovedToken(chain, proxy, 1n);
  const calls = [call(token, transfer(probe, 300n)), call(other, mint(router, 40n))];
  await chain.send(user, { to: proxy, data: pullAndRoute(500n, calls, recipient, [other]), value: 3n });
  expect(await chain.tokenBalance(token, recipient)).toBe(200n);
  expect(await chain.tokenBalance(other, recipient)).toBe(40n);
  expect(await chain.nativeBalance(recipient)).toBe(3n);
});

test("sends the remainder to the caller without a refund address", async () => {
  const before = await chain.nativeBalance(user.address);
  const { gasUsed, effectiveGasPrice } = await chain.send(user, {
    to: proxy,
    data: pullAndRoute(500n, []),
    value: 3n,
  });
  expect(await chain.tokenBalance(token, user.address)).toBe(1_000n);
  expect(await chain.nativeBalance(user.address)).toBe(before - gasUsed * effectiveGasPrice);
});

test("an account cannot move tokens that another account approved", async () => {
  const calls = [call(token, transfer(stranger.address, 1n))];
  expect(await chain.revertOf(stranger, { to: proxy, data: pullAndRoute(1n, calls) })).toBe(pullFailed);

  // Nor through the router: no one approves it, and the proxy pulls only from its caller.
  const pull = encodeFunctionData({
    abi: returnsNothingAbi,
    functionName: "transferFrom",
    args: [user.address, stranger.address, 1n],
  });
  const viaRouter = encodeFunctionData({
    abi: routerAbi,
    functionName: "multicall",
    args: [[call(token, pull)], zeroAddress, []],
  });
  expect((await chain.mine(stranger, { to: router, data: viaRouter })).status).toBe("reverted");
  const viaProxy = encodeFunctionData({
    abi: routerAbi,
    functionName: "multicall",
    args: [[call(proxy, pullAndRoute(1n, [], stranger.address))], zeroAddress, []],
  });
  expect((await chain.mine(stranger, { to: router, data: viaProxy })).status).toBe("reverted");
  expect(await chain.tokenBalance(token, user.address)).toBe(1_000n);
});

test("does not pull more than was approved", async () => {
  expect(await chain.revertOf(user, { to: proxy, data: pullAndRoute(1_001n, []) })).toBe(pullFailed);
});

test("a failing call reverts everything, and router and proxy forward its revert data", async () => {
  const calls = [call(token, transfer(recipient, 300n)), call(probe, refuse(77n))];
  const tx = { to: proxy, data: pullAndRoute(300n, calls) };
  expect(await chain.revertOf(user, tx)).toBe(refusedError(77n));
  expect((await chain.mine(user, tx)).status).toBe("reverted");
  expect(await chain.tokenBalance(token, user.address)).toBe(1_000n);
});

test("routes the received amount of a token that charges a fee", async () => {
  token = await deployApprovedToken(chain, proxy, 1_000n, {
    abi: feeOnTransferAbi,
    bytecode: feeOnTransferBytecode,
  });
  await chain.send(user, { to: proxy, data: pullAndRoute(1_000n, [], recipient) });
  expect(await chain.tokenBalance(token, recipient)).toBe(981n);
});

test("routes a token that returns nothing, and refuses one that returns false", async () => {
  token = await deployApprovedToken(chain, proxy, 9n, {
    abi: returnsNothingAbi,
    bytecode: returnsNothingBytecode,
  });
  await chain.send(user, { to: proxy, data: pullAndRoute(9n, [call(token, transfer(recipient, 9n))]) });
  expect(await chain.tokenBalance(token, recipient)).toBe(9n);

  token = await deployApprovedToken(chain, proxy, 9n, {
    abi: returnsFalseAbi,
    bytecode: returnsFalseBytecode,
  });
  expect(await chain.revertOf(user, { to: proxy, data: pullAndRoute(9n, []) })).toBe(pullFailed);
});

test("a token cannot reenter the proxy while it is being pulled", async () => {
  token = await deployApprovedToken(chain, proxy, 100n, {
    abi: callbackTokenAbi,
    bytecode: callbackTokenBytecode,
  });
  const arm = encodeFunctionData({
    abi: callbackTokenAbi,
    functionName: "arm",
    args: [proxy, pullAndRoute(0n, [])],
  });
  await chain.send(user, { to: token, data: arm });
  await chain.send(user, { to: proxy, data: pullAndRoute(100n, [], recipient) });
  expect(
    await chain.client.readContract({ address: token, abi: callbackTokenAbi, functionName: "answer" }),
  ).toBe(reenteredError);
  expect(await chain.tokenBalance(token, recipient)).toBe(100n);
});

test("pulled tokens can be deposited for the user by a call", async () => {
  const depository = await chain.deploy(depositoryAbi, depositoryBytecode, [
    owner.address,
    allocator.address,
  ]);
  const deposit = encodeFunctionData({
    abi: depositoryAbi,
    functionName: "depositErc20",
    args: [user.address, token, 400n, id],
  });
  const calls = [call(token, approve(depository, 400n)), call(depository, deposit)];
  const receipt = await chain.send(user, { to: proxy, data: pullAndRoute(400n, calls) });
  expect(eventsOf(receipt, depository, depositoryAbi, "Erc20Deposit")).toEqual([
    { from: user.address, token, amount: 400n, id },
  ]);
});

test("stores its router, and cannot be deployed with the zero address as router", async () => {
  expect(
    await chain.client.readContract({ address: proxy, abi: approvalProxyAbi, functionName: "router" }),
  ).toBe(router);
  expect(await chain.deployRevertOf(approvalProxyAbi, approvalProxyBytecode, [zeroAddress])).toBe(
    encodeErrorResult({ abi: approvalProxyAbi, errorName: "AddressCannotBeZero" }),
  );
});

test("refuses native tokens outside a call", async () => {
  expect(await chain.revertOf(user, { to: proxy, value: 1n })).toBe("0x");
});

test("an unlimited approval lets only its owner's calls move tokens", async () => {
  await chain.send(user, { to: token, data: approve(proxy, maxUint256) });
  const calls = [call(token, transfer(stranger.address, 1n))];
  expect(await chain.revertOf(stranger, { to: proxy, data: pullAndRoute(1n, calls) })).toBe(pullFailed);
});
