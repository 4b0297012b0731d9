import type { TxHash } from "@causeway/domain";
import { garbage, inconsistent, type Evidence } from "@causeway/families";
import {
  finalityOf,
  headTagOf,
  readReceipt,
  readTransaction,
  type BlockRef,
  type ReceiptFact,
  type TransactionFact,
  type EvmFacts,
} from "@causeway/families/evm";
import { finalBlockReads, type FinalBlockReads } from "./final-block-reads.ts";
import { createFactCache, singleFlight } from "./fact-cache.ts";
import { createSightings } from "./sighting.ts";
import type { RpcTransport } from "../nodes/transport.ts";

/** A transaction in a final block, successful or not. */
export interface FinalTransaction {
  readonly receipt: ReceiptFact;
  readonly block: BlockRef;
}

export interface FinalReads extends FinalBlockReads {
  /** The receipt of a transaction, once its block is final. @throws RpcFault */
  transaction(hash: TxHash): Promise<Evidence<FinalTransaction>>;
  /**
   * Sender, recipient, value and input of a final transaction.
   * @param prefetched the result of {@link prefetchContent}
   *
   * @throws RpcFault
   */
  content(final: FinalTransaction, prefetched?: PrefetchedContent): Promise<TransactionFact>;
  /** Starts to read what {@link content} will return, while the receipt is read. Never rejects. */
  prefetchContent(hash: TxHash): PrefetchedContent;
}

/** A transaction in any block or pending; undefined if the read failed or was unnecessary. */
export type PrefetchedContent = Promise<ReturnType<typeof readTransaction>>;

export interface FinalReadOptions {
  /** Maximum number of cached final transactions. */
  readonly maxCachedTransactions: number;
  /** Milliseconds for which a final block is reused for state reads. */
  readonly finalBlockReuseMs: number;
}

/** Maximum bytes of a cached receipt or transaction, so that one does not displace all others. */
const MAX_CACHED_ENTRY_BYTES = 64 * 1024;
/** Maximum bytes of cached receipts, and of cached transactions, per endpoint. */
const MAX_CACHE_BYTES = 4 * 1024 * 1024;

/**
 * Reads final facts from one endpoint.
 *
 * Reads by transaction are compared with the canonical block at its height afterwards; reads of state are by
 * block hash. Only final facts are cached.
 */
export function createFinalReads(
  transport: RpcTransport,
  facts: Pick<EvmFacts, "finality" | "blockTimeSeconds">,
  options: FinalReadOptions,
): FinalReads {
  const { finality: policy, blockTimeSeconds } = facts;
  const sight = createSightings(transport, headTagOf(policy));
  const blocks = finalBlockReads(transport, facts, { reuseMs: options.finalBlockReuseMs, sight });
  const cacheLimits = { entries: options.maxCachedTransactions, bytes: MAX_CACHE_BYTES };
  const transactions = createFactCache<FinalTransaction>({
    ...cacheLimits,
    sizeOf: ({ receipt }) => sizeOf(receipt),
  });
  const contents = createFactCache<TransactionFact>({
    ...cacheLimits,
    sizeOf: ({ input }) => input.length + 512,
  });
  const settling = singleFlight<Evidence<FinalTransaction>>();
  const fetching = singleFlight<ReturnType<typeof readTransaction>>();

  const fetchContent = async (hash: TxHash): PrefetchedContent =>
    await fetching(hash, async () =>
      readTransaction(await transport.request("eth_getTransactionByHash", [hash]), hash),
    );

  /** Why the receipt is missing: the transaction is pending or unknown. */
  const explainMissingReceipt = async (hash: TxHash): Promise<Evidence<never>> => {
    const transaction = await fetchContent(hash);
    if (transaction === undefined) return { kind: "absent" };
    if (transaction.blockHash !== undefined)
      throw inconsistent("eth_getTransactionReceipt", "transaction is mined but has no receipt");
    return {
      kind: "notFinal",
      reason: "transaction is not mined yet",
      retryAfterSeconds: Math.max(1, Math.ceil(blockTimeSeconds)),
    };
  };

  const settle = async (hash: TxHash): Promise<Evidence<FinalTransaction>> => {
    const method = "eth_getTransactionReceipt";
    const receipt = readReceipt(await transport.request(method, [hash]), hash);
    if (receipt === undefined) return await explainMissingReceipt(hash);
    checkLogs(receipt);
    const { block, head } = await sight(receipt.blockNumber);
    if (block === undefined) throw inconsistent(method, "receipt names a block unknown to the node");
    if (block.hash !== receipt.blockHash)
      throw inconsistent(method, "receipt's block is not the block at its height");
    const finality = finalityOf(policy, block, head, blockTimeSeconds);
    if (finality.kind === "notFinal") return finality;
    const value: FinalTransaction = { receipt, block };
    if (sizeOf(receipt) <= MAX_CACHED_ENTRY_BYTES) transactions.set(hash, value);
    return { kind: "final", value };
  };

  return {
    transaction: async (hash) => {
      const cached = transactions.get(hash);
      if (cached !== undefined) return { kind: "final", value: cached };
      return await settling(hash, async () => await settle(hash));
    },
    prefetchContent: async (hash) => {
      if (contents.get(hash) !== undefined) return undefined;
      // Ignore the fault: `content` reads again and throws it. For an absent transaction, it does not matter.
      return await fetchContent(hash).catch(() => undefined);
    },
    content: async ({ receipt }, prefetched) => {
      const cached = contents.get(receipt.txHash);
      if (cached !== undefined) return cached;
      const prefetchedTransaction = await prefetched;
      // A transaction that was read just before it was mined has no block: read it again.
      const read =
        prefetchedTransaction?.blockHash === receipt.blockHash
          ? prefetchedTransaction
          : await fetchContent(receipt.txHash);
      if (read?.blockHash !== receipt.blockHash)
        throw inconsistent("eth_getTransactionByHash", "transaction is not in its receipt's block");
      if (read.transaction.input.length <= MAX_CACHED_ENTRY_BYTES)
        contents.set(receipt.txHash, read.transaction);
      return read.transaction;
    },
    ...blocks,
  };
}

/** Log indexes identify deposits permanently, so they must be block-wide and unique. */
function checkLogs({ logs, blockNumber }: ReceiptFact): void {
  const method = "eth_getTransactionReceipt";
  const seen = new Set<number>();
  for (const log of logs) {
    if (log.blockNumber !== blockNumber) throw garbage(method, "log belongs to a different block");
    if (!Number.isSafeInteger(log.logIndex) || seen.has(log.logIndex))
      throw garbage(method, "log indexes are not unique");
    seen.add(log.logIndex);
  }
}

/** Approximate size in memory: the fields of a log except its data, mainly hashes, take about 1 KiB. */
function sizeOf({ logs }: ReceiptFact): number {
  return logs.reduce((sum, log) => sum + log.data.length + 1_024, 1_024);
}
