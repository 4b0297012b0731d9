import type { Address, Hex } from "@causeway/domain";
import { encodeFunctionResult, multicall3Abi } from "viem";
import { expect, test } from "vitest";
import { RpcFault } from "@causeway/families";
import { createPoolReader } from "./pool-reader.ts";

const account = (byte: string): Address => `0x${byte.repeat(20)}`;
const hash = (byte: string): Hex => `0x${byte.repeat(32)}`;
const [pool, otherPool, multicall3] = [account("a1"), account("a2"), account("a3")];
const word = (value: bigint): string => BigInt.asUintN(256, value).toString(16).padStart(64, "0");
const mint = "0x7a53080ba414158be7ec69b987b5fb7d07dee101fe85488f0853ae16239d0bde";

/** A reader of a node with a first answer and another for all later requests, and the requests. */
function createReader(answer: unknown, then = answer) {
  const requests: unknown[] = [];
  const reader = createPoolReader(
    {
      request: async (method, params) => {
        requests.push([method, ...params]);
        return requests.length === 1 ? answer : then;
      },
    },
    multicall3,
  );
  return { reader, requests };
}

const aggregated = (...results: readonly Hex[]): Hex =>
  encodeFunctionResult({
    abi: multicall3Abi,
    functionName: "aggregate3",
    result: results.map((returnData) => ({ success: returnData !== "0x", returnData })),
  });

function aLog(change: object = {}): object {
  return {
    address: pool,
    topics: [mint, `0x${word(1n)}`, `0x${word(-120n)}`, `0x${word(60n)}`],
    data: "0x",
    logIndex: "0x0",
    blockNumber: "0x5",
    blockHash: hash("b1"),
    transactionHash: hash("c1"),
    ...change,
  };
}

test("reads at the block with the given hash, and keeps signs", async () => {
  const { reader, requests } = createReader(
    aggregated(
      `0x${word(1n << 96n)}${word(-5n)}${"00".repeat(160)}`,
      `0x${word(77n)}`,
      `0x${word(3n)}${word(4n)}`,
    ),
  );
  const facts = await reader.facts(
    [
      { kind: "uniswap-v3", address: pool },
      { kind: "uniswap-v2", address: otherPool },
    ],
    hash("b1"),
  );
  expect(facts).toEqual([
    { kind: "uniswap-v3", sqrtPrice: 1n << 96n, tick: -5, liquidity: 77n },
    { kind: "uniswap-v2", reserve0: 3n, reserve1: 4n },
  ]);
  expect(requests).toEqual([
    ["eth_call", { to: multicall3, data: expect.any(String) }, { blockHash: hash("b1") }],
  ]);
});

test("reports each tick of a block's events once", async () => {
  const { reader } = createReader([aLog(), aLog({ logIndex: "0x1" })]);
  expect(await reader.changedTicks([pool], [hash("b1")])).toEqual([
    { pool, tick: -120 },
    { pool, tick: 60 },
  ]);
});

test("ignores events that were not requested", async () => {
  const swap = hash("c4");
  const { reader } = createReader([
    aLog({ address: otherPool }),
    aLog({ topics: [swap] }),
    aLog({ topics: [] }),
    aLog(),
  ]);
  expect(await reader.changedTicks([pool], [hash("b1")])).toEqual([
    { pool, tick: -120 },
    { pool, tick: 60 },
  ]);
});

test.each([
  ["of another block", aLog({ blockHash: hash("b2") })],
  ["without ticks", aLog({ topics: [mint] })],
])("an event %s is no answer", async (_what, log) => {
  const { reader } = createReader([log]);
  await expect(reader.changedTicks([pool], [hash("b1")])).rejects.toThrow(RpcFault);
});

test("short results, a missing contract and a tick without liquidity are faults, never zeros", async () => {
  const v3 = [{ kind: "uniswap-v3", address: pool }] as const;
  const answers = [aggregated(`0x${word(1n)}`, `0x${word(1n)}`), aggregated("0x", "0x"), "0x"];
  for (const answer of answers)
    await expect(createReader(answer).reader.facts(v3, hash("b1"))).rejects.toThrow(RpcFault);
  const range = { pool, tickSpacing: 60, centerTick: 0, words: 0 };
  // The bitmap contains a tick, but the tick has no liquidity.
  const { reader } = createReader(aggregated(`0x${word(1n)}`), aggregated(`0x${word(0n)}${word(0n)}`));
  await expect(reader.ticksAround([range], hash("b1"))).rejects.toThrow("has no liquidity");
});

test("a zero address from the factory means no pool", async () => {
  const candidate = { kind: "uniswap-v2", factory: multicall3, a: pool, b: otherPool } as const;
  const { reader } = createReader(aggregated(`0x${word(0n)}`, `0x${word(BigInt(pool))}`));
  expect(await reader.find([candidate, candidate], hash("b1"))).toEqual([undefined, pool]);
});
