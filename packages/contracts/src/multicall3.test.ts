import { encodeErrorResult, encodeFunctionData, erc20Abi, type Address } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { mint, poke, refuse, refusedError } from "../test/calls.ts";
import { chainId, accounts, startTestChain, type TestChain } from "../test/chain.ts";
import { probeAbi, probeBytecode } from "./generated/probe.ts";
import { multicall3Abi, multicall3Bytecode, testTokenAbi, testTokenBytecode } from "./index.ts";

const { user } = accounts;
const pokedAnswer = (number: number) => ({
  success: true,
  returnData: `0x${(number + 1).toString(16).padStart(64, "0")}`,
});
const refusedAnswer = { success: false, returnData: refusedError(5n) };

let chain: TestChain;
let address: Address;
let probe: Address;

function requireError(reason: string) {
  const abi = [{ type: "error", name: "Error", inputs: [{ name: "reason", type: "string" }] }] as const;
  return encodeErrorResult({ abi, args: [reason] });
}

const callFailed = requireError("Multicall3: call failed");

beforeAll(async () => {
  chain = await startTestChain();
  address = await chain.deploy(multicall3Abi, multicall3Bytecode);
  probe = await chain.deploy(probeAbi, probeBytecode);
});
afterAll(async () => await chain.stop());

test("aggregate returns the block and all return values, and reverts if any call fails", async () => {
  const { result } = await chain.client.simulateContract({
    address,
    abi: multicall3Abi,
    functionName: "aggregate",
    args: [
      [
        { target: probe, callData: poke(1n) },
        { target: probe, callData: poke(2n) },
      ],
    ],
  });
  expect(result[0]).toBeGreaterThan(0n);
  expect(result[1]).toEqual([pokedAnswer(1).returnData, pokedAnswer(2).returnData]);

  const data = encodeFunctionData({
    abi: multicall3Abi,
    functionName: "aggregate",
    args: [[{ target: probe, callData: refuse(5n) }]],
  });
  expect(await chain.revertOf(user, { to: address, data })).toBe(callFailed);
});

test("aggregate3 ignores failures only of calls with allowFailure", async () => {
  const { result } = await chain.client.simulateContract({
    address,
    abi: multicall3Abi,
    functionName: "aggregate3",
    args: [
      [
        { target: probe, allowFailure: true, callData: refuse(5n) },
        { target: probe, allowFailure: false, callData: poke(1n) },
      ],
    ],
  });
  expect(result).toEqual([refusedAnswer, pokedAnswer(1)]);

  const data = encodeFunctionData({
    abi: multicall3Abi,
    functionName: "aggregate3",
    args: [[{ target: probe, allowFailure: false, callData: refuse(5n) }]],
  });
  expect(await chain.revertOf(user, { to: address, data })).toBe(callFailed);
});

test("aggregate3Value sends each call its value, and the values must add up to the total", async () => {
  const data = encodeFunctionData({
    abi: multicall3Abi,
    functionName: "aggregate3Value",
    args: [
      [
        { target: probe, allowFailure: false, value: 3n, callData: poke(1n) },
        { target: probe, allowFailure: false, value: 4n, callData: poke(2n) },
      ],
    ],
  });
  await chain.send(user, { to: address, data, value: 7n });
  expect(await chain.nativeBalance(probe)).toBe(7n);
  expect(await chain.nativeBalance(address)).toBe(0n);
  expect(await chain.revertOf(user, { to: address, data, value: 8n })).toBe(
    requireError("Multicall3: value mismatch"),
  );
  // With too little value, the call that cannot get its share fails.
  expect(await chain.revertOf(user, { to: address, data, value: 6n })).toBe(callFailed);
});

test.each(["tryAggregate", "tryBlockAndAggregate"] as const)(
  "%s reverts on a failure only if requested",
  async (name) => {
    const calls = [
      { target: probe, callData: refuse(5n) },
      { target: probe, callData: poke(1n) },
    ];
    const { result } = await chain.client.simulateContract({
      address,
      abi: multicall3Abi,
      functionName: name,
      args: [false, calls],
    });
    const results = name === "tryAggregate" ? result : result[2];
    expect(results).toEqual([refusedAnswer, pokedAnswer(1)]);

    const data = encodeFunctionData({ abi: multicall3Abi, functionName: name, args: [true, calls] });
    expect(await chain.revertOf(user, { to: address, data })).toBe(callFailed);
  },
);

test("blockAndAggregate returns the block and the results, and reverts if any call fails", async () => {
  const { result } = await chain.client.simulateContract({
    address,
    abi: multicall3Abi,
    functionName: "blockAndAggregate",
    args: [[{ target: probe, callData: poke(1n) }]],
  });
  expect(result[0]).toBeGreaterThan(0n);
  expect(result[2]).toEqual([pokedAnswer(1)]);

  const data = encodeFunctionData({
    abi: multicall3Abi,
    functionName: "blockAndAggregate",
    args: [[{ target: probe, callData: refuse(5n) }]],
  });
  expect(await chain.revertOf(user, { to: address, data })).toBe(callFailed);
});

test("the getters return the properties of the current block", async () => {
  await chain.client.mine({ blocks: 2 });
  const block = await chain.client.getBlock();
  const currentBlock = { address, abi: multicall3Abi, blockNumber: block.number } as const;
  const { client } = chain;
  expect(await client.readContract({ ...currentBlock, functionName: "getBlockNumber" })).toBe(block.number);
  expect(await client.readContract({ ...currentBlock, functionName: "getCurrentBlockTimestamp" })).toBe(
    block.timestamp,
  );
  expect(await client.readContract({ ...currentBlock, functionName: "getCurrentBlockGasLimit" })).toBe(
    block.gasLimit,
  );
  expect(await client.readContract({ ...currentBlock, functionName: "getCurrentBlockCoinbase" })).toBe(
    "0x0000000000000000000000000000000000000000",
  );
  expect(await client.readContract({ ...currentBlock, functionName: "getCurrentBlockDifficulty" })).toBe(
    BigInt(block.mixHash),
  );
  expect(await client.readContract({ ...currentBlock, functionName: "getLastBlockHash" })).toBe(
    block.parentHash,
  );
  expect(
    await client.readContract({ ...currentBlock, functionName: "getBlockHash", args: [block.number - 1n] }),
  ).toBe(block.parentHash);
  expect(await client.readContract({ ...currentBlock, functionName: "getChainId" })).toBe(BigInt(chainId));
  expect(
    await client.readContract({ ...currentBlock, functionName: "getEthBalance", args: [user.address] }),
  ).toBe(await chain.nativeBalance(user.address));
  // An eth_call without a gas price sees a base fee of zero.
  const data = encodeFunctionData({ abi: multicall3Abi, functionName: "getBasefee" });
  const answer = await client.call({ account: user.address, to: address, data, gasPrice: 10n ** 10n });
  expect(BigInt(answer.data ?? "0x0")).toBeGreaterThan(0n);
});

test("works with viem's multicall", async () => {
  const token = await chain.deploy(testTokenAbi, testTokenBytecode, ["Test", "TEST"]);
  await chain.send(user, { to: token, data: mint(user.address, 5n) });
  const erc20 = { address: token, abi: erc20Abi } as const;
  const answers = await chain.client.multicall({
    multicallAddress: address,
    allowFailure: false,
    contracts: [
      { ...erc20, functionName: "balanceOf", args: [user.address] },
      { ...erc20, functionName: "allowance", args: [user.address, probe] },
    ],
  });
  expect(answers).toEqual([5n, 0n]);
});
