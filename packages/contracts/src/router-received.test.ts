import {
  encodeErrorResult,
  encodeFunctionData,
  maxUint256,
  type Abi,
  type Address,
  type ContractErrorArgs,
  type ContractErrorName,
  type Hex,
} from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import {
  approve,
  call,
  eventsOf,
  deployApprovedToken,
  mint,
  noteBalance,
  poke,
  reenteredError,
  refuse,
  requireReceived,
  transfer,
  zeroAddress,
  type Call,
} from "../test/calls.ts";
import { freshAddress, accounts, startTestChain, type TestChain } from "../test/chain.ts";
import { callbackTokenAbi, callbackTokenBytecode } from "./generated/callback-token.ts";
import { probeAbi, probeBytecode } from "./generated/probe.ts";
import { reentererAbi, reentererBytecode } from "./generated/reenterer.ts";
import {
  approvalProxyAbi,
  approvalProxyBytecode,
  feeOnTransferAbi,
  feeOnTransferBytecode,
  routerAbi,
  routerBytecode,
  takerAbi,
  takerBytecode,
  testTokenAbi,
  testTokenBytecode,
} from "./index.ts";

// A payment in a token that later calls cannot undo: the balance is noted before, and must have grown by the
// payment at the end.

const { solver, user, stranger } = accounts;
/** Has an unlimited approval for the contract that takes the tokens back. */
const recipient = user.address;
const before = 1_000n;
const paid = 300n;

let chain: TestChain;
let router: Address;
let proxy: Address;
let probe: Address;
let taker: Address;
let token: Address;

beforeAll(async () => {
  chain = await startTestChain();
  router = await chain.deploy(routerAbi, routerBytecode);
  proxy = await chain.deploy(approvalProxyAbi, approvalProxyBytecode, [router]);
  probe = await chain.deploy(probeAbi, probeBytecode);
  taker = await chain.deploy(takerAbi, takerBytecode);
});
beforeEach(async () => {
  token = await createToken(testTokenAbi, testTokenBytecode);
});
afterEach(async () => {
  expect(await chain.tokenBalance(token, router), "tokens left in the router").toBe(0n);
});
afterAll(async () => await chain.stop());

/** The recipient has a balance already; the solver has the payment, and has approved it to the proxy. */
async function createToken(abi: Abi, bytecode: Hex): Promise<Address> {
  const created = await deployApprovedToken(chain, taker, before, { abi, bytecode });
  await chain.send(user, { to: created, data: approve(taker, maxUint256) });
  await chain.send(solver, { to: created, data: mint(solver.address, paid) });
  await chain.send(solver, { to: created, data: approve(proxy, paid) });
  return created;
}

function pullAndRoute(calls: readonly Call[]): { to: Address; data: Hex } {
  const data = encodeFunctionData({
    abi: approvalProxyAbi,
    functionName: "pullAndRoute",
    args: [token, paid, calls, zeroAddress, []],
  });
  return { to: proxy, data };
}

function multicall(calls: readonly Call[]): Hex {
  return encodeFunctionData({ abi: routerAbi, functionName: "multicall", args: [calls, zeroAddress, []] });
}

/** A payment that must be received, with calls after it. */
function payment(...calls: readonly Call[]): { to: Address; data: Hex } {
  return pullAndRoute([
    call(router, noteBalance(token, recipient)),
    call(token, transfer(recipient, paid)),
    ...calls,
    call(router, requireReceived(token, recipient, paid)),
  ]);
}

function take(amount: bigint, from: Address = recipient): Call {
  const data = encodeFunctionData({
    abi: takerAbi,
    functionName: "serveAndTake",
    args: [token, from, amount],
  });
  return call(taker, data);
}

function failure<name extends ContractErrorName<typeof routerAbi>>(
  errorName: name,
  args: ContractErrorArgs<typeof routerAbi, name>,
): Hex {
  return encodeErrorResult({ abi: routerAbi, errorName, args } as Parameters<typeof encodeErrorResult>[0]);
}

async function deployArmed(target: Address, data: Hex): Promise<Address> {
  const reenterer = await chain.deploy(reentererAbi, reentererBytecode);
  const arm = encodeFunctionData({ abi: reentererAbi, functionName: "arm", args: [target, data, 0n] });
  await chain.send(stranger, { to: reenterer, data: arm });
  return reenterer;
}

async function answerOf(reenterer: Address): Promise<Hex> {
  return await chain.client.readContract({
    address: reenterer,
    abi: reentererAbi,
    functionName: "answer",
  });
}

async function armToken(target: Address, data: Hex): Promise<Call> {
  return call(
    token,
    encodeFunctionData({ abi: callbackTokenAbi, functionName: "arm", args: [target, data] }),
  );
}

test("a payment that the recipient keeps succeeds, and neither note nor check is emitted as a call", async () => {
  const receipt = await chain.send(solver, payment(call(probe, poke(1n))));
  expect(await chain.tokenBalance(token, recipient)).toBe(before + paid);
  expect(eventsOf(receipt, router, routerAbi, "SolverCallExecuted")).toEqual([
    { to: token, data: transfer(recipient, paid), amount: 0n },
    { to: probe, data: poke(1n), amount: 0n },
  ]);
  expect(receipt.logs.filter(({ address }) => address === router.toLowerCase())).toHaveLength(2);
});

test.each([1n, paid, before + paid])("reverts everything if a call takes %s of it back", async (amount) => {
  const tx = payment(take(amount));
  expect(await chain.revertOf(solver, tx)).toBe(
    failure("NotReceived", [token, recipient, before, before + paid - amount, paid]),
  );
  expect((await chain.mine(solver, tx)).status).toBe("reverted");
  expect(await chain.tokenBalance(token, recipient)).toBe(before);
  expect(await chain.tokenBalance(token, solver.address)).toBe(paid);
});

test("succeeds if tokens are taken and returned", async () => {
  await chain.send(solver, payment(take(paid), call(token, mint(recipient, paid))));
  expect(await chain.tokenBalance(token, recipient)).toBe(before + paid);
});

test("a token with a transfer fee does not pay the whole amount", async () => {
  token = await createToken(feeOnTransferAbi, feeOnTransferBytecode);
  const balanceBefore = await chain.tokenBalance(token, recipient);
  const short = pullAndRoute([
    call(router, noteBalance(token, recipient)),
    call(token, transfer(recipient, 297n)),
    call(router, requireReceived(token, recipient, 297n)),
  ]);
  expect(await chain.revertOf(solver, short)).toBe(
    failure("NotReceived", [token, recipient, balanceBefore, balanceBefore + 295n, 297n]),
  );
});

test("an amount that would overflow counts as not received", async () => {
  const calls = [
    call(router, noteBalance(token, recipient)),
    call(router, requireReceived(token, recipient, maxUint256)),
  ];
  expect(await chain.revertOf(solver, { to: router, data: multicall(calls) })).toBe(
    failure("NotReceived", [token, recipient, before, before, maxUint256]),
  );
});

test("a later call cannot note the balance again once it is lower", async () => {
  const tx = payment(take(paid), call(router, noteBalance(token, recipient)));
  expect(await chain.revertOf(solver, tx)).toBe(failure("NotedBefore", [token, recipient]));
  // The payment fails even if the failure of the second note is allowed.
  const quiet = payment(take(paid), {
    ...call(router, noteBalance(token, recipient)),
    allowFailure: true,
  });
  expect(await chain.revertOf(solver, quiet)).toBe(
    failure("NotReceived", [token, recipient, before, before, paid]),
  );
});

test("other balances can be noted and required as well", async () => {
  const other = freshAddress(9);
  const calls = [
    call(router, noteBalance(token, other)),
    call(token, mint(other, 4n)),
    call(router, requireReceived(token, other, 4n)),
  ];
  await chain.send(solver, payment(...calls));
  expect(await chain.tokenBalance(token, other)).toBe(4n);
  const short = payment(...calls.slice(0, 2), call(router, requireReceived(token, other, 5n)));
  await chain.send(solver, { to: token, data: mint(solver.address, paid) });
  await chain.send(solver, { to: token, data: approve(proxy, paid) });
  expect(await chain.revertOf(solver, short)).toBe(failure("NotReceived", [token, other, 4n, 8n, 5n]));
});

test("without a note in the same transaction, nothing counts as received", async () => {
  await chain.send(solver, { to: router, data: multicall([call(router, noteBalance(token, recipient))]) });
  const calls = [call(router, requireReceived(token, recipient, 0n))];
  expect(await chain.revertOf(solver, { to: router, data: multicall(calls) })).toBe(
    failure("NotNoted", [token, recipient]),
  );
});

test("notes an account with a zero balance like any other", async () => {
  const poor = freshAddress(10);
  const noted = call(router, noteBalance(token, poor));
  expect(await chain.revertOf(solver, { to: router, data: multicall([noted, noted]) })).toBe(
    failure("NotedBefore", [token, poor]),
  );
});

test.each([
  ["note", () => noteBalance(token, recipient)],
  ["require", () => requireReceived(token, recipient, 0n)],
])("refuses to %s outside a multicall, and for a contract that a multicall calls", async (_what, data) => {
  expect(await chain.revertOf(stranger, { to: router, data: data() })).toBe(failure("OnlyFromMulticall", []));
  const intruder = await deployArmed(router, data());
  await chain.send(solver, { ...payment(call(intruder, "0x", 1n)), value: 1n });
  expect(await answerOf(intruder)).toBe(failure("OnlyFromMulticall", []));
});

test("a second multicall cannot note a balance while the first one runs", async () => {
  const intruder = await deployArmed(router, multicall([call(router, noteBalance(token, recipient))]));
  await chain.send(solver, { ...payment(call(intruder, "0x", 1n)), value: 1n });
  expect(await answerOf(intruder)).toBe(reenteredError);
});

test("a token that notes the balance while it is pulled can only make the payment fail", async () => {
  token = await createToken(callbackTokenAbi, callbackTokenBytecode);
  const early = multicall([call(router, noteBalance(token, recipient))]);
  const { to, data } = await armToken(router, early);
  await chain.send(stranger, { to, data });
  expect(await chain.revertOf(solver, payment(take(paid)))).toBe(failure("NotedBefore", [token, recipient]));
});

test("fails if a token moves the payment away during its transfer", async () => {
  token = await createToken(callbackTokenAbi, callbackTokenBytecode);
  const arm = await armToken(taker, take(paid).data);
  const tx = pullAndRoute([
    arm,
    call(router, noteBalance(token, recipient)),
    call(token, transfer(recipient, paid)),
    call(router, requireReceived(token, recipient, paid)),
  ]);
  expect(await chain.revertOf(solver, tx)).toBe(
    failure("NotReceived", [token, recipient, before, before, paid]),
  );
});

test("still forwards the failure of a call unchanged", async () => {
  const tx = payment(call(probe, refuse(5n)));
  expect(await chain.revertOf(solver, tx)).toBe(
    encodeErrorResult({ abi: probeAbi, errorName: "Refused", args: [5n, "refused"] }),
  );
});
