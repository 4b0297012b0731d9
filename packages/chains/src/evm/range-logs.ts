import { setTimeout as sleep } from "node:timers/promises";
import type { Hex } from "@causeway/domain";
import type { LogFact, TransactionFact } from "../family.ts";
import { readBlock, readLog, readTransaction, toQuantity } from "./answers.ts";
import { isRangeTooLarge } from "./rpc-errors.ts";
import { garbage, inconsistent, NodeRefusal, RpcFault } from "../nodes/rpc-fault.ts";
import type { RpcTransport } from "../nodes/transport.ts";

/** Blocks of the chain that the caller follows. */
export interface BlockRange {
  /** Inclusive. */
  readonly from: bigint;
  /** Inclusive. */
  readonly to: bigint;
  /** Hash of the block at `to` in the chain that the caller follows. */
  readonly toHash: Hex;
}

/** What logs are asked for, and which of the answers count as asked for. */
export interface LogQuestion {
  /** `address` and `topics` of each filter. */
  readonly filters: readonly object[];
  accepts(log: LogFact): boolean;
}

/**
 * Logs of a block range and the transactions behind them, all of the followed chain.
 *
 * All filters travel in one HTTP request, the transactions of what they found in a later one. A single block is asked for by
 * its hash. A range that the node refuses as too large is split.
 *
 * @throws RpcFault when any answer is not about the asked blocks, or `to` no longer has `toHash`.
 */
export async function fetchRangeLogs(
  transport: RpcTransport,
  question: LogQuestion,
  range: BlockRange,
): Promise<{ readonly logs: readonly LogFact[]; readonly transactions: ReadonlyMap<Hex, TransactionFact> }> {
  // Logs asked for by block hash cannot come from another fork, so one look beside them is enough; a range is looked at after.
  const isPinned = range.from === range.to;
  const [logs] = await Promise.all([
    fetchLogs(transport, question, range),
    isPinned ? checkStillCanonical(transport, range) : undefined,
  ]);
  const [transactions] = await Promise.all([
    fetchTransactions(transport, logs),
    isPinned ? undefined : checkStillCanonical(transport, range),
  ]);
  return { logs, transactions };
}

async function fetchLogs(
  transport: RpcTransport,
  question: LogQuestion,
  range: BlockRange,
): Promise<LogFact[]> {
  try {
    const answers = await Promise.all(
      question.filters.map((filter) => transport.request("eth_getLogs", [{ ...blocksOf(range), ...filter }])),
    );
    return answers.flatMap((answer) => logsIn(answer, question, range));
  } catch (error) {
    const tooLarge =
      error instanceof NodeRefusal
        ? isRangeTooLarge(error)
        : error instanceof RpcFault && error.kind === "tooLarge";
    if (!tooLarge || range.from === range.to) throw error;
    const middle = (range.from + range.to) / 2n;
    // One after the other: a node that finds the range too large is not helped by both halves at once.
    const lower = await fetchLogs(transport, question, await endingAt(transport, range.from, middle));
    const upper = await fetchLogs(transport, question, { ...range, from: middle + 1n });
    return [...lower, ...upper];
  }
}

/** The filters' blocks: by hash when it is one. */
function blocksOf({ from, to, toHash }: BlockRange): object {
  return from === to ? { blockHash: toHash } : { fromBlock: toQuantity(from), toBlock: toQuantity(to) };
}

async function endingAt(transport: RpcTransport, from: bigint, to: bigint): Promise<BlockRange> {
  const method = "eth_getBlockByNumber";
  const block = readBlock(await transport.request(method, [toQuantity(to), false]), method);
  if (block?.number !== to) throw inconsistent(method, `block ${to} is not there`);
  return { from, to, toHash: block.hash };
}

/** Checks that each log is one that was asked for: a node that ignores a filter must not add facts. */
function logsIn(answer: unknown, question: LogQuestion, range: BlockRange): LogFact[] {
  const method = "eth_getLogs";
  if (!Array.isArray(answer)) throw garbage(method, "the answer is no list");
  return answer.map((entry: unknown) => {
    const log = readLog(entry, method);
    if (log.blockNumber < range.from || log.blockNumber > range.to) {
      throw garbage(method, "a log is outside the asked blocks");
    }
    if (log.blockNumber === range.to && log.blockHash !== range.toHash) {
      throw inconsistent(method, `block ${range.to} has another hash`);
    }
    if (!question.accepts(log)) throw garbage(method, "a log does not match the filter");
    return log;
  });
}

/** How often, and how long apart, a mined transaction is asked for again that the node still shows as pooled. */
const POOLED_TRIES = 5;
const POOLED_PAUSE_MS = 5;

/** The transactions behind the logs: who signed them, and the calldata that may carry an id. */
async function fetchTransactions(
  transport: RpcTransport,
  logs: readonly LogFact[],
): Promise<Map<Hex, TransactionFact>> {
  const method = "eth_getTransactionByHash";
  const blockOf = new Map(logs.map((log) => [log.txHash, log.blockHash]));
  const found = await Promise.all(
    [...blockOf].map(async ([hash, blockHash]) => {
      for (let asked = 1; ; asked++) {
        const read = readTransaction(await transport.request(method, [hash]), hash);
        if (read?.blockHash === blockHash) return [hash, read.transaction] as const;
        // Some nodes show a block's logs a moment before they move its transactions out of their pool.
        const isStillPooled = read !== undefined && read.blockHash === undefined;
        if (!isStillPooled || asked === POOLED_TRIES)
          throw inconsistent(method, "a transaction left its block");
        await sleep(POOLED_PAUSE_MS);
      }
    }),
  );
  return new Map(found);
}

async function checkStillCanonical(transport: RpcTransport, { to, toHash }: BlockRange): Promise<void> {
  const method = "eth_getBlockByNumber";
  const block = readBlock(await transport.request(method, [toQuantity(to), false]), method);
  if (block?.number !== to || block.hash !== toHash) {
    throw inconsistent(method, `block ${to} is no longer the asked one`);
  }
}
