import type { Address, TxHash } from "@causeway/domain";
import {
  addressTopic,
  rangeOf,
  readBlockTransactions,
  readReceipt,
  TRANSFER_TOPIC,
  type BlockRange,
  type BlockRef,
  type ReceiptFact,
  type TopUpFact,
  type TransactionFact,
} from "@causeway/families/evm";
import { fetchRangeLogs, type LogNode } from "./range-logs.ts";
import { inconsistent } from "@causeway/families";
import { isMarkedNativeTransfer, isTransferToSolver, nativeTopUp, tokenTopUps } from "./top-ups.ts";
import type { TopUpQuestion } from "./top-ups.ts";
import type { RpcTransport } from "../nodes/transport.ts";

/** Maximum whole blocks per request, since blocks can be large. */
const MAX_CONCURRENT_BLOCKS = 10;

/**
 * Top-ups in blocks of the followed chain: one log query for tokens. Native transfers emit no log, so they
 * are read from the blocks themselves, each by its hash.
 * @param blocks consecutive, ascending
 * @throws RpcFault when an answer is about other blocks
 */
export async function fetchTopUps(
  transport: RpcTransport,
  question: TopUpQuestion,
  blocks: readonly BlockRef[],
  logNode?: LogNode,
): Promise<TopUpFact[]> {
  if (blocks.length === 0) return [];
  const [tokenTransfers, native] = await Promise.all([
    fetchTokenTopUps(transport, question, rangeOf(blocks), logNode),
    fetchNativeTopUps(transport, question.solver, blocks),
  ]);
  return [...tokenTransfers, ...native];
}

/** Top-ups by token transfers. @throws RpcFault when an answer is about other blocks */
export async function fetchTokenTopUps(
  transport: RpcTransport,
  question: TopUpQuestion,
  range: BlockRange,
  logNode?: LogNode,
): Promise<TopUpFact[]> {
  // An empty list of addresses means "any" to nodes.
  if (question.tokens.size === 0 || range.from > range.to) return [];
  const filter = {
    address: [...question.tokens],
    topics: [TRANSFER_TOPIC, null, addressTopic(question.solver)],
  };
  const { logs, transactions } = await fetchRangeLogs(
    transport,
    { filters: [filter], accepts: (log) => isTransferToSolver(question, log) },
    range,
    logNode,
  );
  return tokenTopUps(question, logs, transactions);
}

async function fetchNativeTopUps(
  transport: RpcTransport,
  solver: Address,
  blocks: readonly BlockRef[],
): Promise<TopUpFact[]> {
  const topUps: TopUpFact[] = [];
  for (let start = 0; start < blocks.length; start += MAX_CONCURRENT_BLOCKS) {
    const batch = await Promise.all(
      blocks
        .slice(start, start + MAX_CONCURRENT_BLOCKS)
        .map((block) => nativeTopUpsIn(transport, solver, block)),
    );
    topUps.push(...batch.flat());
  }
  return topUps;
}

async function nativeTopUpsIn(
  transport: RpcTransport,
  solver: Address,
  block: BlockRef,
): Promise<TopUpFact[]> {
  const method = "eth_getBlockByHash";
  const transactions = readBlockTransactions(
    await transport.request(method, [block.hash, true]),
    block.hash,
    // Other transactions of a block are not parsed, because unknown types may have other fields.
    (to) => to === solver,
  );
  const marked = transactions.filter((transaction) => isMarkedNativeTransfer(solver, transaction));
  const mined = await Promise.all(
    marked.map(async (transaction) => ({
      transaction,
      receipt: await receiptIn(transport, block, transaction.hash),
    })),
  );
  return mined.flatMap(({ transaction, receipt }) => nativeTopUp(solver, transaction, receipt) ?? []);
}

async function receiptIn(transport: RpcTransport, block: BlockRef, hash: TxHash): Promise<ReceiptFact> {
  const method = "eth_getTransactionReceipt";
  const receipt = readReceipt(await transport.request(method, [hash]), hash);
  if (receipt?.blockHash !== block.hash)
    throw inconsistent(method, "transaction was reorged out of its block");
  return receipt;
}

/** Top-ups of one mined transaction. */
export function topUpsOf(
  question: TopUpQuestion,
  transaction: TransactionFact,
  receipt: ReceiptFact,
): TopUpFact[] {
  if (receipt.status !== "success") return [];
  const native = nativeTopUp(question.solver, transaction, receipt);
  return [
    ...tokenTopUps(question, receipt.logs, new Map([[receipt.txHash, transaction]])),
    ...(native === undefined ? [] : [native]),
  ];
}
