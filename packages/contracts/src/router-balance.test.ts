import {
  encodeErrorResult,
  encodeFunctionData,
  erc20Abi,
  parseEther,
  type Abi,
  type Address,
  type Hex,
} from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import {
  approve,
  call,
  depositBalance,
  eventsOf,
  deployApprovedToken,
  id,
  mint,
  nativeTransfer,
  payBalance,
  reenteredError,
  unwrapBalance,
  wrapBalance,
  zeroAddress,
  type Call,
} from "../test/calls.ts";
import { freshAddress, accounts, startTestChain, type TestChain } from "../test/chain.ts";
import { callbackTokenAbi, callbackTokenBytecode } from "./generated/callback-token.ts";
import { halfDepositoryAbi, halfDepositoryBytecode } from "./generated/half-depository.ts";
import { hungryRecipientAbi, hungryRecipientBytecode } from "./generated/hungry-recipient.ts";
import { reentererAbi, reentererBytecode } from "./generated/reenterer.ts";
import {
  depositoryAbi,
  depositoryBytecode,
  feeOnTransferAbi,
  feeOnTransferBytecode,
  receiverAbi,
  receiverBytecode,
  refusesApprovalChangeAbi,
  refusesApprovalChangeBytecode,
  returnsFalseAbi,
  returnsFalseBytecode,
  returnsNothingAbi,
  returnsNothingBytecode,
  routerAbi,
  routerBytecode,
  transferErrorsAbi,
  wrappedEtherAbi,
  wrappedEtherBytecode,
} from "./index.ts";

// Calls of the router that use its whole balance: deposit, pay, wrap and unwrap.

const { user, owner, allocator, stranger, deployer } = accounts;
const onlyFromMulticall = encodeErrorResult({ abi: routerAbi, errorName: "OnlyFromMulticall" });

let chain: TestChain;
let router: Address;
let depository: Address;
let wrapped: Address;
let token: Address;
let recipient: Address;
let recipients = 0;

beforeAll(async () => {
  chain = await startTestChain();
  router = await chain.deploy(routerAbi, routerBytecode);
  depository = await chain.deploy(depositoryAbi, depositoryBytecode, [owner.address, allocator.address]);
  wrapped = await chain.deploy(wrappedEtherAbi, wrappedEtherBytecode);
});
beforeEach(async () => {
  recipients += 1;
  recipient = freshAddress(recipients);
  token = await deployApprovedToken(chain, router, 1_000n);
});
afterEach(async () => {
  expect(await chain.nativeBalance(router), "native left in the router").toBe(0n);
  expect(await chain.tokenBalance(token, router), "tokens left in the router").toBe(0n);
  expect(await chain.tokenBalance(wrapped, router), "wrapped native left in the router").toBe(0n);
});
afterAll(async () => await chain.stop());

function multicall(calls: readonly Call[], refundTokens: readonly Address[] = [token]): Hex {
  return encodeFunctionData({
    abi: routerAbi,
    functionName: "multicall",
    args: [calls, zeroAddress, refundTokens],
  });
}

/** Pulls tokens into the router, like the output of a swap. */
function pullIntoRouter(amount: bigint, contract: Address = token): Call {
  return call(
    contract,
    encodeFunctionData({
      abi: erc20Abi,
      functionName: "transferFrom",
      args: [user.address, router, amount],
    }),
  );
}

function self(data: Hex, value = 0n): Call {
  return call(router, data, value);
}

function belowMinimum(currency: Address, balance: bigint, minimum: bigint): Hex {
  return encodeErrorResult({
    abi: routerAbi,
    errorName: "BalanceBelowMinimum",
    args: [currency, balance, minimum],
  });
}

async function allowance(contract: Address, spender: Address): Promise<bigint> {
  return await chain.client.readContract({
    address: contract,
    abi: erc20Abi,
    functionName: "allowance",
    args: [router, spender],
  });
}

async function deployHostileToken(kind: { readonly abi: Abi; readonly bytecode: Hex }): Promise<Address> {
  return await deployApprovedToken(chain, router, 1_000n, kind);
}

test("deposits the router's whole token balance for the depositor and the order, without emitting a call", async () => {
  const receipt = await chain.send(user, {
    to: router,
    data: multicall([
      pullIntoRouter(300n),
      pullIntoRouter(45n),
      self(depositBalance(depository, recipient, token, 340n)),
    ]),
  });
  expect(eventsOf(receipt, depository, depositoryAbi, "Erc20Deposit")).toEqual([
    { from: recipient, token, amount: 345n, id },
  ]);
  expect(await chain.tokenBalance(token, depository)).toBe(345n);
  expect(await allowance(token, depository)).toBe(0n);
  // The two calls of the token, and none for the deposit.
  expect(eventsOf(receipt, router, routerAbi, "SolverCallExecuted")).toHaveLength(2);
});

test("deposits the router's whole native balance for the depositor and the order", async () => {
  const before = await chain.nativeBalance(depository);
  const receipt = await chain.send(user, {
    to: router,
    data: multicall([self(depositBalance(depository, recipient, zeroAddress, 7n))]),
    value: 9n,
  });
  expect(eventsOf(receipt, depository, depositoryAbi, "NativeDeposit")).toEqual([
    { from: recipient, amount: 9n, id },
  ]);
  expect((await chain.nativeBalance(depository)) - before).toBe(9n);
  expect(eventsOf(receipt, router, routerAbi, "SolverCallExecuted")).toEqual([]);
});

test("a deposit below the minimum reverts with the balance", async () => {
  const tokens = multicall([pullIntoRouter(300n), self(depositBalance(depository, recipient, token, 301n))]);
  expect(await chain.revertOf(user, { to: router, data: tokens })).toBe(belowMinimum(token, 300n, 301n));
  const native = multicall([self(depositBalance(depository, recipient, zeroAddress, 10n))]);
  expect(await chain.revertOf(user, { to: router, data: native, value: 9n })).toBe(
    belowMinimum(zeroAddress, 9n, 10n),
  );
});

test("refunds the balance if a deposit with allowFailure fails", async () => {
  const tooLittle = { ...self(depositBalance(depository, recipient, token, 301n)), allowFailure: true };
  await chain.send(user, { to: router, data: multicall([pullIntoRouter(300n), tooLittle]) });
  expect(await chain.tokenBalance(token, user.address)).toBe(1_000n);
  expect(await chain.tokenBalance(token, depository)).toBe(0n);
});

test("also deposits native tokens meant for a later call, which then fails", async () => {
  const deposit = self(depositBalance(depository, recipient, zeroAddress, 0n));
  const payment = self(nativeTransfer(recipient, 4n), 4n);
  await expect(
    chain.readCall(user, { to: router, data: multicall([deposit, payment]), value: 9n }),
  ).rejects.toThrow();
  const before = await chain.nativeBalance(depository);
  await chain.send(user, { to: router, data: multicall([payment, deposit]), value: 9n });
  expect((await chain.nativeBalance(depository)) - before).toBe(5n);
});

test.each([
  ["returns nothing", { abi: returnsNothingAbi, bytecode: returnsNothingBytecode }, 300n],
  [
    "refuses to change a nonzero allowance",
    { abi: refusesApprovalChangeAbi, bytecode: refusesApprovalChangeBytecode },
    300n,
  ],
  ["charges one percent", { abi: feeOnTransferAbi, bytecode: feeOnTransferBytecode }, 297n],
] as const)("deposits a token that %s, and emits the received amount", async (_, kind, arrives) => {
  const unusual = await deployHostileToken(kind);
  await chain.send(deployer, { to: unusual, data: mint(router, 300n) });
  const receipt = await chain.send(user, {
    to: router,
    data: multicall([self(depositBalance(depository, recipient, unusual, 300n))], []),
  });
  expect(eventsOf(receipt, depository, depositoryAbi, "Erc20Deposit")).toEqual([
    { from: recipient, token: unusual, amount: arrives, id },
  ]);
  expect(await allowance(unusual, depository)).toBe(0n);
});

test("a deposit succeeds with any existing allowance, and leaves none", async () => {
  const unusual = await deployHostileToken({
    abi: refusesApprovalChangeAbi,
    bytecode: refusesApprovalChangeBytecode,
  });
  await chain.send(stranger, { to: router, data: multicall([call(unusual, approve(depository, 7n))], []) });
  expect(await allowance(unusual, depository)).toBe(7n);
  await chain.send(deployer, { to: unusual, data: mint(router, 300n) });
  await chain.send(user, {
    to: router,
    data: multicall([self(depositBalance(depository, recipient, unusual, 300n))], []),
  });
  expect(await chain.tokenBalance(unusual, depository)).toBe(300n);
  expect(await allowance(unusual, depository)).toBe(0n);
});

test("a depository that pulls less than it was approved keeps no allowance", async () => {
  const half = await chain.deploy(halfDepositoryAbi, halfDepositoryBytecode);
  await chain.send(user, {
    to: router,
    data: multicall([pullIntoRouter(300n), self(depositBalance(half, recipient, token, 300n))]),
  });
  expect(await chain.tokenBalance(token, half)).toBe(150n);
  expect(await chain.tokenBalance(token, user.address)).toBe(850n);
  expect(await allowance(token, half)).toBe(0n);
});

test("deposit and payment fail if the token returns false", async () => {
  const returnsFalse = await deployHostileToken({ abi: returnsFalseAbi, bytecode: returnsFalseBytecode });
  await chain.send(deployer, { to: returnsFalse, data: mint(router, 300n) });
  for (const [data, errorName] of [
    [depositBalance(depository, recipient, returnsFalse, 300n), "TransferFromFailed"],
    [payBalance(returnsFalse, recipient, 300n), "TransferFailed"],
  ] as const) {
    expect(await chain.revertOf(user, { to: router, data: multicall([self(data)], []) })).toBe(
      encodeErrorResult({ abi: transferErrorsAbi, errorName }),
    );
  }
});

test("refuses an account without code as depository or wrapped token", async () => {
  for (const data of [
    multicall([self(depositBalance(recipient, recipient, zeroAddress, 1n))]),
    multicall([self(wrapBalance(recipient))]),
  ]) {
    expect(await chain.revertOf(user, { to: router, data, value: 9n })).toBe("0x");
  }
});

test("pays all native tokens and emits a native payment, not a call", async () => {
  const receipt = await chain.send(user, {
    to: router,
    data: multicall([self(payBalance(zeroAddress, recipient, 9n))]),
    value: 12n,
  });
  expect(eventsOf(receipt, router, routerAbi, "SolverNativeTransfer")).toEqual([
    { to: recipient, amount: 12n },
  ]);
  expect(eventsOf(receipt, router, routerAbi, "SolverCallExecuted")).toEqual([]);
  expect(await chain.nativeBalance(recipient)).toBe(12n);
});

test("pays all tokens to the recipient", async () => {
  const receipt = await chain.send(user, {
    to: router,
    data: multicall([pullIntoRouter(300n), self(payBalance(token, recipient, 299n))]),
  });
  expect(await chain.tokenBalance(token, recipient)).toBe(300n);
  expect(eventsOf(receipt, router, routerAbi, "SolverNativeTransfer")).toEqual([]);
});

test("a payment below the minimum reverts with the balance", async () => {
  const tokens = multicall([pullIntoRouter(300n), self(payBalance(token, recipient, 301n))]);
  expect(await chain.revertOf(user, { to: router, data: tokens })).toBe(belowMinimum(token, 300n, 301n));
  const native = multicall([self(payBalance(zeroAddress, recipient, 13n))]);
  expect(await chain.revertOf(user, { to: router, data: native, value: 12n })).toBe(
    belowMinimum(zeroAddress, 12n, 13n),
  );
});

test("a payment to a recipient that refuses native tokens reverts with the recipient's reason", async () => {
  const refusing = await chain.deploy(receiverAbi, receiverBytecode, [user.address]);
  const data = multicall([self(payBalance(zeroAddress, refusing, 1n))]);
  expect(await chain.revertOf(user, { to: router, data, value: 1n })).toBe(
    encodeErrorResult({ abi: receiverAbi, errorName: "IdMissing" }),
  );
});

test("limits the gas that a recipient can burn", async () => {
  const hungry = await chain.deploy(hungryRecipientAbi, hungryRecipientBytecode);
  const pay = { ...self(payBalance(zeroAddress, hungry, 1n)), allowFailure: true };
  const modest = await chain.send(user, { to: router, data: multicall([pay]), value: 1n });
  await chain.send(user, {
    to: hungry,
    data: encodeFunctionData({ abi: hungryRecipientAbi, functionName: "wake", args: [1] }),
  });
  const burning = await chain.send(user, { to: router, data: multicall([pay]), value: 1n });
  expect(burning.gasUsed - modest.gasUsed).toBeLessThan(67_300n);
});

test("wraps and unwraps the whole balance one for one", async () => {
  await chain.send(user, {
    to: router,
    data: multicall([self(wrapBalance(wrapped)), self(payBalance(wrapped, recipient, 12n))]),
    value: 12n,
  });
  expect(await chain.tokenBalance(wrapped, recipient)).toBe(12n);

  const other = freshAddress(0x1000);
  await chain.send(user, {
    to: router,
    data: multicall([
      self(wrapBalance(wrapped)),
      self(unwrapBalance(wrapped, 12n)),
      self(payBalance(zeroAddress, other, 12n)),
    ]),
    value: 12n,
  });
  expect(await chain.nativeBalance(other)).toBe(12n);
});

test("refuses to unwrap less than the minimum", async () => {
  const data = multicall([self(wrapBalance(wrapped)), self(unwrapBalance(wrapped, 13n))]);
  expect(await chain.revertOf(user, { to: router, data, value: 12n })).toBe(belowMinimum(wrapped, 12n, 13n));
});

test("does not refund unspent wrapped tokens as native tokens, so callers must list the wrapped token", async () => {
  await chain.send(user, {
    to: router,
    data: multicall([self(wrapBalance(wrapped))], [wrapped]),
    value: parseEther("0.1"),
  });
  expect(await chain.tokenBalance(wrapped, user.address)).toBe(parseEther("0.1"));
});

test.each([
  ["depositBalance", depositBalance(accounts.owner.address, accounts.owner.address, zeroAddress, 0n)],
  ["payBalance", payBalance(zeroAddress, accounts.owner.address, 0n)],
  ["unwrapBalance", unwrapBalance(accounts.owner.address, 0n)],
  ["wrapBalance", wrapBalance(accounts.owner.address)],
])("%s is refused from outside a multicall, and with a value", async (_, data) => {
  expect(await chain.revertOf(stranger, { to: router, data })).toBe(onlyFromMulticall);
  expect(await chain.revertOf(user, { to: router, data: multicall([self(data, 1n)]), value: 1n })).toBe("0x");
});

/** The result that a contract got when it called the router while being paid. */
async function answerOf(contract: Address, abi: typeof reentererAbi | typeof callbackTokenAbi): Promise<Hex> {
  return await chain.client.readContract({
    address: contract,
    abi: abi as typeof reentererAbi,
    functionName: "answer",
  });
}

test.each([
  [
    "take the remaining balance with its own call",
    payBalance(zeroAddress, accounts.stranger.address, 0n),
    onlyFromMulticall,
  ],
  ["start a multicall", multicallOf([]), reenteredError],
] as const)("a recipient that is being paid cannot %s", async (_, data, answer) => {
  const reenterer = await chain.deploy(reentererAbi, reentererBytecode);
  await chain.send(user, {
    to: reenterer,
    data: encodeFunctionData({ abi: reentererAbi, functionName: "arm", args: [router, data, 0n] }),
  });
  // A gas-limited payment leaves too little gas to store the result, so this payment is a call.
  await chain.send(user, {
    to: router,
    data: multicall([call(reenterer, "0x", 1n), self(payBalance(zeroAddress, recipient, 11n))]),
    value: 12n,
  });
  expect(await answerOf(reenterer, reentererAbi)).toBe(answer);
  expect(await chain.nativeBalance(recipient)).toBe(11n);
});

function multicallOf(calls: readonly Call[]): Hex {
  return encodeFunctionData({ abi: routerAbi, functionName: "multicall", args: [calls, zeroAddress, []] });
}

test("a token that reenters the router during a deposit can neither deposit nor pay its balance", async () => {
  for (const data of [
    payBalance(zeroAddress, stranger.address, 0n),
    depositBalance(depository, stranger.address, zeroAddress, 0n),
  ]) {
    const calling = await chain.deploy(callbackTokenAbi, callbackTokenBytecode);
    await chain.send(deployer, { to: calling, data: mint(router, 300n) });
    await chain.send(user, {
      to: calling,
      data: encodeFunctionData({ abi: callbackTokenAbi, functionName: "arm", args: [router, data] }),
    });
    const before = await chain.nativeBalance(user.address);
    await chain.send(user, {
      to: router,
      data: multicall([self(depositBalance(depository, recipient, calling, 300n))], []),
      value: parseEther("1"),
    });
    expect(await answerOf(calling, callbackTokenAbi)).toBe(onlyFromMulticall);
    expect(before - (await chain.nativeBalance(user.address))).toBeLessThan(parseEther("0.1"));
    expect(await chain.tokenBalance(calling, depository)).toBe(300n);
  }
});

test("reverts everything if another account's leftover allowance takes the tokens before the deposit", async () => {
  await chain.send(stranger, {
    to: router,
    data: multicallOf([call(token, approve(stranger.address, 1_000n))]),
  });
  const thief = await chain.deploy(reentererAbi, reentererBytecode);
  await chain.send(stranger, { to: router, data: multicallOf([call(token, approve(thief, 1_000n))]) });
  const take = encodeFunctionData({
    abi: erc20Abi,
    functionName: "transferFrom",
    args: [router, stranger.address, 300n],
  });
  await chain.send(stranger, {
    to: thief,
    data: encodeFunctionData({ abi: reentererAbi, functionName: "arm", args: [token, take, 0n] }),
  });
  const data = multicall([
    pullIntoRouter(300n),
    call(thief, "0x", 1n),
    self(depositBalance(depository, recipient, token, 300n)),
  ]);
  expect(await chain.revertOf(user, { to: router, data, value: 1n })).toBe(belowMinimum(token, 0n, 300n));
  expect(await chain.tokenBalance(token, user.address)).toBe(1_000n);
});
