import { failuresAbi, multicall3Abi, testUsdAbi } from "@causeway/contracts";
import type { Address, Hex } from "@causeway/domain";
import { encodeFunctionData, erc20Abi, maxUint256, parseAbi } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { contracts, startSimulationWorld, type SimulationWorld } from "./simulation-world.ts";

const chainId = 72_100_132;
const permit2 = contracts.permit2.toLowerCase() as Address;
const multicall3 = contracts.multicall3.toLowerCase() as Address;
const recipient: Address = `0x${"5e".repeat(20)}`;
const permit2Abi = parseAbi([
  "function permitTransferFrom(((address token, uint256 amount) permitted, uint256 nonce, uint256 deadline) permit, (address to, uint256 requestedAmount) transferDetails, address owner, bytes signature)",
]);

const owner = privateKeyToAccount(generatePrivateKey());
let world: SimulationWorld;
beforeAll(async () => {
  world = await startSimulationWorld(chainId);
  await world.client.setBalance({ address: owner.address, value: 10n ** 18n });
  const approve = encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [permit2, maxUint256] });
  await world.client.sendTransactionSync({ account: owner, to: world.usd, data: approve });
});
afterAll(async () => await world.stop());

interface Terms {
  readonly amount: bigint;
  readonly nonce: bigint;
  readonly deadline: bigint;
}

/** A transfer that the owner signed and that `spender` executes. */
async function permitTransfer(spender: Address, change: Partial<Terms> = {}, signer = owner): Promise<Hex> {
  const { amount, nonce, deadline } = { amount: 100n, nonce: 0n, deadline: maxUint256, ...change };
  const permitted = { token: world.usd, amount };
  const signature = await signer.signTypedData({
    domain: { name: "Permit2", chainId, verifyingContract: permit2 },
    types: {
      PermitTransferFrom: [
        { name: "permitted", type: "TokenPermissions" },
        { name: "spender", type: "address" },
        { name: "nonce", type: "uint256" },
        { name: "deadline", type: "uint256" },
      ],
      TokenPermissions: [
        { name: "token", type: "address" },
        { name: "amount", type: "uint256" },
      ],
    },
    primaryType: "PermitTransferFrom",
    message: { permitted, spender, nonce, deadline },
  });
  return encodeFunctionData({
    abi: permit2Abi,
    functionName: "permitTransferFrom",
    args: [
      { permitted, nonce, deadline },
      { to: recipient, requestedAmount: amount },
      owner.address,
      signature,
    ],
  });
}

function inMulticall(callData: Hex): { readonly to: Address; readonly data: Hex; readonly value: bigint } {
  const call = { target: permit2, allowFailure: false, value: 0n, callData };
  const data = encodeFunctionData({ abi: multicall3Abi, functionName: "aggregate3Value", args: [[call]] });
  return { to: multicall3, data, value: 0n };
}

test("the local Permit2 contract is the real one, at its address on public chains", async () => {
  expect((await world.client.getCode({ address: permit2 }))?.length).toBeGreaterThan(18_000);
});

test("explains a signature by another account through a multicall", async () => {
  const stranger = privateKeyToAccount(generatePrivateKey());
  const failure = await world.failureOf(inMulticall(await permitTransfer(multicall3, {}, stranger)));
  expect(failure).toMatchObject({ label: "INVALID_SIGNER", message: "Invalid signer" });
  const { topLevel, innermost, path } = failure.details;
  expect(topLevel).toMatchObject({ contract: "Multicall3", function: "Multicall3.aggregate3Value" });
  expect(innermost).toMatchObject({
    address: permit2,
    contract: "Permit2",
    function: "Permit2.permitTransferFrom",
    selector: "0x30f28b7a",
    revertReason: "Invalid signer",
  });
  expect(path).toEqual([topLevel, innermost]);
});

test("explains an expired signature with its expiry", async () => {
  const failure = await world.failureOf(inMulticall(await permitTransfer(multicall3, { deadline: 7n })));
  expect(failure.label).toBe("SIGNATURE_EXPIRED");
  expect(failure.details.revert).toMatchObject({
    type: "customError",
    name: "SignatureExpired",
    args: { signatureDeadline: "7" },
  });
});

test("explains a token's revert below a library that reports only a failed transfer", async () => {
  const failure = await world.failureOf(inMulticall(await permitTransfer(multicall3)));
  expect(failure.label).toBe("ERC20_INSUFFICIENT_BALANCE");
  expect(failure.details.path.map(({ function: name, revertReason }) => [name, revertReason])).toEqual([
    ["Multicall3.aggregate3Value", "Multicall3: call failed"],
    ["Permit2.permitTransferFrom", "TRANSFER_FROM_FAILED"],
    ["transferFrom", "ERC20 insufficient balance"],
  ]);
});

test("explains a failure below a delegate call", async () => {
  const inner = await permitTransfer(world.failures);
  const data = encodeFunctionData({
    abi: failuresAbi,
    functionName: "forwardDelegate",
    args: [
      world.failures,
      encodeFunctionData({ abi: failuresAbi, functionName: "forward", args: [permit2, inner] }),
    ],
  });
  const failure = await world.failureOf({ to: world.failures, data, value: 0n });
  expect(failure.label).toBe("ERC20_INSUFFICIENT_BALANCE");
  expect(failure.details.path.map(({ type }) => type)).toEqual(["CALL", "DELEGATECALL", "CALL", "CALL"]);
});

test("explains a nonce that a successful transfer used", async () => {
  const mint = encodeFunctionData({ abi: testUsdAbi, functionName: "mint", args: [owner.address, 1_000n] });
  await world.send({ to: world.usd, data: mint, value: 0n }, 100_000n);
  const call = inMulticall(await permitTransfer(multicall3, { nonce: 5n }));
  const { gas, gasUsed } = await world.successOf(call);
  expect(await world.send(call, gas)).toMatchObject({ status: "success", gasUsed });
  expect((await world.failureOf(call)).label).toBe("INVALID_NONCE");
});
