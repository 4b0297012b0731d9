import {
  findUserOperationRefusal,
  judgeEffects,
  readHandleOps,
  findFailedOperations,
} from "@causeway/chains";
import { failuresAbi, testUsdAbi } from "@causeway/contracts";
import type { Address, Hex } from "@causeway/domain";
import { encodeFunctionData, erc20Abi, parseAbi } from "viem";
import {
  entryPoint08Abi,
  getUserOperationHash,
  toPackedUserOperation,
  type UserOperation,
} from "viem/account-abstraction";
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  authorizeCode,
  contracts,
  executor,
  fees,
  startSimulationWorld,
  type SimulationWorld,
} from "./simulation-world.ts";

const chainId = 72_100_131;
const factoryAbi = parseAbi([
  "function createAccount(address owner, uint256 salt) returns (address)",
  "function getAddress(address owner, uint256 salt) view returns (address)",
]);
const accountAbi = parseAbi([
  "function execute(address target, uint256 value, bytes data)",
  "function executeBatch((address target, uint256 value, bytes data)[] calls)",
]);
const beneficiary: Address = `0x${"bf".repeat(20)}`;

let world: SimulationWorld;
beforeAll(async () => {
  world = await startSimulationWorld(chainId);
});
afterAll(async () => await world.stop());

type Version = "0.7" | "0.8";
const deployments = {
  "0.7": { entryPoint: contracts.entryPoint07, factory: contracts.simpleAccountFactory },
  "0.8": { entryPoint: contracts.entryPoint08, factory: contracts.simpleAccountFactory08 },
} as const;

interface SmartAccount {
  readonly version: Version;
  readonly owner: PrivateKeyAccount;
  readonly sender: Address;
  /** Creates the account in its first operation. Undefined if the account exists. */
  readonly factoryData: Hex | undefined;
}

/** An account that its first operation creates. */
async function newAccount(version: Version): Promise<SmartAccount> {
  const owner = privateKeyToAccount(generatePrivateKey());
  const { factory } = deployments[version];
  const args = [owner.address, 0n] as const;
  const sender = await world.client.readContract({
    abi: factoryAbi,
    address: factory,
    functionName: "getAddress",
    args,
  });
  const factoryData = encodeFunctionData({ abi: factoryAbi, functionName: "createAccount", args });
  return { version, owner, sender: sender.toLowerCase() as Address, factoryData };
}

type OpChange = Partial<Pick<UserOperation<"0.7">, "nonce" | "callGasLimit" | "maxFeePerGas">> & {
  readonly signature?: (right: Hex) => Hex;
};

/** The calldata with which an entry point handles one signed operation. */
async function handleOps(account: SmartAccount, callData: Hex, change: OpChange = {}): Promise<Hex> {
  const { version, owner, sender, factoryData } = account;
  const { entryPoint, factory } = deployments[version];
  const { signature: falsify, ...fields } = change;
  const op: UserOperation<"0.7"> = {
    sender,
    nonce: 0n,
    callData,
    callGasLimit: 300_000n,
    verificationGasLimit: 500_000n,
    preVerificationGas: 50_000n,
    maxFeePerGas: 0n,
    maxPriorityFeePerGas: 0n,
    ...(factoryData !== undefined && { factory, factoryData }),
    signature: "0x",
    ...fields,
  };
  const hash = getUserOperationHash({
    chainId,
    entryPointAddress: entryPoint,
    entryPointVersion: version,
    userOperation: op,
  });
  const validSignature =
    version === "0.7" ? await owner.signMessage({ message: { raw: hash } }) : await owner.sign({ hash });
  const packed = toPackedUserOperation({ ...op, signature: falsify?.(validSignature) ?? validSignature });
  return encodeFunctionData({
    abi: entryPoint08Abi,
    functionName: "handleOps",
    args: [[packed], beneficiary],
  });
}

function execute(target: Address, data: Hex): Hex {
  return encodeFunctionData({ abi: accountAbi, functionName: "execute", args: [target, 0n, data] });
}

const transfer = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [executor, 5n] });
const failing = (functionName: "refuseSignature" | "runOutOfGas" | "assertFalse"): Hex =>
  encodeFunctionData({ abi: failuresAbi, functionName });

async function fund(holder: Address): Promise<void> {
  const data = encodeFunctionData({ abi: testUsdAbi, functionName: "mint", args: [holder, 1_000n] });
  await world.send({ to: world.usd, data, value: 0n }, 100_000n);
}

describe.each(["0.7", "0.8"] as const)("entry point %s", (version) => {
  const { entryPoint } = deployments[version];
  const to = entryPoint.toLowerCase() as Address;

  test("the first operation of a new account runs with the estimated gas, and takes nothing from the sponsor", async () => {
    const account = await newAccount(version);
    await fund(account.sender);
    const data = await handleOps(account, execute(world.usd, transfer));
    const operations = readHandleOps(data);
    expect(operations && findUserOperationRefusal(operations)).toBeUndefined();
    const { gas, gasUsed, effects } = await world.successOf({ to, data, value: 0n });
    const rules = {
      sender: executor,
      protectedAccounts: [executor],
      allowedSpendWei: gasUsed * fees.maxFeePerGas,
    };
    expect(judgeEffects(effects, rules)).toBeUndefined();
    const receipt = await world.send({ to, data, value: 0n }, gas);
    expect(receipt).toMatchObject({ status: "success", gasUsed });
    expect(findFailedOperations(receipt.logs, to)).toEqual([]);
    expect(
      await world.client.readContract({
        abi: erc20Abi,
        address: world.usd,
        functionName: "balanceOf",
        args: [account.sender],
      }),
    ).toBe(995n);
  });

  test("an operation that fails although the entry point continues is a failure, with its innermost reason", async () => {
    const account = await newAccount(version);
    const data = await handleOps(account, execute(world.usd, transfer));
    const failure = await world.failureOf({ to, data, value: 0n });
    expect(failure).toMatchObject({
      label: "ERC20_INSUFFICIENT_BALANCE",
      message: "ERC20 insufficient balance",
    });
    const { topLevel, innermost, path, revert } = failure.details;
    expect(topLevel).toMatchObject({
      address: to,
      contract: "EntryPoint",
      function: "EntryPoint.handleOps",
      selector: "0x765e827f",
    });
    expect(topLevel.error).toBeUndefined();
    expect(innermost).toMatchObject({
      address: world.usd,
      function: "transfer",
      error: "execution reverted",
    });
    expect(path.map(({ type, function: name }) => [type, name])).toEqual([
      ["CALL", "EntryPoint.handleOps"],
      ["CALL", "EntryPoint.innerHandleOp"],
      ["CALL", "execute"],
      ["DELEGATECALL", "execute"],
      ["CALL", "transfer"],
    ]);
    expect(revert).toMatchObject({
      type: "customError",
      name: "ERC20InsufficientBalance",
      args: { sender: account.sender, balance: "0", needed: "5" },
    });
    // On chain, only an event of the entry point shows the failure.
    const receipt = await world.send({ to, data, value: 0n }, 1_500_000n);
    expect(receipt.status).toBe("success");
    expect(findFailedOperations(receipt.logs, to)).toMatchObject([{ sender: account.sender }]);
  });

  test.each([
    ["refuseSignature", "INVALID_SIGNATURE"],
    ["assertFalse", "PANIC_ASSERTION_FAILED"],
    ["runOutOfGas", "OUT_OF_GAS"],
  ] as const)("reports the failure's reason: %s", async (name, label) => {
    const account = await newAccount(version);
    const data = await handleOps(account, execute(world.failures, failing(name)));
    const failure = await world.failureOf({ to, data, value: 0n });
    expect(failure.label).toBe(label);
    expect(failure.details.innermost.address).toBe(world.failures);
  });

  test("explains an operation with too low a gas limit of its own", async () => {
    const account = await newAccount(version);
    const data = await handleOps(account, execute(world.usd, transfer), { callGasLimit: 3_000n });
    expect((await world.failureOf({ to, data, value: 0n })).label).toBe("OUT_OF_GAS");
  });

  test("explains a refused operation with the entry point's reason", async () => {
    const account = await newAccount(version);
    const stranger = privateKeyToAccount(generatePrivateKey());
    const forged = await handleOps({ ...account, owner: stranger }, execute(world.usd, transfer));
    const failure = await world.failureOf({ to, data: forged, value: 0n });
    expect(failure).toMatchObject({ label: "AA24_SIGNATURE_ERROR", message: "AA24 signature error" });
    expect(failure.details.revert).toMatchObject({
      type: "customError",
      name: "FailedOp",
      args: { opIndex: "0", reason: "AA24 signature error" },
    });
    const replayed = await handleOps(account, execute(world.usd, transfer), { nonce: 7n });
    expect((await world.failureOf({ to, data: replayed, value: 0n })).label).toBe(
      "AA25_INVALID_ACCOUNT_NONCE",
    );
  });

  test("explains a reverting validation with the account's own reason", async () => {
    const account = await newAccount(version);
    const cut = await handleOps(account, execute(world.usd, transfer), {
      signature: (right) => right.slice(0, -2) as Hex,
    });
    const failure = await world.failureOf({ to, data: cut, value: 0n });
    expect(failure.label).toBe("ECDSA_INVALID_SIGNATURE_LENGTH");
    expect(failure.details.revert).toMatchObject({ type: "customError", args: { length: "64" } });
    expect(failure.details.topLevel).toMatchObject({
      function: "EntryPoint.handleOps",
      revertReason: "AA23 reverted",
    });
    expect(failure.details.path.at(1)).toMatchObject({ address: account.sender, function: "validateUserOp" });
  });

  test("an operation that would pay fees is detected before the simulation", async () => {
    const account = await newAccount(version);
    const operations = readHandleOps(await handleOps(account, "0x", { maxFeePerGas: 1n }));
    expect(operations && findUserOperationRefusal(operations)).toMatchObject({
      kind: "hasFees",
      index: 0,
      sender: account.sender,
    });
  });
});

test("in one transaction of a sponsor, a new account without native tokens becomes a smart account and makes a call", async () => {
  const owner = privateKeyToAccount(generatePrivateKey());
  const sender = owner.address.toLowerCase() as Address;
  await fund(sender);
  const implementation = contracts.simple7702Account.toLowerCase() as Address;
  const authorizationList = [await authorizeCode(owner, { chainId, address: implementation, nonce: 0 })];
  const account: SmartAccount = { version: "0.8", owner, sender, factoryData: undefined };
  const to = contracts.entryPoint08.toLowerCase() as Address;
  const data = await handleOps(account, execute(world.usd, transfer));
  const call = { to, data, value: 0n, authorizationList };
  const { gas, gasUsed } = await world.successOf(call);
  // Without the authorization the account has no code.
  expect((await world.failureOf({ to, data, value: 0n })).label).toBe("AA20_ACCOUNT_NOT_DEPLOYED");
  const receipt = await world.send(call, gas);
  expect(receipt).toMatchObject({ status: "success", gasUsed });
  expect(findFailedOperations(receipt.logs, to)).toEqual([]);

  const batch = encodeFunctionData({
    abi: accountAbi,
    functionName: "executeBatch",
    args: [
      [
        { target: world.usd, value: 0n, data: transfer },
        { target: world.failures, value: 0n, data: failing("assertFalse") },
      ],
    ],
  });
  const second = await handleOps(account, batch, { nonce: 1n });
  const failure = await world.failureOf({ to, data: second, value: 0n });
  expect(failure.label).toBe("PANIC_ASSERTION_FAILED");
  expect(failure.details.path.map(({ function: name }) => name)).toEqual([
    "EntryPoint.handleOps",
    "EntryPoint.innerHandleOp",
    "executeBatch",
    undefined,
  ]);
});
