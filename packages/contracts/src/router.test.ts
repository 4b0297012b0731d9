import {
  concat,
  decodeFunctionResult,
  encodeErrorResult,
  encodeFunctionData,
  toFunctionSelector,
  type Address,
  type Hex,
} from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import {
  call,
  eventsOf,
  id,
  mint,
  nativeTransfer,
  poke,
  reenteredError,
  refuse,
  refusedError,
  transfer,
  zeroAddress,
  type Call,
} from "../test/calls.ts";
import { freshAddress, accounts, startTestChain, type TestChain } from "../test/chain.ts";
import { hungryRecipientAbi, hungryRecipientBytecode } from "./generated/hungry-recipient.ts";
import { probeAbi, probeBytecode } from "./generated/probe.ts";
import { reentererAbi, reentererBytecode } from "./generated/reenterer.ts";
import { walletCodeAbi, walletCodeBytecode } from "./generated/wallet-code.ts";
import { walletProxyAbi, walletProxyBytecode } from "./generated/wallet-proxy.ts";
import {
  receiverAbi,
  receiverBytecode,
  returnsFalseAbi,
  returnsFalseBytecode,
  returnsNothingAbi,
  returnsNothingBytecode,
  routerAbi,
  routerBytecode,
  testTokenAbi,
  testTokenBytecode,
  transferErrorsAbi,
} from "./index.ts";

const { solver, user, deployer } = accounts;
/** Accounts that never held anything before a test. */
let recipient: Address;
let recipients = 0;

let chain: TestChain;
let router: Address;
let probe: Address;
let token: Address;

beforeAll(async () => {
  chain = await startTestChain();
  router = await chain.deploy(routerAbi, routerBytecode);
  token = await chain.deploy(testTokenAbi, testTokenBytecode, ["Test", "TEST"]);
});
beforeEach(async () => {
  recipients += 1;
  recipient = freshAddress(recipients);
  probe = await chain.deploy(probeAbi, probeBytecode);
});
afterEach(async () => {
  expect(await chain.nativeBalance(router), "native left in the router").toBe(0n);
  expect(await chain.tokenBalance(token, router), "tokens left in the router").toBe(0n);
});
afterAll(async () => await chain.stop());

function multicall(
  calls: readonly Call[],
  refundTo: Address = zeroAddress,
  refundTokens: readonly Address[] = [],
): Hex {
  return encodeFunctionData({
    abi: routerAbi,
    functionName: "multicall",
    args: [calls, refundTo, refundTokens],
  });
}

function failure(errorName: "NativeNotExpected"): Hex {
  return encodeErrorResult({ abi: routerAbi, errorName });
}

async function pokedNumbers(): Promise<bigint[]> {
  const logs = await chain.client.getContractEvents({
    address: probe,
    abi: probeAbi,
    eventName: "Poked",
    fromBlock: "latest",
  });
  return logs.map((log) => log.args.number ?? -1n);
}

async function deployArmed(target: Address, data: Hex, value = 0n): Promise<Address> {
  const reenterer = await chain.deploy(reentererAbi, reentererBytecode);
  const arm = encodeFunctionData({ abi: reentererAbi, functionName: "arm", args: [target, data, value] });
  await chain.send(user, { to: reenterer, data: arm });
  return reenterer;
}

async function answerOf(reenterer: Address): Promise<Hex> {
  return await chain.client.readContract({
    address: reenterer,
    abi: reentererAbi,
    functionName: "answer",
  });
}

test("a native payment emits an event, and accepts an order id after its calldata", async () => {
  const data = concat([nativeTransfer(recipient, 12n), id]);
  const receipt = await chain.send(solver, { to: router, data, value: 12n });
  expect(eventsOf(receipt, router, routerAbi, "SolverNativeTransfer")).toEqual([
    { to: recipient, amount: 12n },
  ]);
  expect(receipt.logs[0]?.topics).toEqual([
    "0xd35467972d1fda5b63c735f59d3974fa51785a41a92aa3ed1b70832836f8dba6",
  ]);
  expect(await chain.nativeBalance(recipient)).toBe(12n);
});

test.each([0n, 11n, 13n])("refuses a payment of 12 with a value of %s", async (value) => {
  const data = nativeTransfer(recipient, 12n);
  expect(await chain.revertOf(solver, { to: router, data, value })).toBe(
    encodeErrorResult({ abi: routerAbi, errorName: "ValueMismatch", args: [value, 12n] }),
  );
});

test("a payment to a recipient that refuses native tokens reverts with the recipient's reason", async () => {
  const refusing = await chain.deploy(receiverAbi, receiverBytecode, [solver.address]);
  expect(await chain.revertOf(solver, { to: router, data: nativeTransfer(refusing, 1n), value: 1n })).toBe(
    encodeErrorResult({ abi: receiverAbi, errorName: "IdMissing" }),
  );
});

/**
 * Above the gas of an ordinary payment: 60,000 for the recipient, 2,300 for the stipend, and gas to forward a
 * reason.
 */
const MAX_EXTRA_GAS = 60_000n + 2_300n + 5_000n;

test.each([
  ["burns all it gets", 1, "reverted"],
  ["burns most of it and takes the payment", 2, "success"],
  ["returns huge data", 3, "success"],
  ["reverts with huge data", 4, "reverted"],
] as const)(
  "a recipient that later %s costs its payer a bounded amount more",
  async (_does, appetite, status) => {
    const hungry = await chain.deploy(hungryRecipientAbi, hungryRecipientBytecode);
    const directPayment = { to: router, data: nativeTransfer(hungry, 1n), value: 1n };
    const multicallPayment = {
      to: router,
      data: multicall([call(router, directPayment.data, 1n)]),
      value: 1n,
    };
    const modest = [
      (await chain.send(solver, directPayment)).gasUsed,
      (await chain.send(solver, multicallPayment)).gasUsed,
    ];
    const wake = encodeFunctionData({ abi: hungryRecipientAbi, functionName: "wake", args: [appetite] });
    await chain.send(user, { to: hungry, data: wake });
    for (const [index, tx] of [directPayment, multicallPayment].entries()) {
      const receipt = await chain.mine(solver, tx);
      expect(receipt.status).toBe(status);
      expect(receipt.gasUsed - modest[index]!).toBeLessThan(MAX_EXTRA_GAS);
      expect(receipt.gasUsed - modest[index]!).toBeGreaterThan(20_000n);
    }
  },
);

test("pays a contract wallet that writes storage and emits an event on receipt", async () => {
  const code = await chain.deploy(walletCodeAbi, walletCodeBytecode);
  const wallet = await chain.deploy(walletProxyAbi, walletProxyBytecode, [code]);
  const receipt = await chain.send(solver, { to: router, data: nativeTransfer(wallet, 5n), value: 5n });
  expect(eventsOf(receipt, wallet, walletCodeAbi, "Received")).toEqual([{ sender: router, value: 5n }]);
  expect(await chain.nativeBalance(wallet)).toBe(5n);
});

test("runs calls in order, emits an event for each, and accepts an order id after the calldata", async () => {
  const calls = [call(probe, poke(1n), 4n), call(probe, poke(2n)), call(recipient, "0x", 3n)];
  const data = concat([multicall(calls), id]);
  const receipt = await chain.send(solver, { to: router, data, value: 7n });
  expect(eventsOf(receipt, router, routerAbi, "SolverCallExecuted")).toEqual(
    calls.map((executed) => ({ to: executed.to, data: executed.data, amount: executed.value })),
  );
  expect(receipt.logs.find((log) => log.address === router.toLowerCase())?.topics).toEqual([
    "0x93485dcd31a905e3ffd7b012abe3438fa8fa77f98ddc9f50e879d3fa7ccdc324",
  ]);
  expect(eventsOf(receipt, router, routerAbi, "SolverNativeTransfer")).toEqual([]);
  expect(await pokedNumbers()).toEqual([1n, 2n]);
  expect(await chain.nativeBalance(probe)).toBe(4n);
});

test("emits a payment among the calls only as a payment", async () => {
  const calls = [call(probe, poke(1n)), call(router, nativeTransfer(recipient, 9n), 9n)];
  const receipt = await chain.send(solver, { to: router, data: multicall(calls), value: 9n });
  expect(eventsOf(receipt, router, routerAbi, "SolverNativeTransfer")).toEqual([
    { to: recipient, amount: 9n },
  ]);
  expect(eventsOf(receipt, router, routerAbi, "SolverCallExecuted")).toEqual([
    { to: probe, data: poke(1n), amount: 0n },
  ]);
  expect(await chain.nativeBalance(recipient)).toBe(9n);
});

test("multicall returns the return data of each call", async () => {
  const calls = [call(probe, poke(41n)), { ...call(probe, refuse(7n)), allowFailure: true }];
  const answer = await chain.readCall(solver, { to: router, data: multicall(calls) });
  expect(decodeFunctionResult({ abi: routerAbi, functionName: "multicall", data: answer })).toEqual([
    { success: true, returnData: `0x${"2a".padStart(64, "0")}` },
    { success: false, returnData: refusedError(7n) },
  ]);
});

test.each([
  ["a reason", () => refuse(321n), () => refusedError(321n)],
  ["no reason", () => toFunctionSelector("refuseSilently()"), () => "0x"],
])(
  "a failing call with %s undoes all and forwards its revert data unchanged",
  async (_with, data, reason) => {
    const calls = [call(recipient, "0x", 1n), call(probe, data())];
    const tx = { to: router, data: multicall(calls), value: 1n };
    expect(await chain.revertOf(solver, tx)).toBe(reason());
    expect((await chain.mine(solver, tx)).status).toBe("reverted");
    expect(await chain.nativeBalance(recipient)).toBe(0n);
  },
);

test("skips a failed call with allowFailure, without an event, and refunds its value", async () => {
  const calls = [{ ...call(probe, refuse(1n), 6n), allowFailure: true }, call(probe, poke(2n), 1n)];
  const receipt = await chain.send(solver, { to: router, data: multicall(calls, recipient), value: 7n });
  expect(eventsOf(receipt, router, routerAbi, "SolverCallExecuted")).toEqual([
    { to: probe, data: poke(2n), amount: 1n },
  ]);
  expect(await chain.nativeBalance(recipient)).toBe(6n);
});

test("sends remaining native tokens to the refund address", async () => {
  const data = multicall([call(probe, poke(1n), 1n)], recipient);
  await chain.send(solver, { to: router, data, value: 10n });
  expect(await chain.nativeBalance(recipient)).toBe(9n);
});

test("sends native tokens that a call returns to the refund address", async () => {
  const data = multicall([call(probe, toFunctionSelector("giveHalfBack()"), 10n)], recipient);
  await chain.send(solver, { to: router, data, value: 10n });
  expect(await chain.nativeBalance(probe)).toBe(5n);
  expect(await chain.nativeBalance(recipient)).toBe(5n);
});

test("sends the remainder to the caller without a refund address", async () => {
  const before = await chain.nativeBalance(solver.address);
  const calls = [call(token, mint(router, 50n))];
  const data = multicall(calls, zeroAddress, [token]);
  const { gasUsed, effectiveGasPrice } = await chain.send(solver, { to: router, data, value: 10n });
  expect(await chain.nativeBalance(solver.address)).toBe(before - gasUsed * effectiveGasPrice);
  expect(await chain.tokenBalance(token, solver.address)).toBe(50n);
});

test("sends remaining listed tokens to the refund address, including one that returns nothing", async () => {
  const silent = await chain.deploy(returnsNothingAbi, returnsNothingBytecode);
  const calls = [
    call(token, mint(router, 50n)),
    call(silent, mint(router, 60n)),
    call(token, transfer(probe, 20n)),
  ];
  await chain.send(solver, { to: router, data: multicall(calls, recipient, [token, silent, token]) });
  expect(await chain.tokenBalance(token, recipient)).toBe(30n);
  expect(await chain.tokenBalance(silent, recipient)).toBe(60n);
});

test("reverts everything if a refund fails", async () => {
  const liar = await chain.deploy(returnsFalseAbi, returnsFalseBytecode);
  const tokens = multicall([call(liar, mint(router, 1n))], recipient, [liar]);
  expect(await chain.revertOf(solver, { to: router, data: tokens })).toBe(
    encodeErrorResult({ abi: transferErrorsAbi, errorName: "TransferFailed" }),
  );
  // The probe refuses plain native transfers.
  expect(await chain.revertOf(solver, { to: router, data: multicall([], probe), value: 1n })).toBe(
    encodeErrorResult({ abi: transferErrorsAbi, errorName: "ETHTransferFailed" }),
  );
});

test("refuses native tokens outside a call", async () => {
  expect(await chain.revertOf(solver, { to: router, value: 1n })).toBe(failure("NativeNotExpected"));
  expect(await chain.revertOf(solver, { to: router, data: id, value: 1n })).toBe("0x");
});

test("a refunded contract cannot leave native tokens in the router", async () => {
  const refunded = await deployArmed(router, "0x", 1n);
  await chain.send(solver, { to: router, data: multicall([], refunded), value: 5n });
  expect(await answerOf(refunded)).toBe(failure("NativeNotExpected"));
  expect(await chain.nativeBalance(refunded)).toBe(5n);
});

test("a paid contract cannot leave native tokens in the router", async () => {
  const paid = await deployArmed(router, "0x", 1n);
  await chain.send(solver, { to: router, data: nativeTransfer(paid, 5n), value: 5n });
  expect(await answerOf(paid)).toBe(failure("NativeNotExpected"));
  expect(await chain.nativeBalance(paid)).toBe(5n);
});

test("a called contract cannot start its own multicall and take the router's balance", async () => {
  const thief = await deployArmed(router, multicall([], recipient, [token]));
  const calls = [call(token, mint(router, 50n)), call(thief, "0x", 1n), call(token, transfer(probe, 50n))];
  await chain.send(solver, { to: router, data: multicall(calls), value: 1n });
  expect(await answerOf(thief)).toBe(reenteredError);
  expect(await chain.tokenBalance(token, probe)).toBe(50n);
  expect(await chain.tokenBalance(token, recipient)).toBe(0n);
});

test("a multicall cannot reenter itself", async () => {
  const data = multicall([call(router, multicall([]))]);
  expect(await chain.revertOf(solver, { to: router, data })).toBe(reenteredError);
});

test("a called contract can pay through the router from its own balance", async () => {
  const payer = await deployArmed(router, nativeTransfer(recipient, 2n), 2n);
  const data = multicall([call(payer, "0x", 2n)]);
  const receipt = await chain.send(deployer, { to: router, data, value: 2n });
  expect(eventsOf(receipt, router, routerAbi, "SolverNativeTransfer")).toEqual([
    { to: recipient, amount: 2n },
  ]);
  expect(await chain.nativeBalance(recipient)).toBe(2n);
});

test("releases the reentrancy lock after a multicall", async () => {
  const calls = [call(probe, poke(1n))];
  await chain.send(solver, { to: router, data: multicall(calls) });
  await chain.send(solver, { to: router, data: multicall(calls) });
  expect(await pokedNumbers()).toEqual([1n]);
});
