import type { Hex } from "@causeway/domain";
import type { BlockRef, ReceiptFact, TransactionFact } from "../../evm/port.ts";
import { garbage, inconsistent } from "../../rpc-fault.ts";
import type { TransactionContent, TransactionInfo, TronBlock } from "../answers.ts";

/** Merges a node's two views of a transaction into one, if they agree. Pure. */

/** A transaction in a solid block, in the format of EVM transactions. */
export interface SolidTransaction {
  readonly receipt: ReceiptFact;
  readonly block: BlockRef;
  /** Why the transaction failed; undefined if it succeeded. */
  readonly failure: string | undefined;
  readonly transaction: TransactionFact;
  /** `0x` if the transaction has no memo. */
  readonly memo: Hex;
}

/** Both views of a transaction: the solid view of Tron's own API, and the JSON-RPC receipt. */
export interface Reported {
  readonly info: TransactionInfo;
  readonly content: TransactionContent;
  readonly receipt: ReceiptFact;
  /** The solid block at the reported height. */
  readonly block: TronBlock;
}

/** @throws RpcFault if they contradict each other */
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
 * Requires the same logs in both views. Only the receipt contains their positions in the block, which
 * identify deposits permanently and must be unique.
 */
function checkSameLogs(info: TransactionInfo, receipt: ReceiptFact): void {
  const method = "eth_getTransactionReceipt";
  let last = -1;
  for (const [index, log] of receipt.logs.entries()) {
    const infoLog = info.logs[index];
    const isSame =
      infoLog?.address === log.address &&
      infoLog.data === log.data &&
      infoLog.topics.join() === log.topics.join() &&
      log.blockNumber === receipt.blockNumber;
    if (!isSame) throw inconsistent(method, "/jsonrpc and /walletsolidity return different logs");
    if (!Number.isSafeInteger(log.logIndex) || log.logIndex <= last)
      throw garbage(method, "log indexes are not ascending");
    last = log.logIndex;
  }
  if (info.logs.length !== receipt.logs.length)
    throw inconsistent(method, "/jsonrpc and /walletsolidity return different logs");
}

/** The reason for the failure, if both views agree that it failed. */
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
  // A transaction without an owner neither pays nor calls a contract, so its sender is never needed.
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

/** The block time that contracts see, Unix seconds. */
export function secondsOf({ timestampMs }: TronBlock): bigint {
  return timestampMs / 1_000n;
}
