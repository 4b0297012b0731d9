import { setTimeout as sleep } from "node:timers/promises";
import type { Hex } from "@causeway/domain";
import type { DepositFact, LogFact, TransactionFact } from "../family.ts";
import { readBlock, readLog, readTransaction, toQuantity } from "./answers.ts";
import {
  addressTopic,
  depositsInLogs,
  ERC20_DEPOSIT_TOPIC,
  isCandidate,
  NATIVE_DEPOSIT_TOPIC,
  TRANSFER_TOPIC,
  type DepositQuestion,
  type IgnoredLog,
} from "./deposits.ts";
import { isRangeTooLarge } from "./rpc-errors.ts";
import { garbage, inconsistent, NodeRefusal, RpcFault } from "./rpc-fault.ts";
import type { RpcTransport } from "./transport.ts";

export interface DepositRange {
  /** Inclusive. */
  readonly from: bigint;
  /** Inclusive. */
  readonly to: bigint;
  /** Hash of the block at `to` in the chain that the caller follows. */
  readonly toHash: Hex;
}

/**
 * Deposits of a block range, in chain order, judged by {@link depositsInLogs}.
 *
 * Both log filters travel in one HTTP request, the transactions of what they found in a later one. A single block is asked for by
 * its hash. A range that the node refuses as too large is split.
 *
 * @throws RpcFault when any answer is not about the asked blocks, or `to` no longer has `toHash`.
 */
export async function fetchDeposits(
  transport: RpcTransport,
  question: DepositQuestion,
  range: DepositRange,
  onIgnored: (ignored: readonly IgnoredLog[]) => void = () => undefined,
): Promise<DepositFact[]> {
  if (range.from > range.to) return [];
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
  const reading = depositsInLogs(question, logs, transactions);
  if (reading.ignored.length > 0) onIgnored(reading.ignored);
  return [...reading.deposits];
}

async function fetchLogs(
  transport: RpcTransport,
  question: DepositQuestion,
  range: DepositRange,
): Promise<LogFact[]> {
  try {
    const answers = await Promise.all(
      filtersOf(question).map((filter) =>
        transport.request("eth_getLogs", [{ ...blocksOf(range), ...filter }]),
      ),
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
function blocksOf({ from, to, toHash }: DepositRange): object {
  return from === to ? { blockHash: toHash } : { fromBlock: toQuantity(from), toBlock: toQuantity(to) };
}

function filtersOf(question: DepositQuestion): object[] {
  const events = { address: question.depository, topics: [[NATIVE_DEPOSIT_TOPIC, ERC20_DEPOSIT_TOPIC]] };
  const topics = [TRANSFER_TOPIC, null, addressTopic(question.depository)];
  if (question.tokens === undefined) return [events, { topics }];
  // An empty list of addresses means "any" to nodes.
  return question.tokens.size === 0 ? [events] : [events, { address: [...question.tokens], topics }];
}

async function endingAt(transport: RpcTransport, from: bigint, to: bigint): Promise<DepositRange> {
  const method = "eth_getBlockByNumber";
  const block = readBlock(await transport.request(method, [toQuantity(to), false]), method);
  if (block?.number !== to) throw inconsistent(method, `block ${to} is not there`);
  return { from, to, toHash: block.hash };
}

/** Checks that each log is one that was asked for: a node that ignores a filter must not add facts. */
function logsIn(answer: unknown, question: DepositQuestion, range: DepositRange): LogFact[] {
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
    if (!isCandidate(question, log)) throw garbage(method, "a log does not match the filter");
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

async function checkStillCanonical(transport: RpcTransport, { to, toHash }: DepositRange): Promise<void> {
  const method = "eth_getBlockByNumber";
  const block = readBlock(await transport.request(method, [toQuantity(to), false]), method);
  if (block?.number !== to || block.hash !== toHash) {
    throw inconsistent(method, `block ${to} is no longer the asked one`);
  }
}
