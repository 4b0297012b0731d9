import { encodeErrorResult, encodeFunctionData, type Address, type Hex } from "viem";
import { afterAll, beforeEach, beforeAll, expect, test } from "vitest";
import { eventsOf, zeroAddress } from "../test/calls.ts";
import { chainId, accounts, startTestChain, type TestChain } from "../test/chain.ts";
import { encodeExecute, requestOf, sign } from "../test/requests.ts";
import { depositoryAbi, depositoryBytecode } from "./index.ts";

const { owner, allocator, stranger, solver } = accounts;
const unauthorized = encodeErrorResult({ abi: depositoryAbi, errorName: "Unauthorized" });
const zeroAddressError = encodeErrorResult({ abi: depositoryAbi, errorName: "AddressCannotBeZero" });

let chain: TestChain;
let depository: Address;

beforeAll(async () => {
  chain = await startTestChain();
});
beforeEach(async () => {
  depository = await chain.deploy(depositoryAbi, depositoryBytecode, [owner.address, allocator.address]);
});
afterAll(async () => await chain.stop());

function setAllocator(next: Address): Hex {
  return encodeFunctionData({ abi: depositoryAbi, functionName: "setAllocator", args: [next] });
}

async function read(functionName: "owner" | "allocator"): Promise<Address> {
  return await chain.client.readContract({ address: depository, abi: depositoryAbi, functionName });
}

test("stores the owner and the allocator passed to its constructor", async () => {
  expect(await read("owner")).toBe(owner.address);
  expect(await read("allocator")).toBe(allocator.address);
});

test("neither the owner nor the allocator can be the zero address", async () => {
  for (const args of [
    [zeroAddress, allocator.address],
    [owner.address, zeroAddress],
  ]) {
    expect(await chain.deployRevertOf(depositoryAbi, depositoryBytecode, args)).toBe(zeroAddressError);
  }
});

test("accepts the new allocator's signatures immediately and rejects the old allocator's", async () => {
  const receipt = await chain.send(owner, { to: depository, data: setAllocator(stranger.address) });
  expect(eventsOf(receipt, depository, depositoryAbi, "AllocatorChanged")).toEqual([
    { previousAllocator: allocator.address, newAllocator: stranger.address },
  ]);
  const request = requestOf([]);
  const old = encodeExecute(request, await sign(allocator, depository, request));
  expect(await chain.revertOf(solver, { to: depository, data: old })).toBe(
    encodeErrorResult({ abi: depositoryAbi, errorName: "InvalidSignature" }),
  );
  await chain.send(solver, {
    to: depository,
    data: encodeExecute(request, await sign(stranger, depository, request)),
  });
});

test("only the owner can set the allocator, and not to the zero address", async () => {
  for (const other of [stranger, allocator]) {
    const data = setAllocator(other.address);
    expect(await chain.revertOf(other, { to: depository, data })).toBe(unauthorized);
  }
  expect(await chain.revertOf(owner, { to: depository, data: setAllocator(zeroAddress) })).toBe(
    zeroAddressError,
  );
});

test("transfers ownership in two steps: the new owner requests, and the old one completes", async () => {
  const complete = encodeFunctionData({
    abi: depositoryAbi,
    functionName: "completeOwnershipHandover",
    args: [stranger.address],
  });
  expect(await chain.revertOf(owner, { to: depository, data: complete })).toBe(
    encodeErrorResult({ abi: depositoryAbi, errorName: "NoHandoverRequest" }),
  );
  const request = encodeFunctionData({ abi: depositoryAbi, functionName: "requestOwnershipHandover" });
  await chain.send(stranger, { to: depository, data: request });
  expect(await chain.revertOf(stranger, { to: depository, data: complete })).toBe(unauthorized);
  await chain.send(owner, { to: depository, data: complete });
  expect(await read("owner")).toBe(stranger.address);
  expect(await chain.revertOf(owner, { to: depository, data: setAllocator(owner.address) })).toBe(
    unauthorized,
  );
});

test("the signing domain is Depository, version 1, on this chain and contract", async () => {
  const domain = await chain.client.readContract({
    address: depository,
    abi: depositoryAbi,
    functionName: "eip712Domain",
  });
  expect(domain).toEqual([
    "0x0f",
    "Depository",
    "1",
    BigInt(chainId),
    depository,
    `0x${"00".repeat(32)}`,
    [],
  ]);
});
