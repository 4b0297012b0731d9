import {
  encodeErrorResult,
  encodeFunctionData,
  toHex,
  type Address,
  type Hex,
  type LocalAccount,
} from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventsOf, zeroAddress } from "../test/calls.ts";
import { chainId, freshAddress, accounts, startTestChain, type TestChain } from "../test/chain.ts";
import { signAscending } from "../test/executions.ts";
import {
  allocatorAbi,
  allocatorBytecode,
  allocatorDomain,
  oracleMultisigAbi,
  oracleMultisigBytecode,
  submitWithdrawRequestTypes,
} from "./index.ts";

const { owner, allocator, stranger, deployer } = accounts;
const oracles = [accounts.user, accounts.solver];
const unauthorized: Hex = "0x82b42900";
const payload = (n: number): Hex => toHex(n, { size: 32 });

let chain: TestChain;
let multisig: Address;
let registry: Address;
let addresses = 0;

/** What the oracles sign for an unused withdrawal address. */
function newRequest() {
  addresses += 1;
  return {
    chainId: 72_100_117n,
    depository: "0xcb4ef25ff9aaa627023476d9677c4bc0164da31b",
    currency: "0xd416ea5f70f471fd77d0a3d5d3bb18982e72656f",
    amount: 25_000_000n,
    spender: freshAddress(addresses),
    receiver: "0x1111111111111111111111111111111111111111",
    data: "0x1234" as Hex,
    nonce: payload(addresses),
  };
}
type Request = ReturnType<typeof newRequest>;

async function signRequest(
  signer: LocalAccount,
  request: Request,
  chain = chainId,
  verifyingContract = registry,
): Promise<Hex> {
  return await signer.signTypedData({
    domain: allocatorDomain(chain, verifyingContract),
    types: submitWithdrawRequestTypes,
    primaryType: "SubmitWithdrawRequest",
    message: request,
  });
}
async function signQuorum(request: Request): Promise<Hex> {
  return await signAscending(oracles, async (oracle) => await signRequest(oracle, request));
}
function record(
  request: Request,
  withdrawalId: Hex,
  signature: Hex,
  withdrawalAddress = request.spender,
): Hex {
  return encodeFunctionData({
    abi: allocatorAbi,
    functionName: "record",
    args: [withdrawalAddress, withdrawalId, request, signature],
  });
}
async function recordedFor(withdrawalAddress: Address): Promise<Hex> {
  return await chain.client.readContract({
    address: registry,
    abi: allocatorAbi,
    functionName: "withdrawalIdOf",
    args: [withdrawalAddress],
  });
}
const invalidSignature = encodeErrorResult({ abi: allocatorAbi, errorName: "InvalidSignature" });
function alreadyRecordedError(withdrawalAddress: Address, id: Hex): Hex {
  return encodeErrorResult({
    abi: allocatorAbi,
    errorName: "AlreadyRecorded",
    args: [withdrawalAddress, id],
  });
}

beforeAll(async () => {
  chain = await startTestChain();
  const signers = oracles.map(({ address }) => address);
  multisig = await chain.deploy(oracleMultisigAbi, oracleMultisigBytecode, [owner.address, signers, 2n]);
  registry = await chain.deploy(allocatorAbi, allocatorBytecode, [owner.address, multisig]);
  const args = [allocator.address, 1n] as const;
  const data = encodeFunctionData({ abi: allocatorAbi, functionName: "grantRoles", args });
  await chain.send(owner, { to: registry, data });
});
afterAll(async () => await chain.stop());

test("the allocator records the payload of a withdrawal that the oracles signed, for lookup in both directions", async () => {
  const request = newRequest();
  expect(await recordedFor(request.spender)).toBe(payload(0));
  const receipt = await chain.send(allocator, {
    to: registry,
    data: record(request, payload(11), await signQuorum(request)),
  });
  expect(await recordedFor(request.spender)).toBe(payload(11));
  expect(
    await chain.client.readContract({
      address: registry,
      abi: allocatorAbi,
      functionName: "withdrawalAddressOf",
      args: [payload(11)],
    }),
  ).toBe(request.spender);
  expect(eventsOf(receipt, registry, allocatorAbi, "WithdrawalRecorded")).toEqual([
    { withdrawalAddress: request.spender, withdrawalId: payload(11), params: request },
  ]);
});

test("a withdrawal address never gets a second payload, nor a payload a second address", async () => {
  const [first, second] = [newRequest(), newRequest()];
  await chain.send(allocator, { to: registry, data: record(first, payload(21), await signQuorum(first)) });

  for (const id of [payload(21), payload(22)]) {
    const data = record(first, id, await signQuorum(first));
    expect(await chain.revertOf(allocator, { to: registry, data })).toBe(
      alreadyRecordedError(first.spender, id),
    );
  }
  const renewed = { ...first, amount: 1n };
  const again = record(renewed, payload(22), await signQuorum(renewed));
  expect(await chain.revertOf(allocator, { to: registry, data: again })).toBe(
    alreadyRecordedError(first.spender, payload(22)),
  );
  const duplicateId = record(second, payload(21), await signQuorum(second));
  expect(await chain.revertOf(allocator, { to: registry, data: duplicateId })).toBe(
    alreadyRecordedError(second.spender, payload(21)),
  );
  expect(await recordedFor(first.spender)).toBe(payload(21));
});

test("refuses a record from any account but the allocator, even if the oracles signed it", async () => {
  const request = newRequest();
  const data = record(request, payload(31), await signQuorum(request));
  for (const sender of [stranger, owner, deployer, ...oracles]) {
    expect(await chain.revertOf(sender, { to: registry, data })).toBe(unauthorized);
  }
});

test("refuses to record a payload for a withdrawal address other than the one the oracles signed", async () => {
  const request = newRequest();
  const other = freshAddress(9_999);
  const data = record(request, payload(41), await signQuorum(request), other);
  expect(await chain.revertOf(allocator, { to: registry, data })).toBe(
    encodeErrorResult({ abi: allocatorAbi, errorName: "WrongSpender", args: [request.spender, other] }),
  );
});

test.each<[string, (r: Request) => Promise<Hex>]>([
  ["of one oracle", async (r) => await signRequest(accounts.user, r)],
  [
    "of strangers",
    async (r) => await signAscending([stranger, deployer], async (signer) => await signRequest(signer, r)),
  ],
  ["of the allocator itself", async (r) => await signRequest(allocator, r)],
  [
    "for another chain",
    async (r) => await signAscending(oracles, async (signer) => await signRequest(signer, r, chainId + 1)),
  ],
  [
    "for another contract",
    async (r) =>
      await signAscending(oracles, async (signer) => await signRequest(signer, r, chainId, multisig)),
  ],
  ["for another amount", async (r) => await signQuorum({ ...r, amount: r.amount + 1n })],
  ["for another chain to pay on", async (r) => await signQuorum({ ...r, chainId: 1n })],
  ["for another depository", async (r) => await signQuorum({ ...r, depository: r.receiver })],
  ["for another currency", async (r) => await signQuorum({ ...r, currency: r.receiver })],
  ["for another receiver", async (r) => await signQuorum({ ...r, receiver: r.currency })],
  ["for other data", async (r) => await signQuorum({ ...r, data: "0x" })],
  ["for another nonce", async (r) => await signQuorum({ ...r, nonce: payload(0) })],
  ["of zero bytes", async () => await Promise.resolve("0x" as const)],
])("a signature %s is refused", async (_what, signature) => {
  const request = newRequest();
  const data = record(request, payload(51), await signature(request));
  expect(await chain.revertOf(allocator, { to: registry, data })).toBe(invalidSignature);
});

test("refuses an empty payload", async () => {
  const request = newRequest();
  const data = record(request, payload(0), await signQuorum(request));
  expect(await chain.revertOf(allocator, { to: registry, data })).toBe(
    encodeErrorResult({ abi: allocatorAbi, errorName: "WithdrawalIdCannotBeZero" }),
  );
});

test.each<[string, () => readonly Address[]]>([
  ["an owner", () => [zeroAddress, multisig]],
  ["an oracle", () => [owner.address, zeroAddress]],
])("the Allocator cannot be deployed without %s", async (_what, args) => {
  expect(await chain.deployRevertOf(allocatorAbi, allocatorBytecode, args())).toBe(
    encodeErrorResult({ abi: allocatorAbi, errorName: "AddressCannotBeZero" }),
  );
});
