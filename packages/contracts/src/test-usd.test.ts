import {
  encodeErrorResult,
  encodeFunctionData,
  keccak256,
  parseSignature,
  toHex,
  type Address,
  type Hex,
  type LocalAccount,
} from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { eventsOf, mint } from "../test/calls.ts";
import { chainId, freshAddress, accounts, startTestChain, type TestChain } from "../test/chain.ts";
import { contractAllocatorAbi, contractAllocatorBytecode } from "./generated/contract-allocator.ts";
import {
  cancelAuthorizationTypes,
  permitTypes,
  receiveWithAuthorizationTypes,
  testUsdAbi,
  testUsdBytecode,
  transferWithAuthorizationTypes,
  type ContractDomain,
} from "./index.ts";

const { user, stranger, solver } = accounts;
const farFuture = 2n ** 40n;

let chain: TestChain;
let usd: Address;
let payee: Address;
let payees = 0;

beforeAll(async () => {
  chain = await startTestChain();
  usd = await chain.deploy(testUsdAbi, testUsdBytecode, ["Test USD", "USD"]);
  await chain.send(user, { to: usd, data: mint(user.address, 1_000_000n) });
});
beforeEach(() => {
  payees += 1;
  payee = freshAddress(payees);
});
afterAll(async () => await chain.stop());

interface Authorization {
  readonly from: Address;
  readonly to: Address;
  readonly value: bigint;
  /** Unix seconds, like `validBefore`; both ends are exclusive. */
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly nonce: Hex;
}

function domain(): ContractDomain {
  return { name: "Test USD", version: "1", chainId, verifyingContract: usd };
}

function authorization(changes: Partial<Authorization> = {}): Authorization {
  const nonce = keccak256(toHex(`nonce ${payees}`));
  const common = { from: user.address, to: payee, value: 10n, validAfter: 0n, validBefore: farFuture, nonce };
  return { ...common, ...changes };
}

async function signTransfer(signer: LocalAccount, message: Authorization): Promise<Hex> {
  return await signer.signTypedData({
    domain: domain(),
    types: transferWithAuthorizationTypes,
    primaryType: "TransferWithAuthorization",
    message,
  });
}

async function signReceive(signer: LocalAccount, message: Authorization): Promise<Hex> {
  return await signer.signTypedData({
    domain: domain(),
    types: receiveWithAuthorizationTypes,
    primaryType: "ReceiveWithAuthorization",
    message,
  });
}

async function signCancel(signer: LocalAccount, nonce: Hex): Promise<Hex> {
  return await signer.signTypedData({
    domain: domain(),
    types: cancelAuthorizationTypes,
    primaryType: "CancelAuthorization",
    message: { authorizer: user.address, nonce },
  });
}

type Movement = "transferWithAuthorization" | "receiveWithAuthorization";
type Form = "v, r, s" | "bytes";
const forms: readonly Form[] = ["v, r, s", "bytes"];

function move(functionName: Movement, a: Authorization, signature: Hex, form: Form = "bytes"): Hex {
  const message = [a.from, a.to, a.value, a.validAfter, a.validBefore, a.nonce] as const;
  if (form === "bytes") {
    return encodeFunctionData({ abi: testUsdAbi, functionName, args: [...message, signature] });
  }
  const { yParity, r, s } = parseSignature(signature);
  return encodeFunctionData({ abi: testUsdAbi, functionName, args: [...message, 27 + yParity, r, s] });
}

function cancel(nonce: Hex, signature: Hex, form: Form): Hex {
  const functionName = "cancelAuthorization";
  if (form === "bytes") {
    return encodeFunctionData({ abi: testUsdAbi, functionName, args: [user.address, nonce, signature] });
  }
  const { yParity, r, s } = parseSignature(signature);
  return encodeFunctionData({
    abi: testUsdAbi,
    functionName,
    args: [user.address, nonce, 27 + yParity, r, s],
  });
}

function usedAlready(nonce: Hex): Hex {
  return encodeErrorResult({
    abi: testUsdAbi,
    errorName: "AuthorizationUsedOrCanceled",
    args: [user.address, nonce],
  });
}

const invalid = encodeErrorResult({ abi: testUsdAbi, errorName: "InvalidAuthorization" });

test("has six decimals and returns its domain", async () => {
  const read = { address: usd, abi: testUsdAbi } as const;
  expect(await chain.client.readContract({ ...read, functionName: "decimals" })).toBe(6);
  expect(await chain.client.readContract({ ...read, functionName: "version" })).toBe("1");
});

test("a permit approves by signature once", async () => {
  const message = {
    owner: user.address,
    spender: solver.address,
    value: 55n,
    nonce: 0n,
    deadline: farFuture,
  };
  const signature = await user.signTypedData({
    domain: domain(),
    types: permitTypes,
    primaryType: "Permit",
    message,
  });
  const { yParity, r, s } = parseSignature(signature);
  const data = encodeFunctionData({
    abi: testUsdAbi,
    functionName: "permit",
    args: [user.address, solver.address, 55n, farFuture, 27 + yParity, r, s],
  });
  await chain.send(solver, { to: usd, data });
  const allowance = await chain.client.readContract({
    address: usd,
    abi: testUsdAbi,
    functionName: "allowance",
    args: [user.address, solver.address],
  });
  expect(allowance).toBe(55n);
  expect((await chain.mine(solver, { to: usd, data })).status).toBe("reverted");
});

test.each(forms)("anyone can submit a signed transfer once (%s)", async (form) => {
  const signed = authorization();
  const signature = await signTransfer(user, signed);
  const data = move("transferWithAuthorization", signed, signature, form);
  const receipt = await chain.send(solver, { to: usd, data });
  expect(eventsOf(receipt, usd, testUsdAbi, "AuthorizationUsed")).toEqual([
    { authorizer: user.address, nonce: signed.nonce },
  ]);
  expect(await chain.tokenBalance(usd, payee)).toBe(10n);
  expect(await chain.revertOf(solver, { to: usd, data })).toBe(usedAlready(signed.nonce));
});

test.each(forms)("only the payee can submit a signed ReceiveWithAuthorization (%s)", async (form) => {
  const signed = authorization({ to: solver.address });
  const signature = await signReceive(user, signed);
  const data = move("receiveWithAuthorization", signed, signature, form);
  expect(await chain.revertOf(stranger, { to: usd, data })).toBe(
    encodeErrorResult({
      abi: testUsdAbi,
      errorName: "CallerIsNotPayee",
      args: [stranger.address, solver.address],
    }),
  );
  const before = await chain.tokenBalance(usd, solver.address);
  await chain.send(solver, { to: usd, data });
  expect(await chain.tokenBalance(usd, solver.address)).toBe(before + 10n);
});

test("a signed ReceiveWithAuthorization cannot be submitted as a transfer", async () => {
  const signed = authorization({ to: solver.address });
  const data = move("transferWithAuthorization", signed, await signReceive(user, signed));
  expect(await chain.revertOf(stranger, { to: usd, data })).toBe(invalid);
});

test.each(forms)("a cancelled authorization cannot be used (%s)", async (form) => {
  const signed = authorization();
  const { nonce } = signed;
  const forged = cancel(nonce, await signCancel(stranger, nonce), form);
  expect(await chain.revertOf(stranger, { to: usd, data: forged })).toBe(invalid);

  const receipt = await chain.send(stranger, {
    to: usd,
    data: cancel(nonce, await signCancel(user, nonce), form),
  });
  expect(eventsOf(receipt, usd, testUsdAbi, "AuthorizationCanceled")).toEqual([
    { authorizer: user.address, nonce },
  ]);
  const data = move("transferWithAuthorization", signed, await signTransfer(user, signed), form);
  expect(await chain.revertOf(solver, { to: usd, data })).toBe(usedAlready(nonce));
});

test("refuses an authorization by another key, or for another amount", async () => {
  const signed = authorization();
  const byStranger = move("transferWithAuthorization", signed, await signTransfer(stranger, signed));
  expect(await chain.revertOf(solver, { to: usd, data: byStranger })).toBe(invalid);
  const signature = await signTransfer(user, signed);
  const larger = move("transferWithAuthorization", { ...signed, value: 11n }, signature);
  expect(await chain.revertOf(solver, { to: usd, data: larger })).toBe(invalid);
});

test("an authorization is valid only between its two times", async () => {
  const early = authorization({ validAfter: farFuture - 1n });
  expect(
    await chain.revertOf(solver, {
      to: usd,
      data: move("transferWithAuthorization", early, await signTransfer(user, early)),
    }),
  ).toBe(
    encodeErrorResult({ abi: testUsdAbi, errorName: "AuthorizationNotYetValid", args: [farFuture - 1n] }),
  );
  const late = authorization({ validBefore: 1n });
  expect(
    await chain.revertOf(solver, {
      to: usd,
      data: move("transferWithAuthorization", late, await signTransfer(user, late)),
    }),
  ).toBe(encodeErrorResult({ abi: testUsdAbi, errorName: "AuthorizationExpired", args: [1n] }));
});

test("a contract wallet can authorize with a bytes signature (EIP-1271)", async () => {
  const wallet = await chain.deploy(contractAllocatorAbi, contractAllocatorBytecode, [user.address]);
  await chain.send(user, { to: usd, data: mint(wallet, 10n) });
  const signed = authorization({ from: wallet });
  const data = move("transferWithAuthorization", signed, await signTransfer(user, signed));
  await chain.send(solver, { to: usd, data });
  expect(await chain.tokenBalance(usd, payee)).toBe(10n);
});
