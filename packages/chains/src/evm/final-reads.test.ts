import { afterEach, expect, test } from "vitest";
import type { EvmFinality, Hex } from "@causeway/domain";
import { startAnsweringNode, type Answer, type LyingNode, type RpcCall } from "../../test/lying-node.ts";
import { blockHash, depository, solver, txHash } from "../../test/event-logs.ts";
import { createFinalReads, type FinalReads } from "./final-reads.ts";
import { createRpcTransport } from "../nodes/transport.ts";

type Fields = Record<string, unknown>;
const otherHash: Hex = `0x${"cc".repeat(32)}`;

const block = (number: number, hash: Hex, timestamp = number): Fields => ({
  number: `0x${number.toString(16)}`,
  hash,
  parentHash: otherHash,
  timestamp: `0x${timestamp.toString(16)}`,
});
const log: Fields = {
  address: depository,
  topics: [],
  data: "0x",
  logIndex: "0x0",
  blockNumber: "0x64",
  blockHash,
  transactionHash: txHash,
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
const transaction: Fields = {
  hash: txHash,
  from: solver,
  to: depository,
  input: "0x",
  value: "0x0",
  nonce: "0x0",
  blockHash,
};

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/**
 * An honest node with the transaction in block 100 and 110 finalized, except what `answers` returns.
 */
async function readsOf(
  answers: (call: RpcCall) => unknown,
  finality: EvmFinality = { kind: "tag" },
): Promise<{ reads: FinalReads; node: LyingNode }> {
  const answer = (call: RpcCall): Answer => {
    const result = answers(call);
    if (result !== undefined) return { result };
    if (call.method === "eth_getTransactionReceipt") return { result: receipt };
    if (call.method === "eth_getTransactionByHash") return { result: transaction };
    if (call.params[0] === "0x64") return { result: block(100, blockHash) };
    const isTag = call.params[0] === "finalized" || call.params[0] === "latest";
    const number = isTag ? 110 : Number(call.params[0]);
    return { result: block(number, `0x${number.toString(16).padStart(64, "0")}`) };
  };
  const node = await startAnsweringNode(answer);
  const transport = createRpcTransport({ url: node.url });
  closers.push(node.stop, transport.close);
  const reads = createFinalReads(
    transport,
    { finality, blockTimeSeconds: 1 },
    { maxCachedTransactions: 2, finalBlockReuseMs: 10_000 },
  );
  return { reads, node };
}

const isCall = (call: RpcCall, method: string, first?: string): boolean =>
  call.method === method && (first === undefined || call.params[0] === first);

test("a transaction is final if its block is canonical and not above the finalized one", async () => {
  const { reads } = await readsOf(() => undefined);
  expect(await reads.transaction(txHash)).toMatchObject({
    kind: "final",
    value: { block: { hash: blockHash } },
  });
});

test("a receipt whose block is not the canonical one at its height, or missing, is a fault (case 1)", async () => {
  for (const canonical of [block(100, otherHash), null]) {
    const { reads } = await readsOf((call) =>
      isCall(call, "eth_getBlockByNumber", "0x64") ? canonical : undefined,
    );
    await expect(reads.transaction(txHash)).rejects.toMatchObject({ kind: "inconsistent" });
  }
});

test("a head of the same height with another hash contradicts the block", async () => {
  const { reads } = await readsOf((call) =>
    isCall(call, "eth_getBlockByNumber", "finalized") ? block(100, otherHash) : undefined,
  );
  await expect(reads.transaction(txHash)).rejects.toMatchObject({ kind: "inconsistent" });
});

test("requests the block and the finalized head in one request to one node (case 2)", async () => {
  const { reads, node } = await readsOf(() => undefined);
  await reads.transaction(txHash);
  expect(
    node.requests.map((calls) => calls.map(({ method, params }) => `${method} ${String(params[0])}`)),
  ).toEqual([
    [`eth_getTransactionReceipt ${txHash}`],
    ["eth_getBlockByNumber finalized", "eth_getBlockByNumber 0x64"],
  ]);
});

test("a node without a finalized block is a fault, not a chain without finality", async () => {
  const { reads } = await readsOf((call) =>
    isCall(call, "eth_getBlockByNumber", "finalized") ? null : undefined,
  );
  await expect(reads.transaction(txHash)).rejects.toMatchObject({ kind: "garbage" });
});

test.each<[string, Fields[]]>([
  ["twice the same index", [log, log]],
  ["an index beyond counting", [{ ...log, logIndex: "0xffffffffffffffff" }]],
  ["another block's number", [{ ...log, blockNumber: "0x65" }]],
])("logs with %s are a fault: the index identifies a deposit permanently", async (_what, logs) => {
  const { reads } = await readsOf((call) =>
    isCall(call, "eth_getTransactionReceipt") ? { ...receipt, logs } : undefined,
  );
  await expect(reads.transaction(txHash)).rejects.toMatchObject({ kind: "garbage" });
});

test("without a receipt: unknown is absent, pending is not final, mined is a fault", async () => {
  const readAs = async (transactionAnswer: unknown): Promise<unknown> => {
    const { reads } = await readsOf((call) =>
      isCall(call, "eth_getTransactionReceipt")
        ? null
        : isCall(call, "eth_getTransactionByHash")
          ? transactionAnswer
          : undefined,
    );
    return await reads.transaction(txHash);
  };
  expect(await readAs(null)).toEqual({ kind: "absent" });
  expect(await readAs({ ...transaction, blockHash: null })).toMatchObject({ kind: "notFinal" });
  await expect(readAs(transaction)).rejects.toMatchObject({ kind: "inconsistent" });
});

test("a transaction that is not in its receipt's block is a fault", async () => {
  for (const transactionAnswer of [
    { ...transaction, blockHash: otherHash },
    { ...transaction, blockHash: null },
    null,
  ]) {
    const { reads } = await readsOf((call) =>
      isCall(call, "eth_getTransactionByHash") ? transactionAnswer : undefined,
    );
    const final = await reads.transaction(txHash);
    if (final.kind !== "final") throw new Error(final.kind);
    await expect(reads.content(final.value)).rejects.toMatchObject({ kind: "inconsistent" });
  }
});

test("reads again what is not final, and caches what is final, here the latest two", async () => {
  let head = 99;
  const receiptFor = (hash: Hex): Fields => ({ ...receipt, transactionHash: hash, logs: [] });
  const { reads, node } = await readsOf((call) => {
    if (isCall(call, "eth_getTransactionReceipt")) return receiptFor(call.params[0] as Hex);
    return isCall(call, "eth_getBlockByNumber", "finalized") ? block(head, otherHash) : undefined;
  });
  expect(await reads.transaction(txHash)).toMatchObject({ kind: "notFinal" });
  head = 101;
  expect(await reads.transaction(txHash)).toMatchObject({ kind: "final" });
  const requests = node.requests.length;
  await reads.transaction(txHash);
  expect(node.requests).toHaveLength(requests);
  await reads.transaction(`0x${"01".repeat(32)}`);
  await reads.transaction(`0x${"02".repeat(32)}`);
  const later = node.requests.length;
  await reads.transaction(txHash);
  expect(node.requests.length).toBeGreaterThan(later);
});

test("by depth, searches for the final block below the head until enough time has passed since it", async () => {
  const depth = { kind: "depth", blocks: 5n, seconds: 8n } as const;
  const { reads, node } = await readsOf(() => undefined, depth);
  expect(await reads.block()).toMatchObject({ kind: "final", value: { number: 102n } });
  const requests = node.requests.length;
  await reads.block();
  expect(node.requests).toHaveLength(requests);
});

test("a chain younger than its finality has no final block yet", async () => {
  const { reads } = await readsOf(() => undefined, { kind: "depth", blocks: 500n, seconds: 0n });
  expect(await reads.block()).toMatchObject({ kind: "notFinal" });
});

test("confirms a block only while it is canonical and final, and does not reuse it otherwise", async () => {
  let hash: Hex = `0x${(110).toString(16).padStart(64, "0")}`;
  const { reads } = await readsOf((call) =>
    isCall(call, "eth_getBlockByNumber", "0x6e") || isCall(call, "eth_getBlockByNumber", "finalized")
      ? block(110, hash)
      : undefined,
  );
  const finalBlock = await reads.block();
  if (finalBlock.kind !== "final") throw new Error(finalBlock.kind);
  await reads.confirm(finalBlock.value);
  hash = otherHash;
  await expect(reads.confirm(finalBlock.value)).rejects.toMatchObject({ kind: "inconsistent" });
  expect(await reads.block()).toMatchObject({ value: { hash: otherHash } });
  await expect(reads.confirm({ ...finalBlock.value, number: 111n })).rejects.toMatchObject({
    kind: "inconsistent",
  });
});

test("does not confirm a canonical block above the finalized one", async () => {
  const { reads } = await readsOf(() => undefined);
  const above = { number: 111n, hash: `0x${(111).toString(16).padStart(64, "0")}` } as const;
  const canonical = { ...above, parentHash: otherHash, timestamp: 111n, baseFeePerGas: undefined };
  await expect(reads.confirm(canonical)).rejects.toMatchObject({ kind: "inconsistent" });
  const below = { ...canonical, number: 109n, hash: `0x${(109).toString(16).padStart(64, "0")}` } as const;
  await reads.confirm(below);
});
