import { afterEach, expect, test } from "vitest";
import type { Address, Hex } from "@causeway/domain";
import { aChain } from "../../test/chain.ts";
import {
  json,
  startAnsweringNode,
  startLyingNode,
  type Answer,
  type LyingNode,
  type RpcCall,
} from "../../test/lying-node.ts";
import {
  addressTopic,
  NATIVE_DEPOSIT_TOPIC,
  TRANSFER_TOPIC,
  type ChainReader,
  type DepositFact,
} from "@causeway/families/evm";
import { createChainReader, type ReaderOptions } from "./reader.ts";
import { createRpcTransport } from "../nodes/transport.ts";
import { createChainWriter } from "./writer.ts";

const depository: Address = `0x${"d0".repeat(20)}`;
const token: Address = `0x${"c1".repeat(20)}`;
const alice: Address = `0x${"a1".repeat(20)}`;
const txHash: Hex = `0x${"77".repeat(32)}`;
const blockHash: Hex = `0x${"bb".repeat(32)}`;
const otherHash: Hex = `0x${"cc".repeat(32)}`;
const word = (value: number): string => value.toString(16).padStart(64, "0");

type Fields = Record<string, unknown>;
const block: Fields = {
  number: "0x64",
  hash: blockHash,
  parentHash: otherHash,
  timestamp: "0x1",
  baseFeePerGas: "0x1",
};
const log: Fields = {
  address: depository,
  topics: [NATIVE_DEPOSIT_TOPIC],
  data: `0x${alice.slice(2).padStart(64, "0")}${word(7)}${"1d".repeat(32)}`,
  logIndex: "0x0",
  blockNumber: "0x64",
  blockHash,
  transactionHash: txHash,
};
const mined: Fields = {
  hash: txHash,
  from: alice,
  to: depository,
  input: "0x",
  value: "0x7",
  nonce: "0x0",
  blockHash,
};
const receipt: Fields = {
  transactionHash: txHash,
  status: "0x1",
  blockNumber: "0x64",
  blockHash,
  gasUsed: "0x5208",
  effectiveGasPrice: "0x1",
  logs: [log],
};

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** An honest node with one native deposit in block 100, except for the overridden methods. */
async function nodeWith(
  lies: Record<string, (call: RpcCall) => Answer>,
  options: ReaderOptions = {},
): Promise<{ node: LyingNode; reader: ChainReader }> {
  const honest: Record<string, (call: RpcCall) => Answer> = {
    eth_getBlockByNumber: () => ({ result: block }),
    eth_getBlockByHash: () => ({ result: block }),
    eth_getLogs: ({ params }) => ({
      result: JSON.stringify(params).includes(NATIVE_DEPOSIT_TOPIC) ? [log] : [],
    }),
    eth_getTransactionByHash: () => ({ result: mined }),
    eth_getTransactionReceipt: () => ({ result: receipt }),
  };
  const node = await startAnsweringNode((call) => {
    const answer = lies[call.method] ?? honest[call.method];
    return answer === undefined ? { error: { code: -32_601, message: "method not found" } } : answer(call);
  });
  const transport = createRpcTransport({ url: node.url, deadlineMs: 1_000 });
  closers.push(node.stop, transport.close);
  const contracts = { depository, multicall3: depository, router: depository };
  return { node, reader: createChainReader(aChain(1, node.url, contracts, [token]), transport, options) };
}

const answerWith = (result: unknown) => (): Answer => ({ result });
const deposit = { depositor: alice, amount: 7n, txHash, blockHash };

/** Blocks up to the one with the deposit, whose hash alone is known. */
const rangeTo100 = (from: bigint) => ({ from, to: 100n, hashes: new Map([[100n, blockHash]]) });

/**
 * A node that refuses ranges of more than `limit` blocks in the given way, with the ranges that it answered
 * and refused.
 */
async function limitedNode(limit: number, error: { readonly code: number; readonly message: string }) {
  const answeredRanges: string[] = [];
  const refusedRanges: (readonly [bigint, bigint])[] = [];
  const { node, reader } = await nodeWith({
    eth_getBlockByNumber: ({ params }) => ({
      result: {
        ...block,
        number: params[0],
        hash: BigInt(String(params[0])) === 100n ? blockHash : otherHash,
      },
    }),
    eth_getLogs: ({ params }) => {
      const filter = params[0] as Record<string, string>;
      const [from, to] = [BigInt(filter["fromBlock"] ?? 0), BigInt(filter["toBlock"] ?? 0)];
      const isEvents = JSON.stringify(filter).includes(NATIVE_DEPOSIT_TOPIC);
      if (to - from >= BigInt(limit)) {
        if (isEvents) refusedRanges.push([from, to]);
        return { error };
      }
      if (isEvents) answeredRanges.push(`${from},${to}`);
      return { result: to === 100n && isEvents ? [log] : [] };
    },
  });
  return { node, reader, answeredRanges, refusedRanges };
}

const parseRanges = (texts: readonly string[]): [number, number][] =>
  texts.map((text) => text.split(",").map(Number) as [number, number]);

async function depositsTo100(
  lies: Record<string, (call: RpcCall) => Answer>,
  from = 100n,
): Promise<DepositFact[]> {
  const { reader } = await nodeWith(lies);
  return await reader.depositsIn(rangeTo100(from));
}

test("an honest node returns the deposit, for a block and for a range", async () => {
  expect(await depositsTo100({})).toMatchObject([deposit]);
  expect(await depositsTo100({}, 90n)).toMatchObject([deposit]);
});

test("requests logs and block concurrently, then transactions", async () => {
  const { node, reader } = await nodeWith({});
  await reader.depositsIn(rangeTo100(100n));
  const methods = node.requests.map((calls) => calls.map(({ method }) => method));
  expect(methods.slice(0, 2).toSorted()).toEqual([["eth_getBlockByNumber"], ["eth_getLogs", "eth_getLogs"]]);
  expect(methods.slice(2)).toEqual([["eth_getTransactionByHash"]]);
});

const lookAlike = { ...log, address: alice };
const otherTransfer = {
  ...log,
  address: alice,
  topics: [TRANSFER_TOPIC, addressTopic(alice), addressTopic(depository)],
};

test.each([
  ["null for logs", { eth_getLogs: answerWith(null) }],
  ["an object for logs", { eth_getLogs: answerWith({}) }],
  ["a log of another block", { eth_getLogs: answerWith([{ ...log, blockNumber: "0x65" }]) }],
  ["a log of another fork", { eth_getLogs: answerWith([{ ...log, blockHash: otherHash }]) }],
  ["a removed log", { eth_getLogs: answerWith([{ ...log, removed: true }]) }],
  ["a log without transaction", { eth_getLogs: answerWith([{ ...log, transactionHash: null }]) }],
  ["a log of a pending block", { eth_getLogs: answerWith([{ ...log, blockHash: null }]) }],
  ["another block at that height", { eth_getBlockByNumber: answerWith({ ...block, hash: otherHash }) }],
  ["another height", { eth_getBlockByNumber: answerWith({ ...block, number: "0x63" }) }],
  ["no block", { eth_getBlockByNumber: answerWith(null) }],
  ["no transaction", { eth_getTransactionByHash: answerWith(null) }],
  ["another transaction", { eth_getTransactionByHash: answerWith({ ...mined, hash: otherHash }) }],
  [
    "the transaction in another block",
    { eth_getTransactionByHash: answerWith({ ...mined, blockHash: otherHash }) },
  ],
  [
    "the transaction as pending again",
    { eth_getTransactionByHash: answerWith({ ...mined, blockHash: null }) },
  ],
  ["a transaction without sender", { eth_getTransactionByHash: answerWith({ ...mined, from: undefined }) }],
])("%s is a fault and never a deposit", async (_, lies) => {
  for (const from of [90n, 100n]) {
    await expect(depositsTo100(lies, from)).rejects.toMatchObject({ code: "RPC_FAULT", retryable: true });
  }
});

test("drops and counts unrequested logs, and counts none twice", async () => {
  for (const from of [90n, 100n]) {
    const dropped: number[] = [];
    // The answer of a node that ignores filters: everything.
    const { reader } = await nodeWith(
      {
        eth_getLogs: answerWith([
          { ...lookAlike, logIndex: "0x1" },
          log,
          { ...otherTransfer, logIndex: "0x2" },
        ]),
      },
      { onUnrequestedLogs: (count) => dropped.push(count) },
    );
    expect(await reader.depositsIn(rangeTo100(from))).toMatchObject([deposit]);
    expect(await reader.depositsIn(rangeTo100(from))).toHaveLength(1);
    expect(dropped).toEqual([2, 2, 2, 2]);
  }
});

test("splits a range that the node refuses as too large until it succeeds, and keeps the order", async () => {
  const ranges: bigint[][] = [];
  const hashAt = (number: bigint): Hex => `0x${number.toString(16).padStart(64, "b")}`;
  const { reader } = await nodeWith({
    eth_getBlockByNumber: ({ params }) => {
      const number = BigInt(String(params[0]));
      return { result: { ...block, number: params[0], hash: number === 100n ? blockHash : hashAt(number) } };
    },
    eth_getLogs: ({ params }) => {
      const filter = params[0] as Record<string, string>;
      const isOne = filter["blockHash"] !== undefined;
      const [from, to] = isOne
        ? [0n, 0n]
        : [BigInt(filter["fromBlock"] ?? 0), BigInt(filter["toBlock"] ?? 0)];
      if (to - from > 3n) return { error: { code: -32_005, message: "block range is too large" } };
      if (!isOne) ranges.push([from, to]);
      return { result: to === 100n && JSON.stringify(filter).includes(NATIVE_DEPOSIT_TOPIC) ? [log] : [] };
    },
  });
  expect(await reader.depositsIn(rangeTo100(91n))).toMatchObject([deposit]);
  // Each part is requested twice: events and transfers.
  const uniqueRanges = [...new Set(ranges.map(String))].map((text) => text.split(",").map(Number));
  expect(uniqueRanges[0]?.[0]).toBe(91);
  expect(uniqueRanges.at(-1)?.[1]).toBe(100);
  uniqueRanges.forEach(([from], index) =>
    expect(index === 0 || from === (uniqueRanges[index - 1]?.[1] ?? 0) + 1).toBe(true),
  );
});

/**
 * Refusals as providers word them: Alchemy, QuickNode, dRPC, BlockPI, Coinbase, thirdweb, Ankr, Harmony,
 * Base, BSC, Tenderly, and an invented one.
 */
test.each([
  [
    -32_600,
    "You can make eth_getLogs requests with up to a 4 block range. Based on your parameters, this block range should work: [0x1, 0xa].",
  ],
  [-32_614, "eth_getLogs is limited to a 4 range"],
  [35, "ranges over 4 blocks are not supported on freetier"],
  [-32_000, "eth_getLogs is limited to 4 block range"],
  [-32_602, "please limit the query to at most 4 blocks"],
  [-32_000, "Maximum allowed number of requested blocks is 4"],
  [-32_000, "maximum [from, to] blocks distance: 4"],
  [-32_000, "query must be smaller than size 4"],
  [-32_011, "no backend is currently healthy to serve traffic"],
  [-32_005, "limit exceeded"],
  [-32_602, "invalid params"],
  [-32_099, "words that no version of this service has seen"],
])("a range of logs refused with %i %s is requested in parts", async (code, message) => {
  const { reader, answeredRanges } = await limitedNode(4, { code, message });
  expect(await reader.depositsIn(rangeTo100(41n))).toMatchObject([deposit]);
  expect(parseRanges(answeredRanges).at(0)?.[0]).toBe(41);
  expect(parseRanges(answeredRanges).at(-1)?.[1]).toBe(100);
  parseRanges(answeredRanges).forEach(([from], index, all) =>
    expect(index === 0 || from === (all[index - 1]?.[1] ?? 0) + 1).toBe(true),
  );
});

test("remembers the size of a range that succeeded, and tries larger ones again after a while", async () => {
  const { reader, answeredRanges, refusedRanges } = await limitedNode(10, {
    code: -32_614,
    message: "eth_getLogs is limited to a 10 range",
  });
  await reader.depositsIn(rangeTo100(1n));
  const first = refusedRanges.length;
  expect(first).toBeGreaterThan(0);
  for (let scan = 0; scan < 4; scan++) await reader.depositsIn(rangeTo100(1n));
  // 6 blocks succeed; 12 are tried after 16 successful ranges, then after 32.
  expect(refusedRanges.slice(first).every(([from, to]) => Number(to) - Number(from) + 1 === 12)).toBe(true);
  expect(refusedRanges.length - first).toBeGreaterThan(0);
  expect(refusedRanges.length - first).toBeLessThanOrEqual(2);
  expect(new Set(parseRanges(answeredRanges).map(([from, to]) => to - from + 1))).toContain(6);
});

test.each([
  [-32_005, "rate limit exceeded"],
  [-32_000, "header not found"],
  [-32_000, "header for hash not found"],
  [-32_602, "block range extends beyond current head block"],
  [-32_001, "One of the blocks specified in filter (fromBlock, toBlock or blockHash) cannot be found."],
  [-32_601, "the method eth_getLogs does not exist/is not available"],
])("a range of logs refused with %i %s is not requested in parts", async (code, message) => {
  const { node, reader } = await nodeWith({ eth_getLogs: () => ({ error: { code, message } }) });
  await expect(reader.depositsIn(rangeTo100(90n))).rejects.toMatchObject({ kind: "refused" });
  expect(node.requests).toHaveLength(1);
});

test("falls back to block ranges when a node refuses blockHash in eth_getLogs", async () => {
  let byHash = 0;
  const { reader } = await nodeWith({
    eth_getLogs: ({ params }) => {
      const text = JSON.stringify(params);
      if (text.includes("blockHash")) {
        byHash += 1;
        return { error: { code: -32_602, message: "filter by blockHash is not supported" } };
      }
      return { result: text.includes(NATIVE_DEPOSIT_TOPIC) ? [log] : [] };
    },
    eth_getBlockByNumber: ({ params }) => ({ result: { ...block, number: params[0] } }),
  });
  for (let scans = 0; scans < 5; scans++)
    expect(await reader.depositsIn(rangeTo100(100n))).toMatchObject([deposit]);
  expect(byHash, "two filters, in three scans").toBe(6);
});

test("requests by block hash again after one refusal that may have been temporary", async () => {
  let isFailing = true;
  const { reader } = await nodeWith({
    eth_getLogs: ({ params }) => {
      const text = JSON.stringify(params);
      if (!text.includes("blockHash"))
        return { result: isFailing && text.includes(NATIVE_DEPOSIT_TOPIC) ? [log] : [] };
      const message = isFailing ? "internal error" : "unknown block";
      return { error: { code: isFailing ? -32_603 : -32_000, message } };
    },
    eth_getBlockByNumber: ({ params }) => ({ result: { ...block, number: params[0] } }),
  });
  expect(await reader.depositsIn(rangeTo100(100n))).toMatchObject([deposit]);
  isFailing = false;
  // A backend that lacks the block returns an empty list for a range; for a hash, it refuses.
  await expect(reader.depositsIn(rangeTo100(100n))).rejects.toMatchObject({ kind: "refused" });
});

test("sends fewer than a dozen requests for one range to a node that refuses every log query", async () => {
  const { node, reader } = await nodeWith({
    eth_getLogs: () => ({ error: { code: -32_603, message: "internal error" } }),
    eth_getBlockByNumber: ({ params }) => ({ result: { ...block, number: params[0] } }),
  });
  await expect(reader.depositsIn({ from: 1n, to: 500n, hashes: new Map() })).rejects.toMatchObject({
    kind: "refused",
  });
  expect(node.requests.length).toBeLessThan(12);
});

test("limits concurrent block requests to an endpoint without batches", async () => {
  let inFlight = 0;
  let max = 0;
  const node = await startLyingNode((calls, response, isBatch) => {
    if (isBatch) {
      json(response, { jsonrpc: "2.0", id: null, error: { code: -32_600, message: "no batches" } });
      return;
    }
    const [call] = calls;
    inFlight += 1;
    max = Math.max(max, inFlight);
    setTimeout(() => {
      inFlight -= 1;
      const number = call?.params[0];
      const result = call?.method === "eth_getLogs" ? [] : { ...block, number };
      json(response, { jsonrpc: "2.0", id: call?.id, result });
    }, 1);
  });
  const transport = createRpcTransport({ url: node.url, connections: 1_000 });
  closers.push(node.stop, transport.close);
  const contracts = { depository, multicall3: depository, router: depository };
  const reader = createChainReader(aChain(1, node.url, contracts, [token]), transport);
  expect(await reader.depositsIn({ from: 1n, to: 300n, hashes: new Map() })).toEqual([]);
  expect(max).toBeLessThanOrEqual(65);
});

test.each([
  [
    "a receipt of another transaction",
    { eth_getTransactionReceipt: answerWith({ ...receipt, transactionHash: otherHash }) },
  ],
  ["a receipt without status", { eth_getTransactionReceipt: answerWith({ ...receipt, status: undefined }) }],
  ["a receipt without block", { eth_getTransactionReceipt: answerWith({ ...receipt, blockHash: null }) }],
  ["a receipt without logs", { eth_getTransactionReceipt: answerWith({ ...receipt, logs: null }) }],
  [
    "a receipt in another block than its transaction",
    { eth_getTransactionByHash: answerWith({ ...mined, blockHash: otherHash }) },
  ],
  [
    "a receipt with a log of another transaction",
    { eth_getTransactionReceipt: answerWith({ ...receipt, logs: [{ ...log, transactionHash: otherHash }] }) },
  ],
  ["a receipt without its transaction", { eth_getTransactionByHash: answerWith(null) }],
  ["a mined transaction without its receipt", { eth_getTransactionReceipt: answerWith(null) }],
  ["a list for a receipt", { eth_getTransactionReceipt: answerWith([]) }],
  ["text for a receipt", { eth_getTransactionReceipt: answerWith("0x1") }],
])("%s is a fault and never a state", async (_, lies) => {
  const { reader } = await nodeWith(lies);
  await expect(reader.transaction(txHash)).rejects.toMatchObject({ code: "RPC_FAULT" });
});

test("a transaction read as pending just before its receipt arrived counts as mined", async () => {
  const { reader } = await nodeWith({ eth_getTransactionByHash: answerWith({ ...mined, blockHash: null }) });
  const state = await reader.transaction(txHash);
  expect(state.kind).toBe("mined");
  expect(reader.depositsOf(state)).toMatchObject([deposit]);
});

test("ignores the logs in the receipt of a failed transaction", async () => {
  const { reader } = await nodeWith({ eth_getTransactionReceipt: answerWith({ ...receipt, status: "0x0" }) });
  expect(reader.depositsOf(await reader.transaction(txHash))).toEqual([]);
});

test.each([["0x"], ["7"], [7], [null], ["0xzz"], [`0x1${"0".repeat(64)}`]])(
  "a quantity of %j is a fault, not a number",
  async (lie) => {
    const { reader } = await nodeWith({
      eth_getTransactionCount: answerWith(lie),
      eth_estimateGas: answerWith(lie),
    });
    await expect(reader.nonce(alice, "latest")).rejects.toMatchObject({ kind: "garbage" });
    const call = { to: token, data: "0x", value: 0n } as const;
    await expect(reader.simulate(alice, call)).rejects.toMatchObject({ kind: "garbage" });
  },
);

test("a missing multicall contract is a fault, not a balance of zero", async () => {
  const { reader } = await nodeWith({ eth_call: answerWith("0x") });
  await expect(reader.accountState(alice, token, depository)).rejects.toMatchObject({ code: "RPC_FAULT" });
});

test("rejects a node's response with the hash of another transaction", async () => {
  const node = await startAnsweringNode(answerWith(otherHash));
  const transport = createRpcTransport({ url: node.url });
  closers.push(node.stop, transport.close);
  await expect(createChainWriter(transport).broadcast("0x02")).rejects.toMatchObject({ kind: "garbage" });
});

test("an unclear rejection of a transaction is a fault, so the transaction is rebroadcast", async () => {
  const node = await startAnsweringNode(() => ({ error: { code: -32_000, message: "txpool is full" } }));
  const transport = createRpcTransport({ url: node.url });
  closers.push(node.stop, transport.close);
  await expect(createChainWriter(transport).broadcast("0x02")).rejects.toMatchObject({ retryable: true });
});
