import type { Address, Hex } from "@causeway/domain";
import { encodeFunctionData, pad, parseAbi } from "viem";
import { entryPoint07Abi } from "viem/account-abstraction";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  contractOf,
  simpleAccount,
  startExecutionWorld,
  type ExecutionWorld,
} from "../../support/execution-world.ts";

// Calls that would cost the service more than the app pays for them.

let world: ExecutionWorld;

beforeEach(async () => {
  world = await startExecutionWorld({ chain: { finalityBlocks: 2 } });
});
afterEach(async () => {
  expect(await world.violatedInvariants()).toEqual([]);
  await world.stop();
});

const INITIAL_BALANCE = 1_000_000_000n;
const native: Address = "0x0000000000000000000000000000000000000000";
const aggregateAbi = parseAbi([
  "function aggregate3((address target, bool allowFailure, bytes callData)[] calls) payable",
]);

test("a call that returns the native tokens to the executor is refused, and one that gives them to the user is broadcast", async () => {
  const { origin } = world;
  const value = 10n ** 16n;
  // A contract that forwards the value of a call to the account in the calldata.
  const payer = world.anAddress();
  await origin.client.setCode({ address: payer, bytecode: "0x5f5f5f5f345f355af100" });
  await origin.mine();
  await world.watch(origin);
  const forwardTo = (to: Address) => ({ to: payer, data: pad(to), value });
  await expect(world.execute(forwardTo(world.executor))).rejects.toThrow(/would return to the executor/);
  expect(await world.book()).toMatchObject({ balance: INITIAL_BALANCE, pending: 0n });
  const user = world.anAddress();
  const requestId = await world.execute(forwardTo(user));
  expect(await world.untilFinal(requestId)).toMatchObject({ status: "success" });
  expect(await origin.balance(user, native)).toBe(value);
});

test("user operations that pay fees are refused at any depth of a call", async () => {
  const { origin } = world;
  const chain = await world.withSmartAccounts(origin);
  const owner = privateKeyToAccount(generatePrivateKey());
  const account = await simpleAccount(chain, owner, "0.7");
  await origin.fund(account.address, { native: 10n ** 18n, tokens: 0n });
  await origin.mine();
  await world.watch(origin);
  const mint = { ...world.mintCall(world.anAddress()), value: 0n };
  const signAndWrap = async (
    change: Parameters<typeof account.sign>[1],
    layers = 1,
  ): Promise<{ to: Address; data: Hex }> => {
    let call = await account.sign([mint], change);
    for (let layer = 0; layer < layers; layer++) {
      const calls = [{ target: call.to, allowFailure: false, callData: call.data }];
      const data = encodeFunctionData({ abi: aggregateAbi, args: [calls] });
      call = { ...call, to: origin.chain.contracts.multicall3, data };
    }
    return { to: call.to, data: call.data };
  };
  for (const layers of [0, 1, 3])
    await expect(world.execute(await signAndWrap({ maxFeePerGas: 2_000_000_000n }, layers))).rejects.toThrow(
      /maxFeePerGas of user operation 0 must be 0/,
    );
  expect(await world.book()).toMatchObject({ balance: INITIAL_BALANCE, pending: 0n });
  await world.execute(await signAndWrap({}));
});

test("only an entry point is trusted with a user's name: an unknown contract cannot use up another user's budget", async () => {
  const { origin } = world;
  const chain = await world.withSmartAccounts(origin);
  const [victim, stranger] = [world.anAddress(), world.anAddress()];
  for (const address of [victim, stranger]) await origin.client.setCode({ address, bytecode: "0x00" });
  await origin.mine();
  await world.watch(origin);
  const word = pad("0x");
  const operation = {
    sender: victim,
    nonce: 0n,
    initCode: "0x",
    callData: "0x",
    accountGasLimits: word,
    preVerificationGas: 0n,
    gasFees: word,
    paymasterAndData: "0x",
    signature: "0x",
  } as const;
  const data = encodeFunctionData({
    abi: entryPoint07Abi,
    functionName: "handleOps",
    args: [[operation], stranger],
  });
  const requestId = await world.execute({ to: stranger, data });
  expect((await world.execution(requestId)).user).toBe(stranger);
  const account = await simpleAccount(chain, privateKeyToAccount(generatePrivateKey()), "0.8");
  const { to, data: signed } = await account.sign([]);
  expect(to).toBe(contractOf(chain, "entryPoint08"));
  const operationRequest = await world.execute({ to: to.toLowerCase() as Address, data: signed });
  expect((await world.execution(operationRequest)).user).toBe(account.address.toLowerCase());
});
