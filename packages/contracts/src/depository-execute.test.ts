import {
  decodeFunctionResult,
  encodeErrorResult,
  encodeFunctionData,
  parseSignature,
  serializeCompactSignature,
  signatureToCompactSignature,
  type Address,
  type ContractErrorName,
  type Hex,
} from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  call,
  eventsOf,
  id,
  mint,
  poke,
  reenteredError,
  refuse,
  refusedError,
  transfer,
  type Call,
} from "../test/calls.ts";
import { chainId, accounts, startTestChain, type TestChain } from "../test/chain.ts";
import { encodeExecute, requestId, requestOf, sign, type CallRequest } from "../test/requests.ts";
import { contractAllocatorAbi, contractAllocatorBytecode } from "./generated/contract-allocator.ts";
import { probeAbi, probeBytecode } from "./generated/probe.ts";
import { reentererAbi, reentererBytecode } from "./generated/reenterer.ts";
import { depositoryAbi, depositoryBytecode, testTokenAbi, testTokenBytecode } from "./index.ts";

const { owner, allocator, user, stranger, solver } = accounts;

let chain: TestChain;
let depository: Address;
let token: Address;
let probe: Address;

function errorData(errorName: Exclude<ContractErrorName<typeof depositoryAbi>, "CallFailed">): Hex {
  return encodeErrorResult({ abi: depositoryAbi, errorName });
}

function callFailedError(returnData: Hex): Hex {
  return encodeErrorResult({ abi: depositoryAbi, errorName: "CallFailed", args: [returnData] });
}

async function fund(target: Address): Promise<void> {
  const data = encodeFunctionData({
    abi: depositoryAbi,
    functionName: "depositNative",
    args: [user.address, id],
  });
  await chain.send(user, { to: target, data, value: 1_000_000n });
}

beforeAll(async () => {
  chain = await startTestChain();
  depository = await chain.deploy(depositoryAbi, depositoryBytecode, [owner.address, allocator.address]);
  token = await chain.deploy(testTokenAbi, testTokenBytecode, ["Test", "TEST"]);
  probe = await chain.deploy(probeAbi, probeBytecode);
  await fund(depository);
  await chain.send(user, { to: token, data: mint(depository, 1_000_000n) });
});
afterAll(async () => await chain.stop());

async function isUsed(request: CallRequest, contract = depository): Promise<boolean> {
  return await chain.client.readContract({
    address: contract,
    abi: depositoryAbi,
    functionName: "callRequests",
    args: [requestId(request)],
  });
}

async function signAndEncode(request: CallRequest): Promise<Hex> {
  return encodeExecute(request, await sign(allocator, depository, request));
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

test("anyone can submit an allocator-signed request; its calls run in order, and each emits an event", async () => {
  const calls = [
    call(probe, poke(1n), 5n),
    call(token, transfer(stranger.address, 30n)),
    call(probe, poke(2n), 0n),
  ];
  const request = requestOf(calls);
  const before = await chain.nativeBalance(depository);
  const receipt = await chain.send(solver, { to: depository, data: await signAndEncode(request) });

  expect(eventsOf(receipt, depository, depositoryAbi, "CallExecuted")).toEqual(
    calls.map((executedCall) => ({ id: requestId(request), call: executedCall })),
  );
  expect(await pokedNumbers()).toEqual([1n, 2n]);
  expect(await chain.tokenBalance(token, stranger.address)).toBe(30n);
  expect(await chain.nativeBalance(depository)).toBe(before - 5n);
  expect(await isUsed(request)).toBe(true);
});

test("execute returns the return data of each call", async () => {
  const request = requestOf([
    call(probe, poke(41n)),
    { ...call(probe, refuse(7n)), allowFailure: true },
    call(stranger.address, "0x", 1n),
  ]);
  const answer = await chain.readCall(solver, { to: depository, data: await signAndEncode(request) });
  expect(decodeFunctionResult({ abi: depositoryAbi, functionName: "execute", data: answer })).toEqual([
    { success: true, returnData: `0x${"2a".padStart(64, "0")}` },
    { success: false, returnData: refusedError(7n) },
    { success: true, returnData: "0x" },
  ]);
});

test("a request is valid until its expiration, inclusive", async () => {
  const { timestamp } = await chain.client.getBlock();
  const inTime = requestOf([call(probe, poke(1n))], timestamp + 100n);
  const late = requestOf([call(probe, poke(1n))], timestamp + 199n);

  await chain.client.setNextBlockTimestamp({ timestamp: timestamp + 100n });
  const accepted = await chain.mine(solver, { to: depository, data: await signAndEncode(inTime) });
  expect(accepted.status).toBe("success");

  await chain.client.setNextBlockTimestamp({ timestamp: timestamp + 200n });
  const refusedLate = await chain.mine(solver, { to: depository, data: await signAndEncode(late) });
  expect(refusedLate.status).toBe("reverted");
  expect(await isUsed(late)).toBe(false);
});

test("an expired request reverts as expired, regardless of its signature", async () => {
  const request = requestOf([], 1n);
  for (const signature of [
    await sign(allocator, depository, request),
    await sign(stranger, depository, request),
  ]) {
    const data = encodeExecute(request, signature);
    expect(await chain.revertOf(solver, { to: depository, data })).toBe(errorData("CallRequestExpired"));
  }
});

test.each<[string, (request: CallRequest) => Promise<Hex>]>([
  ["of another key", async (request) => await sign(stranger, depository, request)],
  ["of the owner", async (request) => await sign(owner, depository, request)],
  ["for another depository", async (request) => await sign(allocator, probe, request)],
  ["for another chain", async (request) => await sign(allocator, depository, request, chainId + 1)],
  ["for another nonce", async (r) => await sign(allocator, depository, { ...r, nonce: r.nonce + 1n })],
  ["for another expiration", async (r) => await sign(allocator, depository, { ...r, expiration: 2n ** 50n })],
  ["for other calls", async (r) => await sign(allocator, depository, { ...r, calls: [] })],
  [
    "that allows failure where the request does not",
    async (r) =>
      await sign(allocator, depository, {
        ...r,
        calls: r.calls.map((each) => ({ ...each, allowFailure: true })),
      }),
  ],
  ["of zero bytes", async () => await Promise.resolve("0x" as const)],
  ["of only zeros", async () => await Promise.resolve(`0x${"00".repeat(65)}` as const)],
])("a signature %s is refused", async (_whose, signature) => {
  const request = requestOf([call(probe, poke(1n), 1n)]);
  const data = encodeExecute(request, await signature(request));
  expect(await chain.revertOf(solver, { to: depository, data })).toBe(errorData("InvalidSignature"));
});

test("executes a request once, regardless of the format of its signature", async () => {
  const request = requestOf([call(stranger.address, "0x", 1n)]);
  const signature = await sign(allocator, depository, request);
  await chain.send(solver, { to: depository, data: encodeExecute(request, signature) });

  const compact = serializeCompactSignature(signatureToCompactSignature(parseSignature(signature)));
  for (const form of [signature, compact]) {
    const data = encodeExecute(request, form);
    expect(await chain.revertOf(solver, { to: depository, data })).toBe(errorData("CallRequestAlreadyUsed"));
  }
});

test("a used request with a wrong signature reverts with the signature error", async () => {
  const request = requestOf([]);
  await chain.send(solver, { to: depository, data: await signAndEncode(request) });
  const data = encodeExecute(request, await sign(stranger, depository, request));
  expect(await chain.revertOf(solver, { to: depository, data })).toBe(errorData("InvalidSignature"));
});

test("accepts a compact signature", async () => {
  const request = requestOf([]);
  const signature = parseSignature(await sign(allocator, depository, request));
  const compact = serializeCompactSignature(signatureToCompactSignature(signature));
  await chain.send(solver, { to: depository, data: encodeExecute(request, compact) });
  expect(await isUsed(request)).toBe(true);
});

test("the same request has the same id at another depository, where it is used independently", async () => {
  const other = await chain.deploy(depositoryAbi, depositoryBytecode, [owner.address, allocator.address]);
  const request = requestOf([]);
  await chain.send(solver, { to: depository, data: await signAndEncode(request) });
  expect(await isUsed(request, other)).toBe(false);
  await chain.send(solver, {
    to: other,
    data: encodeExecute(request, await sign(allocator, other, request)),
  });
  expect(await isUsed(request, other)).toBe(true);
});

test("the allocator can be a contract that validates signatures (EIP-1271)", async () => {
  const wallet = await chain.deploy(contractAllocatorAbi, contractAllocatorBytecode, [allocator.address]);
  const guarded = await chain.deploy(depositoryAbi, depositoryBytecode, [owner.address, wallet]);
  await fund(guarded);
  const request = requestOf([call(stranger.address, "0x", 9n)]);

  const forged = encodeExecute(request, await sign(stranger, guarded, request));
  expect(await chain.revertOf(solver, { to: guarded, data: forged })).toBe(errorData("InvalidSignature"));

  await chain.send(solver, {
    to: guarded,
    data: encodeExecute(request, await sign(allocator, guarded, request)),
  });
  expect(await isUsed(request, guarded)).toBe(true);
});

test("an allocator contract without EIP-1271 cannot sign", async () => {
  const guarded = await chain.deploy(depositoryAbi, depositoryBytecode, [owner.address, probe]);
  const request = requestOf([]);
  const data = encodeExecute(request, await sign(allocator, guarded, request));
  expect(await chain.revertOf(solver, { to: guarded, data })).toBe(errorData("InvalidSignature"));
});

test("skips a failed call with allowFailure, without an event, and runs the others", async () => {
  const executedCall = call(probe, poke(3n));
  const request = requestOf([{ ...call(probe, refuse(1n), 8n), allowFailure: true }, executedCall]);
  const before = await chain.nativeBalance(depository);
  const receipt = await chain.send(solver, { to: depository, data: await signAndEncode(request) });
  expect(eventsOf(receipt, depository, depositoryAbi, "CallExecuted")).toEqual([
    { id: requestId(request), call: executedCall },
  ]);
  expect(await chain.nativeBalance(depository)).toBe(before);
  expect(await isUsed(request)).toBe(true);
});

test.each<[string, () => Call, () => Hex]>([
  ["with a reason", () => call(probe, refuse(99n)), () => refusedError(99n)],
  ["without a reason", () => call(probe, "0xdeadbeef"), () => "0x"],
  ["for lack of native tokens", () => call(stranger.address, "0x", 10n ** 30n), () => "0x"],
])("a call without allowFailure that fails %s reverts the whole request", async (_how, failing, reason) => {
  const request = requestOf([call(stranger.address, "0x", 11n), failing()]);
  const data = await signAndEncode(request);
  const before = await chain.nativeBalance(stranger.address);
  expect(await chain.revertOf(solver, { to: depository, data })).toBe(callFailedError(reason()));

  const receipt = await chain.mine(solver, { to: depository, data });
  expect(receipt.status).toBe("reverted");
  expect(await chain.nativeBalance(stranger.address)).toBe(before);
  expect(await isUsed(request)).toBe(false);
});

test("execute refuses native tokens", async () => {
  const data = await signAndEncode(requestOf([]));
  expect(await chain.revertOf(solver, { to: depository, data, value: 1n })).toBe("0x");
});

test.each<[string, (paid: CallRequest, other: CallRequest) => Promise<Hex>]>([
  ["the request that pays it", async (paid) => await signAndEncode(paid)],
  ["another signed request", async (_paid, other) => await signAndEncode(other)],
  [
    "a deposit",
    async () =>
      await Promise.resolve(
        encodeFunctionData({
          abi: depositoryAbi,
          functionName: "depositNative",
          args: [user.address, id],
        }),
      ),
  ],
])("a recipient cannot reenter the depository with %s while it is being paid", async (_what, reentry) => {
  const recipient = await chain.deploy(reentererAbi, reentererBytecode);
  const paid = requestOf([call(recipient, "0x", 10n)]);
  const other = requestOf([call(recipient, "0x", 20n)]);
  const arm = encodeFunctionData({
    abi: reentererAbi,
    functionName: "arm",
    args: [depository, await reentry(paid, other), 0n],
  });
  await chain.send(user, { to: recipient, data: arm });
  const receipt = await chain.send(solver, { to: depository, data: await signAndEncode(paid) });

  expect(
    await chain.client.readContract({ address: recipient, abi: reentererAbi, functionName: "answer" }),
  ).toBe(reenteredError);
  expect(await chain.nativeBalance(recipient)).toBe(10n);
  expect(eventsOf(receipt, depository, depositoryAbi, "CallExecuted")).toHaveLength(1);
  expect(await isUsed(other)).toBe(false);
});

test("a request cannot reenter the depository's locked functions", async () => {
  const inner = requestOf([]);
  const request = requestOf([call(depository, await signAndEncode(inner))]);
  expect(await chain.revertOf(solver, { to: depository, data: await signAndEncode(request) })).toBe(
    callFailedError(reenteredError),
  );
});
