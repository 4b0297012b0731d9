import { setTimeout as sleep } from "node:timers/promises";
import type { Hex } from "@causeway/domain";
import {
  readBlock,
  readLogs,
  readTransaction,
  toQuantity,
  type BlockRange,
  type BlockRef,
  type LogFact,
  type TransactionFact,
} from "@causeway/families/evm";
import { createLogRangeSize, type LogRangeSize } from "./log-range-size.ts";
import { isTooLarge, mayPassInParts } from "./rpc-errors.ts";
import { garbage, inconsistent, RpcFault } from "@causeway/families";
import type { RpcTransport } from "../nodes/transport.ts";

/** A log request, and which of the returned logs match it. */
export interface LogQuestion {
  /** `address` and `topics` of each filter. */
  readonly filters: readonly object[];
  accepts(log: LogFact): boolean;
}

/** What was learned about a node's log queries, and the listener for its answers. */
export interface LogNode {
  readonly size: LogRangeSize;
  readonly hashes: HashFilters;
  /** Called with the number of unrequested logs in an answer. */
  readonly onUnrequestedLogs: (count: number) => void;
}

/**
 * Whether the node accepts `blockHash` in `eth_getLogs` (EIP-234): consecutive refusals that it then answered
 * as a range, and the time of the last one.
 */
export interface HashFilters {
  refusals: number;
  refusedAtMs: number;
}

/**
 * Consecutive refusals after which ranges are used. Fewer may be a temporary fault, and logs of a range prove
 * less about their block.
 */
const MIN_REFUSALS = 3;
/** How long ranges are used instead, ms; then hashes are tried again. */
const TRY_HASHES_AGAIN_MS = 600_000;

export function createLogNode(onUnrequestedLogs: LogNode["onUnrequestedLogs"] = () => undefined): LogNode {
  return { size: createLogRangeSize(), hashes: { refusals: 0, refusedAtMs: 0 }, onUnrequestedLogs };
}

/**
 * Up to this many blocks are requested one by one, by hash: a node that lacks one of them refuses instead of
 * returning fewer logs.
 */
const MAX_BLOCKS_BY_HASH = 8;
/** Concurrent single-block requests to an endpoint without batches. */
const MAX_BLOCKS_WITHOUT_BATCH = 32;

/**
 * Logs of consecutive blocks and their transactions, all of the chain that the caller follows.
 *
 * A few blocks are requested by hash. More blocks, or all if the node refuses block hashes, are requested as
 * a range, in one HTTP request with two reads of the last block, which reveal a lagging node. A range that
 * the node refuses is requested in parts.
 *
 * @throws RpcFault if any answer is not about the requested blocks, or the node does not have all of them
 */
export async function fetchRangeLogs(
  transport: RpcTransport,
  question: LogQuestion,
  range: BlockRange,
  node: LogNode = createLogNode(),
): Promise<{ readonly logs: readonly LogFact[]; readonly transactions: ReadonlyMap<Hex, TransactionFact> }> {
  const logs = await fetchLogs(transport, withCounting(question, node), range, node);
  return { logs, transactions: await fetchTransactions(transport, logs) };
}

/** A request whose answers are checked, and whose unrequested logs are counted. */
interface CountedQuestion extends LogQuestion {
  readonly onUnrequestedLogs: LogNode["onUnrequestedLogs"];
}

function withCounting(
  { filters, accepts }: LogQuestion,
  { onUnrequestedLogs }: Pick<LogNode, "onUnrequestedLogs">,
): CountedQuestion {
  return { filters, accepts, onUnrequestedLogs };
}

async function fetchLogs(
  transport: RpcTransport,
  question: CountedQuestion,
  range: BlockRange,
  { size, hashes }: LogNode,
): Promise<LogFact[]> {
  if (range.to - range.from >= MAX_BLOCKS_BY_HASH || !hasAllHashes(range) || areRefused(hashes))
    return await fetchInParts(transport, question, range, size);
  try {
    const logs = await fetchByHash(transport, question, range);
    hashes.refusals = 0;
    return logs;
  } catch (error) {
    if (!mayPassInParts(error)) throw error;
    const logs = await fetchInParts(transport, question, range, size);
    hashes.refusals++;
    hashes.refusedAtMs = performance.now();
    return logs;
  }
}

function areRefused({ refusals, refusedAtMs }: HashFilters): boolean {
  return refusals >= MIN_REFUSALS && performance.now() - refusedAtMs < TRY_HASHES_AGAIN_MS;
}

async function fetchInParts(
  transport: RpcTransport,
  question: CountedQuestion,
  range: BlockRange,
  size: LogRangeSize,
): Promise<LogFact[]> {
  const logs: LogFact[] = [];
  let maxBlocks = size.blocks();
  let wasRefused = false;
  // In sequence: a node that finds a range too large would not cope better with several at once.
  for (let { from } = range; from <= range.to;) {
    const blocks = Math.min(maxBlocks, Number(range.to - from) + 1);
    const part = { ...range, from, to: from + BigInt(blocks - 1) };
    const answer = await fetchPart(transport, question, part);
    if (answer.kind === "tooManyBlocks") {
      maxBlocks = answer.blocks;
      wasRefused = answer.isRefusal;
      continue;
    }
    for (const log of answer.logs) logs.push(log);
    if (answer.isRange) {
      size.recordSuccess(blocks, wasRefused);
      maxBlocks = size.blocks();
      wasRefused = false;
    }
    from = part.to + 1n;
  }
  return logs;
}

type Part =
  | { readonly kind: "logs"; readonly logs: readonly LogFact[]; readonly isRange: boolean }
  /** Request this many blocks instead. */
  | { readonly kind: "tooManyBlocks"; readonly blocks: number; readonly isRefusal: boolean };

/** @throws RpcFault if fewer blocks would not help either */
async function fetchPart(
  transport: RpcTransport,
  question: CountedQuestion,
  part: BlockRange,
): Promise<Part> {
  const blocks = Number(part.to - part.from) + 1;
  try {
    return { kind: "logs", logs: await fetchTogether(transport, question, part), isRange: true };
  } catch (error) {
    // Without batches, it is unknown which node answered, so the blocks are requested by hash instead.
    const isBatchRefused = error instanceof RpcFault && error.kind === "batchRefused";
    if (isBatchRefused && blocks > MAX_BLOCKS_WITHOUT_BATCH)
      return { kind: "tooManyBlocks", blocks: MAX_BLOCKS_WITHOUT_BATCH, isRefusal: false };
    if (isBatchRefused || (blocks === 1 && isTooLarge(error))) {
      const rangeWithHashes = await withHashes(transport, part);
      return { kind: "logs", logs: await fetchByHash(transport, question, rangeWithHashes), isRange: false };
    }
    if (blocks === 1 || !mayPassInParts(error)) throw error;
    return { kind: "tooManyBlocks", blocks: Math.floor(blocks / 2), isRefusal: true };
  }
}

function hasAllHashes({ from, to, hashes }: BlockRange): boolean {
  for (let number = from; number <= to; number++) if (!hashes.has(number)) return false;
  return true;
}

async function withHashes(transport: RpcTransport, range: BlockRange): Promise<BlockRange> {
  const hashes = new Map(range.hashes);
  const numbers = Array.from(
    { length: Number(range.to - range.from) + 1 },
    (_, index) => range.from + BigInt(index),
  );
  await Promise.all(
    numbers.map(async (number) => {
      if (hashes.has(number)) return;
      const block = readBlock(await transport.request(BY_NUMBER, [toQuantity(number), false]), BY_NUMBER);
      hashes.set(number, blockAt(block, number, undefined).hash);
    }),
  );
  return { ...range, hashes };
}

/**
 * Logs requested by block hash cannot come from another fork, so it is enough to read the last block as well.
 */
async function fetchByHash(
  transport: RpcTransport,
  question: CountedQuestion,
  range: BlockRange,
): Promise<LogFact[]> {
  const requests: Promise<LogFact[]>[] = [];
  for (let number = range.from; number <= range.to; number++) {
    const block = { from: number, to: number, hashes: range.hashes };
    for (const filter of question.filters) {
      const params = [{ blockHash: range.hashes.get(number), ...filter }];
      requests.push(
        transport.request("eth_getLogs", params).then((answer) => logsIn(answer, question, block)),
      );
    }
  }
  const canonical = transport
    .request(BY_NUMBER, [toQuantity(range.to), false])
    .then((answer) => blockAt(readBlock(answer, BY_NUMBER), range.to, range.hashes.get(range.to)));
  const [logs] = await Promise.all([Promise.all(requests), canonical]);
  return withoutRepetitions(logs.flat());
}

/** Each log once: a node that ignores filters returns the same log for each filter. */
function withoutRepetitions(logs: readonly LogFact[]): LogFact[] {
  return [...new Map(logs.map((log) => [`${log.blockHash}:${log.logIndex}`, log])).values()];
}

/**
 * Logs of one block from one node that has the block, with all filters in one HTTP request.
 * @throws RpcFault also of kind `batchRefused` if the endpoint takes no batches, so that it is unknown which
 * node would answer
 */
export async function fetchBlockLogs(
  transport: Pick<RpcTransport, "requestBatch">,
  question: LogQuestion,
  { number, hash }: Pick<BlockRef, "number" | "hash">,
): Promise<LogFact[]> {
  return await fetchTogether(transport, withCounting(question, createLogNode()), {
    from: number,
    to: number,
    hashes: new Map([[number, hash]]),
  });
}

/** The last block is read before and after the logs, because a node may adopt or abandon it in between. */
async function fetchTogether(
  transport: Pick<RpcTransport, "requestBatch">,
  question: CountedQuestion,
  range: BlockRange,
): Promise<LogFact[]> {
  const { from, to, hashes } = range;
  const readLastBlock = { method: BY_NUMBER, params: [toQuantity(to), false] };
  const blocks = { fromBlock: toQuantity(from), toBlock: toQuantity(to) };
  const logRequests = question.filters.map((filter) => ({
    method: "eth_getLogs",
    params: [{ ...blocks, ...filter }],
  }));
  const [before, ...answers] = await transport.requestBatch([readLastBlock, ...logRequests, readLastBlock]);
  const after = answers.pop();
  const { hash } = blockAt(readBlock(before, BY_NUMBER), to, hashes.get(to));
  blockAt(readBlock(after, BY_NUMBER), to, hash);
  const rangeWithHash = { from, to, hashes: new Map(hashes).set(to, hash) };
  return withoutRepetitions(answers.flatMap((answer) => logsIn(answer, question, rangeWithHash)));
}

const BY_NUMBER = "eth_getBlockByNumber";

function blockAt(block: BlockRef | undefined, number: bigint, hash: Hex | undefined): BlockRef {
  if (block?.number !== number) throw inconsistent(BY_NUMBER, `block ${number} is missing`);
  if (hash !== undefined && block.hash !== hash)
    throw inconsistent(BY_NUMBER, `block ${number} changed during the read`);
  return block;
}

/**
 * The requested logs. A log of another block means that the answer is to another request. A log that only the
 * filter excludes is dropped, because some nodes ignore part of the filter.
 */
function logsIn(answer: unknown, question: CountedQuestion, range: BlockRange): LogFact[] {
  const method = "eth_getLogs";
  const logs = readLogs(answer, method);
  for (const log of logs) {
    if (log.blockNumber < range.from || log.blockNumber > range.to)
      throw garbage(method, "log is outside the requested block range");
    const hash = range.hashes.get(log.blockNumber);
    if (hash !== undefined && log.blockHash !== hash)
      throw inconsistent(method, `block ${log.blockNumber} has a different hash`);
  }
  const requested = logs.filter((log) => question.accepts(log));
  if (requested.length < logs.length) question.onUnrequestedLogs(logs.length - requested.length);
  return requested;
}

/** Number and interval of retries for a mined transaction that the node still shows as pending. */
const POOLED_TRIES = 5;
const POOLED_PAUSE_MS = 5;

/** The transactions of the logs: their sender, and the calldata that may contain an id. */
async function fetchTransactions(
  transport: RpcTransport,
  logs: readonly LogFact[],
): Promise<Map<Hex, TransactionFact>> {
  const method = "eth_getTransactionByHash";
  const blockOf = new Map(logs.map((log) => [log.txHash, log.blockHash]));
  const entries = await Promise.all(
    [...blockOf].map(async ([hash, blockHash]) => {
      for (let attempt = 1; ; attempt++) {
        const read = readTransaction(await transport.request(method, [hash]), hash);
        if (read?.blockHash === blockHash) return [hash, read.transaction] as const;
        // Some nodes return a block's logs just before they remove its transactions from their pool.
        const isStillPooled = read !== undefined && read.blockHash === undefined;
        if (!isStillPooled || attempt === POOLED_TRIES)
          throw inconsistent(method, "transaction was reorged out of its block");
        await sleep(POOLED_PAUSE_MS);
      }
    }),
  );
  return new Map(entries);
}
