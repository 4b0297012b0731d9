import type { EvmAttestationFacts, TxHash } from "@causeway/domain";
import type { Evidence } from "../evidence.ts";
import type { BlockRef, ReceiptFact, TransactionFact } from "../family.ts";
import { readReceipt, readTransaction } from "./answers.ts";
import { finalityOf, headTagOf, lowerCandidate } from "./finality.ts";
import { rememberedFacts, singleFlight } from "./remembered-facts.ts";
import { garbage, inconsistent } from "./rpc-fault.ts";
import { createSightings, readHead } from "./sighting.ts";
import type { RpcTransport } from "./transport.ts";

/** A transaction in a final block, successful or not. */
export interface FinalTransaction {
  readonly receipt: ReceiptFact;
  readonly block: BlockRef;
}

export interface FinalReads {
  /** The receipt of a transaction, once its block is final. @throws RpcFault */
  transaction(hash: TxHash): Promise<Evidence<FinalTransaction>>;
  /** Sender, recipient, value and input of a final transaction; `begun` is what {@link beginContent} gave. @throws RpcFault */
  content(final: FinalTransaction, begun?: BegunContent): Promise<TransactionFact>;
  /** Begins to read what {@link content} will be asked for, beside the receipt. Never rejects. */
  beginContent(hash: TxHash): BegunContent;
  /** A final block, the newest by the chain's policy or one a little older. @throws RpcFault */
  block(): Promise<Evidence<BlockRef>>;
  /** That `block` is still canonical and final after something was read at it. @throws RpcFault when it is not */
  confirm(block: BlockRef): Promise<void>;
}

/** A transaction as it was read, in whatever block; undefined when that failed. */
export type BegunContent = Promise<ReturnType<typeof readTransaction>>;

export interface FinalReadOptions {
  /** Most final transactions that are remembered. */
  readonly rememberedTransactions: number;
  /** Milliseconds for which a final block serves for further state reads. */
  readonly finalBlockReuseMs: number;
}

/** Steps down from the head in search of a final block: more than one only where blocks come faster than their nominal time says. */
const MOST_STEPS = 12;
/** Characters of log data up to which a receipt is remembered: whoever pays for a transaction decides how large it is. */
const LARGEST_REMEMBERED = 64 * 1024;

/**
 * Reads what is final at one endpoint.
 *
 * Whatever was read by transaction is compared with the canonical block at its height after the read; whatever was read of the state was asked for by
 * block hash. Only what is final is remembered.
 */
export function createFinalReads(
  transport: RpcTransport,
  facts: Pick<EvmAttestationFacts, "finality" | "blockTimeSeconds">,
  options: FinalReadOptions,
): FinalReads {
  const { finality: policy, blockTimeSeconds } = facts;
  const headTag = headTagOf(policy);
  const sight = createSightings(transport, headTag);
  const transactions = rememberedFacts<FinalTransaction>(options.rememberedTransactions);
  const contents = rememberedFacts<TransactionFact>(options.rememberedTransactions);
  const settling = singleFlight<Evidence<FinalTransaction>>();
  const fetching = singleFlight<ReturnType<typeof readTransaction>>();
  const searching = singleFlight<Evidence<BlockRef>>();
  let kept: { readonly block: Evidence<BlockRef>; readonly untilMs: number } | undefined;

  const fetchContent = async (hash: TxHash): BegunContent =>
    await fetching(hash, async () =>
      readTransaction(await transport.request("eth_getTransactionByHash", [hash]), hash),
    );

  /** Why there is no receipt: the transaction waits, or nobody knows it. */
  const withoutReceipt = async (hash: TxHash): Promise<Evidence<never>> => {
    const known = await fetchContent(hash);
    if (known === undefined) return { kind: "absent" };
    if (known.blockHash !== undefined)
      throw inconsistent("eth_getTransactionReceipt", "mined, but there is no receipt");
    return {
      kind: "notFinal",
      reason: "the transaction is in no block yet",
      retryAfterSeconds: Math.max(1, Math.ceil(blockTimeSeconds)),
    };
  };

  const settle = async (hash: TxHash): Promise<Evidence<FinalTransaction>> => {
    const method = "eth_getTransactionReceipt";
    const receipt = readReceipt(await transport.request(method, [hash]), hash);
    if (receipt === undefined) return await withoutReceipt(hash);
    checkLogs(receipt);
    const { block, head } = await sight(receipt.blockNumber);
    if (block === undefined) throw inconsistent(method, "a receipt of a block that the node does not know");
    if (block.hash !== receipt.blockHash)
      throw inconsistent(method, "the receipt's block is not the one at its height");
    const finality = finalityOf(policy, block, head, blockTimeSeconds);
    if (finality.kind === "notFinal") return finality;
    const value: FinalTransaction = { receipt, block };
    if (sizeOf(receipt) <= LARGEST_REMEMBERED) transactions.set(hash, value);
    return { kind: "final", value };
  };

  const searchBlock = async (): Promise<Evidence<BlockRef>> => {
    let head = await readHead(transport, headTag);
    let block = head;
    for (let step = 0; step < MOST_STEPS; step++) {
      const finality = finalityOf(policy, block, head, blockTimeSeconds);
      if (finality.kind === "final") return { kind: "final", value: block };
      if (policy.kind === "tag")
        throw inconsistent("eth_getBlockByNumber", "the finalized block is not final");
      const number = lowerCandidate(policy, block, head, blockTimeSeconds);
      if (number === undefined) return finality;
      const seen = await sight(number);
      if (seen.block === undefined)
        throw inconsistent("eth_getBlockByNumber", "a block below the head is missing");
      ({ head, block } = { head: seen.head, block: seen.block });
    }
    throw inconsistent("eth_getBlockByNumber", "no final block was found below the head");
  };

  return {
    transaction: async (hash) => {
      const known = transactions.get(hash);
      if (known !== undefined) return { kind: "final", value: known };
      return await settling(hash, async () => await settle(hash));
    },
    beginContent: async (hash) => {
      if (contents.get(hash) !== undefined) return undefined;
      // Whoever needs it asks again and hears of the fault; one about a transaction that turns out to be absent is nobody's business.
      return await fetchContent(hash).catch(() => undefined);
    },
    content: async ({ receipt }, begun) => {
      const known = contents.get(receipt.txHash);
      if (known !== undefined) return known;
      const early = await begun;
      // Read a moment before its block came, it names none.
      const read = early?.blockHash === receipt.blockHash ? early : await fetchContent(receipt.txHash);
      if (read?.blockHash !== receipt.blockHash)
        throw inconsistent("eth_getTransactionByHash", "the transaction is not in its receipt's block");
      if (read.transaction.input.length <= LARGEST_REMEMBERED) contents.set(receipt.txHash, read.transaction);
      return read.transaction;
    },
    block: async () => {
      if (kept !== undefined && performance.now() < kept.untilMs) return kept.block;
      return await searching("block", async () => {
        const block = await searchBlock();
        if (block.kind === "final") kept = { block, untilMs: performance.now() + options.finalBlockReuseMs };
        return block;
      });
    },
    confirm: async (block) => {
      const seen = await sight(block.number);
      const isFinal = finalityOf(policy, block, seen.head, blockTimeSeconds).kind === "final";
      if (seen.block?.hash === block.hash && isFinal) return;
      kept = undefined;
      throw inconsistent("eth_call", "the block of the read is no longer the final one at its height");
    },
  };
}

/** Log indexes name deposits for good, so they must be the block's own and unique. */
function checkLogs({ logs, blockNumber }: ReceiptFact): void {
  const method = "eth_getTransactionReceipt";
  const seen = new Set<number>();
  for (const log of logs) {
    if (log.blockNumber !== blockNumber) throw garbage(method, "a log belongs to another block");
    if (!Number.isSafeInteger(log.logIndex) || seen.has(log.logIndex))
      throw garbage(method, "the logs' indexes are not unique");
    seen.add(log.logIndex);
  }
}

function sizeOf({ logs }: ReceiptFact): number {
  return logs.reduce((sum, log) => sum + log.data.length + 512, 0);
}
