import { setTimeout as sleep } from "node:timers/promises";
import type { Address, Hex } from "@causeway/domain";
import { afterEach, expect, test } from "vitest";
import { json, startLyingNode, type Answer, type RpcCall } from "../../test/lying-node.ts";
import { NATIVE_DEPOSIT_TOPIC, type DepositFact } from "@causeway/families/evm";
import { createRpcTransport } from "../nodes/transport.ts";
import { fetchDeposits } from "./deposit-logs.ts";

const current: Address = `0x${"d0".repeat(20)}`;
const former: Address = `0x${"d1".repeat(20)}`;
const alice: Address = `0x${"a1".repeat(20)}`;
const blockHash: Hex = `0x${"bb".repeat(32)}`;
const word = (value: number): string => value.toString(16).padStart(64, "0");
const hashOf = (index: number): Hex => `0x${word(index + 1)}`;

const block = {
  number: "0x64",
  hash: blockHash,
  parentHash: `0x${"cc".repeat(32)}`,
  timestamp: "0x1",
  baseFeePerGas: "0x1",
};

/** The log of a deposit of one wei in its own transaction. */
const dust = (depository: Address, index: number) => ({
  address: depository,
  topics: [NATIVE_DEPOSIT_TOPIC],
  data: `0x${alice.slice(2).padStart(64, "0")}${word(1)}${word(7)}`,
  logIndex: `0x${index.toString(16)}`,
  blockNumber: "0x64",
  blockHash,
  transactionHash: hashOf(index),
});

const receiptOf = (log: ReturnType<typeof dust>) => ({
  transactionHash: log.transactionHash,
  status: "0x1",
  blockNumber: "0x64",
  blockHash,
  gasUsed: "0xa000",
  effectiveGasPrice: "0x1",
  logs: [log],
});

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

interface Dust {
  readonly count: number;
  readonly gasLimit: number;
  readonly depository: Address;
  /** Refuses JSON-RPC batches. */
  readonly isUnbatched?: boolean;
  /** Another answer for a receipt requested together with others. */
  readonly answerInBatch?: () => Answer;
}

interface Reading {
  readonly deposits: readonly DepositFact[];
  /** Calls for receipts. */
  readonly receipts: number;
  /** How often the node had to respond to a request for receipts before the next one arrived. */
  readonly rounds: number;
}

/**
 * Reads a block of dust deposits from a node that collects requests for a moment and then answers all of
 * them.
 */
async function readDust({
  count,
  gasLimit,
  depository,
  isUnbatched = false,
  answerInBatch: inCompany,
}: Dust): Promise<Reading> {
  const logs = Array.from({ length: count }, (_, index) => dust(depository, index));
  const byHash = new Map<unknown, (typeof logs)[number]>(logs.map((log) => [log.transactionHash, log]));
  const answerTo = ({ method, params }: RpcCall): Answer => {
    if (method === "eth_getBlockByNumber" || method === "eth_getBlockByHash") return { result: block };
    if (method === "eth_getLogs") {
      const filter = JSON.stringify(params);
      return { result: filter.includes(NATIVE_DEPOSIT_TOPIC) && filter.includes(depository) ? logs : [] };
    }
    const log = byHash.get(params[0]);
    if (log === undefined) return { result: null };
    if (method === "eth_getTransactionReceipt") return { result: receiptOf(log) };
    return {
      result: {
        hash: log.transactionHash,
        from: alice,
        to: depository,
        input: "0x",
        value: "0x1",
        nonce: "0x0",
        gas: `0x${gasLimit.toString(16)}`,
        blockHash,
      },
    };
  };
  let receipts = 0;
  let rounds = 0;
  let heldAnswers: (() => void)[] = [];
  const node = await startLyingNode((calls, response, isBatch) => {
    if (isBatch && isUnbatched) {
      json(response, { jsonrpc: "2.0", id: null, error: { code: -32_600, message: "batches are disabled" } });
      return;
    }
    const receiptCalls = calls.filter(({ method }) => method === "eth_getTransactionReceipt").length;
    const isBatched = inCompany !== undefined && calls.length > 1 && receiptCalls > 0;
    const answers = calls.map((call) => ({
      jsonrpc: "2.0",
      id: call.id,
      ...(isBatched ? inCompany() : answerTo(call)),
    }));
    const answer = (): void => json(response, isBatch ? answers : answers[0]);
    receipts += receiptCalls;
    if (receiptCalls === 0) {
      answer();
      return;
    }
    heldAnswers.push(answer);
    if (heldAnswers.length > 1) return;
    rounds += 1;
    void sleep(10).then(() => {
      const toSend = heldAnswers;
      heldAnswers = [];
      for (const send of toSend) send();
    });
  });
  const transport = createRpcTransport({ url: node.url });
  closers.push(node.stop, transport.close);
  const depositories = [current, former] as const;
  const range = { from: 100n, to: 100n, hashes: new Map([[100n, blockHash]]) };
  const deposits = await fetchDeposits(transport, { depositories, tokens: new Set() }, range, {
    attestation: {},
  });
  return { deposits, receipts, rounds };
}

test.each([
  ["in a former depository", { depository: former }, { receipts: 300, rounds: 10 }],
  [
    "at a node that takes no batches",
    { depository: current, isUnbatched: true },
    { receipts: 300, rounds: 60 },
  ],
  [
    "in a former depository, at a node that takes no batches",
    { depository: former, isUnbatched: true },
    { receipts: 300, rounds: 60 },
  ],
  ["in the current depository", { depository: current }, { receipts: 0, rounds: 0 }],
] as const)(
  "reads the receipts of 300 dust deposits with large gas limits a group at a time: %s",
  async (_where, dusted, max) => {
    const { deposits, receipts, rounds } = await readDust({ count: 300, gasLimit: 2_100_000, ...dusted });
    expect(deposits).toHaveLength(300);
    expect(deposits.filter(({ isUnattestable }) => isUnattestable === true)).toEqual([]);
    expect(receipts).toBe(max.receipts);
    expect(rounds).toBeLessThanOrEqual(max.rounds);
  },
);

test("reads receipts of more than 32,000,000 gas a group at a time", async () => {
  const { receipts, rounds } = await readDust({ count: 300, gasLimit: 33_000_000, depository: current });
  expect(receipts).toBe(300);
  expect(rounds).toBeLessThanOrEqual(10);
});

test.each([200_000, 2_100_000, 33_000_000])(
  "judges a transaction of %i gas by itself if its receipt does not fit into a batch with others",
  async (gasLimit) => {
    const { deposits } = await readDust({
      count: 3,
      gasLimit,
      depository: former,
      answerInBatch: () => ({ error: { code: -32_003, message: "response too large" } }),
    });
    expect(deposits).toHaveLength(3);
    expect(deposits.filter(({ isUnattestable }) => isUnattestable === true)).toEqual([]);
  },
);
