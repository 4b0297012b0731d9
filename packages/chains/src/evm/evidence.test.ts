import { encodeAbiParameters, encodeFunctionData, erc20Abi } from "viem";
import { afterEach, expect, test } from "vitest";
import { encodeEvmCallRequest, type EvmCall, type Hex } from "@causeway/domain";
import type { ConfiguredChain, EvidenceSource } from "@causeway/families";
import {
  alice,
  blockHash,
  bob,
  depository,
  nativeDeposit,
  orderId,
  transfer,
  usdc,
  type EmittedLog,
} from "../../test/event-logs.ts";
import { startAnsweringNode, type RpcCall } from "../../test/lying-node.ts";
import { evmEvidence, type EvmEvidenceOptions } from "./evidence.ts";
import { CALL_EXECUTED_TOPIC, readWithdrawal } from "@causeway/families/evm";

type Fields = Record<string, unknown>;

const otherHash: Hex = `0x${"cc".repeat(32)}`;
const hint: Hex = `0x${"11".repeat(32)}`;
const executedIn: Hex = `0x${"22".repeat(32)}`;
const call: EvmCall = {
  to: usdc,
  data: encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [alice, 9n] }),
  value: 0n,
  allowFailure: false,
};
const payloadOf = (evmCall: EvmCall): Hex =>
  encodeEvmCallRequest({ calls: [evmCall], nonce: 1n, expiration: 2_000n });
const payload = payloadOf(call);
const withdrawal = readWithdrawal(payload);
if ("refusal" in withdrawal) throw new Error(withdrawal.refusal);
const { id } = withdrawal;

function report(emitter = depository): EmittedLog {
  const tuple = {
    type: "tuple",
    components: [{ type: "address" }, { type: "bytes" }, { type: "uint256" }, { type: "bool" }],
  } as const;
  const data = encodeAbiParameters([{ type: "bytes32" }, tuple], [id, [call.to, call.data, 0n, false]]);
  return { address: emitter, topics: [CALL_EXECUTED_TOPIC], data };
}
const paidLogs = [transfer(usdc, depository, alice, 9n), report()];

const logsIn = (transactionHash: Hex, emitted: readonly EmittedLog[]): Fields[] =>
  emitted.map((log, index) => ({
    ...log,
    logIndex: `0x${index.toString(16)}`,
    blockNumber: "0x64",
    blockHash,
    transactionHash,
  }));
const receiptOf = (
  transactionHash: Hex,
  emitted: readonly EmittedLog[],
  status = "0x1",
  blockNumber = "0x64",
): Fields => ({
  transactionHash,
  status,
  blockNumber,
  blockHash,
  gasUsed: "0x1",
  effectiveGasPrice: "0x1",
  logs: logsIn(transactionHash, emitted).map((log) => ({ ...log, blockNumber })),
});

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/**
 * A node on which the request is used at the final block, 110. `answerTo` returns all other answers;
 * undefined means null.
 */
async function sourceOf(
  answerTo: (rpcCall: RpcCall) => unknown,
  options: EvmEvidenceOptions = {},
): Promise<EvidenceSource> {
  const node = await startAnsweringNode((rpcCall) => {
    const { method, params } = rpcCall;
    const result = answerTo(rpcCall);
    if (result !== undefined) return { result };
    if (method === "eth_chainId") return { result: "0x7" };
    if (method === "eth_call") return { result: `0x${"0".repeat(63)}1` };
    if (method === "eth_getLogs") return { result: [] };
    if (method !== "eth_getBlockByNumber") return { result: null };
    const number = params[0] === "finalized" ? "0x6e" : params[0];
    const hash = number === "0x6e" ? otherHash : blockHash;
    return { result: { number, hash, parentHash: otherHash, timestamp: number } };
  });
  const chain: ConfiguredChain = {
    name: "base",
    vmType: "ethereum-vm",
    rpcUrls: [node.url],
    rpcQuorum: 1,
    depository,
    additionalDepositories: [],
    hubChainId: "7",
    evm: {
      chainId: 7,
      finality: { kind: "tag" },
      blockTimeSeconds: 1,
      fillContracts: [],
      isZksyncStack: false,
    },
  };
  const source = evmEvidence(chain, options);
  closers.push(node.stop, source.close);
  return source;
}

const receipts =
  (receiptsByHash: Record<Hex, Fields>, logs: readonly Fields[] = []) =>
  ({ method, params }: RpcCall): unknown => {
    if (method === "eth_getLogs") return logs;
    return method === "eth_getTransactionReceipt" ? (receiptsByHash[params[0] as Hex] ?? null) : undefined;
  };

test("refuses a withdrawal to the depository itself, regardless of the chain's state", async () => {
  const source = await sourceOf(() => undefined);
  const native = payloadOf({ to: depository, data: "0x", value: 9n, allowFailure: false });
  const data = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [depository, 9n] });
  for (const toItself of [native, payloadOf({ ...call, data })])
    expect(await source.withdrawal(toItself, undefined)).toMatchObject({ kind: "refuted" });
});

test("a used request whose transaction is not visible yet is not settled, because logs and receipts may lag behind the state", async () => {
  const source = await sourceOf(() => undefined);
  expect(await source.withdrawal(payload, undefined)).toMatchObject({
    kind: "notFinal",
    retryAfterSeconds: 1,
  });
  expect(await source.withdrawal(payload, hint)).toEqual({ kind: "absent" });
});

test("waits for a named transaction that is not in a final block yet", async () => {
  const source = await sourceOf(receipts({ [hint]: receiptOf(hint, paidLogs, "0x1", "0x6f") }));
  expect(await source.withdrawal(payload, hint)).toMatchObject({ kind: "notFinal" });
});

test("refutes a named transaction that is final and shows no execution", async () => {
  const source = await sourceOf(receipts({ [hint]: receiptOf(hint, []) }));
  expect(await source.withdrawal(payload, hint)).toMatchObject({ kind: "refuted" });
});

test("treats a reverted transaction as executing nothing, regardless of the logs that a node returns for it (case 28)", async () => {
  const logs = logsIn(executedIn, paidLogs).slice(1);
  const hinted = await sourceOf(receipts({ [hint]: receiptOf(hint, paidLogs, "0x0") }));
  expect(await hinted.withdrawal(payload, hint)).toMatchObject({ kind: "refuted" });
  const searched = await sourceOf(receipts({ [executedIn]: receiptOf(executedIn, paidLogs, "0x0") }, logs));
  expect(await searched.withdrawal(payload, undefined)).toMatchObject({ kind: "refuted" });
});

test("finds the execution even if the request names another transaction", async () => {
  const receiptsByHash = { [hint]: receiptOf(hint, []), [executedIn]: receiptOf(executedIn, paidLogs) };
  const source = await sourceOf(receipts(receiptsByHash, logsIn(executedIn, paidLogs).slice(1)));
  expect(await source.withdrawal(payload, hint)).toMatchObject({ value: { status: "executed" } });
});

test("ignores a look-alike's report, even if the node lists it first", async () => {
  const receiptsByHash = {
    [hint]: receiptOf(hint, [report(bob)]),
    [executedIn]: receiptOf(executedIn, paidLogs),
  };
  const logs = [...logsIn(hint, [report(bob)]), ...logsIn(executedIn, paidLogs).slice(1)];
  const source = await sourceOf(receipts(receiptsByHash, logs));
  expect(await source.withdrawal(payload, undefined)).toMatchObject({ value: { status: "executed" } });
});

test("reports a fault when logs exceed the limit, instead of no deposit or no payment", async () => {
  const huge: EmittedLog = { address: bob, topics: [], data: `0x${"ab".repeat(64 * 1024)}` };
  const answerTo = receipts({ [hint]: receiptOf(hint, [...paidLogs, huge]) });
  const source = await sourceOf(answerTo, { rpc: { maxAnswerBytes: 64 * 1024 } });
  await expect(source.deposits(hint)).rejects.toMatchObject({ kind: "tooLarge" });
  await expect(source.withdrawal(payload, hint)).rejects.toMatchObject({ kind: "tooLarge" });
});

test("reads the receipt of a transaction that fills a block", async () => {
  const log: EmittedLog = { address: bob, topics: [], data: "0x" };
  const spam = Array.from({ length: 40_000 }, () => log);
  const receipt = receiptOf(hint, [nativeDeposit(alice, 5n, orderId), ...spam]);
  expect(JSON.stringify(receipt).length).toBeGreaterThan(9 * 1024 * 1024);
  const source = await sourceOf(receipts({ [hint]: receipt }));
  expect(await source.deposits(hint)).toMatchObject({ kind: "final", value: { deposits: [{ amount: 5n }] } });
});

test("caches only as many large transactions as memory allows", async () => {
  const large: EmittedLog = { address: bob, topics: [], data: `0x${"ab".repeat(25_000)}` };
  let requests = 0;
  const source = await sourceOf(({ method, params }) => {
    if (method !== "eth_getTransactionReceipt") return undefined;
    requests += 1;
    return receiptOf(params[0] as Hex, [large]);
  });
  const hashes = Array.from({ length: 120 }, (_, index): Hex => `0x${index.toString(16).padStart(64, "0")}`);
  for (const hash of hashes) await source.deposits(hash);
  expect(requests).toBe(120);
  await source.deposits(hashes.at(-1) ?? hint);
  expect(requests).toBe(120);
  // About eighty of them fit into 4 MiB.
  await source.deposits(hashes[20] ?? hint);
  expect(requests).toBe(121);
});
