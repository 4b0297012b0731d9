import { decodeFunctionResult, encodeErrorResult, encodeFunctionData, erc20Abi, type Address } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { approve, deployApprovedToken, transfer } from "../test/calls.ts";
import { freshAddress, accounts, startTestChain, type TestChain } from "../test/chain.ts";
import {
  blocksRecipientAbi,
  blocksRecipientBytecode,
  feeOnTransferAbi,
  feeOnTransferBytecode,
  refusesApprovalChangeAbi,
  refusesApprovalChangeBytecode,
  returnsFalseAbi,
  returnsFalseBytecode,
  returnsNothingAbi,
  returnsNothingBytecode,
} from "./index.ts";

// The misbehavior of these tokens that tests of other packages rely on.

const { user, solver } = accounts;
const recipient = freshAddress(1);

let chain: TestChain;

beforeAll(async () => {
  chain = await startTestChain();
});
afterAll(async () => await chain.stop());

async function deployToken(
  abi: Parameters<TestChain["deploy"]>[0],
  bytecode: `0x${string}`,
): Promise<Address> {
  return await deployApprovedToken(chain, solver.address, 1_000n, { abi, bytecode });
}

test("fee on transfer: the recipient gets one percent less", async () => {
  const token = await deployToken(feeOnTransferAbi, feeOnTransferBytecode);
  await chain.send(user, { to: token, data: transfer(recipient, 1_000n) });
  expect(await chain.tokenBalance(token, recipient)).toBe(990n);
});

test("returns false: the transfer succeeds, returns false and moves nothing", async () => {
  const token = await deployToken(returnsFalseAbi, returnsFalseBytecode);
  const tx = { to: token, data: transfer(recipient, 1_000n) };
  const answer = await chain.readCall(user, tx);
  expect(decodeFunctionResult({ abi: erc20Abi, functionName: "transfer", data: answer })).toBe(false);
  await chain.send(user, tx);
  expect(await chain.tokenBalance(token, recipient)).toBe(0n);
});

test("returns nothing: the transfer moves tokens and returns no data", async () => {
  const token = await deployToken(returnsNothingAbi, returnsNothingBytecode);
  const tx = { to: token, data: transfer(recipient, 1_000n) };
  expect(await chain.readCall(user, tx)).toBe("0x");
  await chain.send(user, tx);
  expect(await chain.tokenBalance(token, recipient)).toBe(1_000n);
});

test("blocks recipient: only transfers to a listed address revert", async () => {
  const token = await deployToken(blocksRecipientAbi, blocksRecipientBytecode);
  const setBlocked = (isBlocked: boolean) =>
    encodeFunctionData({
      abi: blocksRecipientAbi,
      functionName: "setBlocked",
      args: [recipient, isBlocked],
    });
  await chain.send(solver, { to: token, data: setBlocked(true) });
  expect(await chain.revertOf(user, { to: token, data: transfer(recipient, 1n) })).toBe(
    encodeErrorResult({ abi: blocksRecipientAbi, errorName: "RecipientBlocked", args: [recipient] }),
  );
  await chain.send(user, { to: token, data: transfer(solver.address, 1n) });
  await chain.send(solver, { to: token, data: setBlocked(false) });
  await chain.send(user, { to: token, data: transfer(recipient, 1n) });
});

test("refuses approval change: an existing approval must be reset to zero first", async () => {
  const token = await deployToken(refusesApprovalChangeAbi, refusesApprovalChangeBytecode);
  expect(await chain.revertOf(user, { to: token, data: approve(solver.address, 2n) })).toBe(
    encodeErrorResult({ abi: refusesApprovalChangeAbi, errorName: "AllowanceNotZero", args: [1_000n] }),
  );
  await chain.send(user, { to: token, data: approve(solver.address, 0n) });
  await chain.send(user, { to: token, data: approve(solver.address, 2n) });
});
