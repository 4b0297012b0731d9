import type { Hex } from "@causeway/domain";
import type { BlockRef, ReceiptFact, TransactionFact } from "../evm/port.ts";
import { garbage, inconsistent } from "../rpc-fault.ts";
import type { TransactionContent, TransactionInfo, TronBlock } from "./answers.ts";

/** Makes one story of what a node's two interfaces tell of a transaction, or none. Pure. */

/** A transaction in a solid block, in the words in which all chains with this virtual machine are judged. */
export interface SolidTransaction {
  readonly receipt: ReceiptFact;
  readonly block: BlockRef;
  /** The word for why it failed; undefined when it did not. */
  readonly failure: string | undefined;
  readonly transaction: TransactionFact;
  /** `0x` when it has none. */
  readonly memo: Hex;
}

/** What was told of one transaction, by whom: its own interface's solid view, and the JSON-RPC's receipt. */
export interface Reported {
  readonly info: TransactionInfo;
  readonly content: TransactionContent;
  readonly receipt: ReceiptFact;
  /** The solid block at the height that is told. */
  readonly block: TronBlock;
}

/** @throws RpcFault when they contradict each other */
export function solidTransaction(hash: Hex, { info, content, receipt, block }: Reported): SolidTransaction {
  checkSameBlock(info, receipt, block);
  checkSameLogs(info, receipt);
  return {
    receipt,
    block: blockRef(block),
    failure: sameFailure(info, content, receipt),
    transaction: factOf(hash, content),
    memo: content.memo,
  };
}

function checkSameBlock(info: TransactionInfo, receipt: ReceiptFact, block: TronBlock): void {
  const method = "eth_getTransactionReceipt";
  if (receipt.blockNumber !== info.blockNumber || receipt.blockHash !== block.id)
    throw inconsistent(method, "the receipt's block is not the solid one at its height");
  if (block.timestampMs !== info.blockTimeMs)
    throw inconsistent(
      "gettransactioninfobyid",
      "/jsonrpc and /walletsolidity return different times for the transaction's block",
    );
}

/**
 * Both interfaces show the same logs, and the second where they stand in the block: that names deposits for
 * good, so it must be unique.
 */
function checkSameLogs(info: TransactionInfo, receipt: ReceiptFact): void {
  const method = "eth_getTransactionReceipt";
  let last = -1;
  for (const [at, log] of receipt.logs.entries()) {
    const other = info.logs[at];
    const isSame =
      other?.address === log.address &&
      other.data === log.data &&
      other.topics.join() === log.topics.join() &&
      log.blockNumber === receipt.blockNumber;
    if (!isSame) throw inconsistent(method, "/jsonrpc and /walletsolidity return different logs");
    if (!Number.isSafeInteger(log.logIndex) || log.logIndex <= last)
      throw garbage(method, "log indexes are not ascending");
    last = log.logIndex;
  }
  if (info.logs.length !== receipt.logs.length)
    throw inconsistent(method, "/jsonrpc and /walletsolidity return different logs");
}

/** Why it failed, when all that is said of it agrees that it did. */
function sameFailure(
  info: TransactionInfo,
  content: TransactionContent,
  receipt: ReceiptFact,
): string | undefined {
  const hasFailed = content.failure !== undefined;
  if ((info.failure !== undefined) !== hasFailed || (receipt.status === "reverted") !== hasFailed)
    throw inconsistent(
      "gettransactioninfobyid",
      "/jsonrpc and /walletsolidity disagree on whether the transaction failed",
    );
  return content.failure;
}

function factOf(hash: Hex, { owner, to, input, value }: TransactionContent): TransactionFact {
  // Without an owner it ran no contract and paid nobody: nothing is ever asked about its sender.
  return { hash, from: owner ?? "0x0000000000000000000000000000000000000000", to, input, value, nonce: 0 };
}

function blockRef(block: TronBlock): BlockRef {
  return {
    number: block.number,
    hash: block.id,
    parentHash: block.parentId,
    timestamp: secondsOf(block),
    baseFeePerGas: undefined,
  };
}

/** As contracts see it, Unix seconds. */
export function secondsOf({ timestampMs }: TronBlock): bigint {
  return timestampMs / 1_000n;
}
