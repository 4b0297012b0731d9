import { sha256x2 } from "@scure/btc-signer/utils.js";
import { garbage } from "../rpc-fault.ts";
import { bytesIn, idOf, readRawTransaction, type BitcoinTransaction } from "./answers/raw-transaction.ts";

/** Parses the responses of nodes and explorers. Pure. Anything other than what was requested is a fault. */

/** A transaction, and its block according to the node. */
export interface PlacedTransaction {
  readonly transaction: BitcoinTransaction;
  /** Undefined: the transaction is unconfirmed. */
  readonly blockHash: string | undefined;
}

/** @throws RpcFault unless the bytes are those of the requested transaction */
export function readPlaced(answer: unknown, txid: string): PlacedTransaction {
  const { hex, blockhash } = fieldsOf("getrawtransaction", answer);
  if (blockhash !== undefined && blockhash !== null && !isHash(blockhash))
    throw garbage("getrawtransaction", "block hash is not valid");
  return { transaction: readBytes(hex, txid), blockHash: isHash(blockhash) ? blockhash : undefined };
}

/** A transaction's bytes. They need no further proof, because their hash is its id. @throws RpcFault */
export function readBytes(hex: unknown, txid: string): BitcoinTransaction {
  const bytes = typeof hex === "string" ? bytesIn(hex) : undefined;
  const transaction = bytes === undefined ? undefined : readRawTransaction(bytes);
  if (transaction?.txid !== txid) throw garbage("getrawtransaction", "bytes do not match the transaction id");
  return transaction;
}

export interface BlockStatus {
  readonly height: number;
  /** Less than 1: not in the node's current chain. */
  readonly confirmations: number;
}

/** @throws RpcFault */
export function readBlockStatus(answer: unknown, blockHash: string): BlockStatus {
  const { hash, height, confirmations } = fieldsOf("getblockheader", answer);
  if (hash !== blockHash) throw garbage("getblockheader", "header belongs to a different block");
  if (!isInteger(height) || height < 0 || !isInteger(confirmations))
    throw garbage("getblockheader", "block height or confirmations are not a number");
  return { height, confirmations };
}

/**
 * Time of a header, Unix seconds. Its bytes need no further proof, because their hash is the block's.
 *
 * @throws RpcFault
 */
export function readBlockTime(answer: unknown, blockHash: string): bigint {
  const bytes = typeof answer === "string" ? bytesIn(answer) : undefined;
  if (bytes?.length !== 80 || idOf(sha256x2(bytes)) !== blockHash)
    throw garbage("getblockheader", "bytes do not match the block header");
  return BigInt(new DataView(bytes.buffer).getUint32(68, true));
}

/** A block's bytes. Its header needs no further proof. @throws RpcFault */
export function readBlockBytes(answer: unknown, blockHash: string): Uint8Array {
  const bytes = typeof answer === "string" ? bytesIn(answer) : undefined;
  if (bytes === undefined || bytes.length <= 80 || idOf(sha256x2(bytes.subarray(0, 80))) !== blockHash)
    throw garbage("getblock", "bytes do not match the block");
  return bytes;
}

/** @throws RpcFault */
export function readBlockHash(answer: unknown): string {
  if (!isHash(answer)) throw garbage("getblockhash", "block hash is not valid");
  return answer;
}

/** The transaction that spent an output according to an explorer; undefined if none did. */
export type ReportedSpend = { readonly txid: string; readonly isConfirmed: boolean } | undefined;

/** @throws RpcFault */
export function readOutspend(answer: unknown): ReportedSpend {
  const { spent, txid, status } = fieldsOf("outspend", answer);
  if (spent === false) return undefined;
  const confirmed = fieldsOf("outspend", status)["confirmed"];
  if (spent !== true || !isHash(txid) || typeof confirmed !== "boolean")
    throw garbage("outspend", "response does not state whether the output is spent");
  return { txid, isConfirmed: confirmed };
}

/** An output that an explorer lists as unspent. */
export interface ReportedOutput {
  readonly txid: string;
  readonly vout: number;
  /** Satoshis. */
  readonly amount: bigint;
  readonly isConfirmed: boolean;
}

/** @throws RpcFault */
export function readUnspentOutputs(answer: unknown): readonly ReportedOutput[] {
  if (!Array.isArray(answer)) throw garbage("utxo", "response is not a list");
  return (answer as unknown[]).map((entry) => {
    const { txid, vout, value, status } = fieldsOf("utxo", entry);
    const confirmed = fieldsOf("utxo", status)["confirmed"];
    if (!isHash(txid) || !isInteger(vout) || !isInteger(value) || value < 0 || typeof confirmed !== "boolean")
      throw garbage("utxo", "entry is not an output");
    return { txid, vout, amount: BigInt(value), isConfirmed: confirmed };
  });
}

/** An output that a node found in its set of unspent outputs. */
export interface ScannedOutput extends ReportedOutput {
  /** Lower-case hex. */
  readonly script: string;
}

/** Reads an answer of `scantxoutset`. Its amounts are decimal numbers of bitcoin. @throws RpcFault */
export function readScannedOutputs(answer: unknown): readonly ScannedOutput[] {
  const method = "scantxoutset";
  const { success, unspents } = fieldsOf(method, answer);
  if (success !== true || !Array.isArray(unspents)) throw garbage(method, "scan is not complete");
  return (unspents as unknown[]).map((entry) => {
    const { txid, vout, amount, scriptPubKey } = fieldsOf(method, entry);
    const satoshis = typeof amount === "number" ? Math.round(amount * 1e8) : -1;
    if (!isHash(txid) || !isInteger(vout) || !isInteger(satoshis) || satoshis < 0)
      throw garbage(method, "entry is not an output");
    if (typeof scriptPubKey !== "string") throw garbage(method, "entry has no script");
    return { txid, vout, amount: BigInt(satoshis), isConfirmed: true, script: scriptPubKey };
  });
}

/**
 * Fee rate for inclusion in one of the next blocks, in satoshis per 1000 virtual bytes; undefined if the
 * explorer has no estimate.
 *
 * @throws RpcFault
 */
export function readFeeRate(answer: unknown, withinBlocks: number): bigint | undefined {
  const estimates = fieldsOf("fee-estimates", answer);
  const targets = Object.keys(estimates)
    .map(Number)
    .filter((blocks) => Number.isInteger(blocks) && blocks <= withinBlocks);
  const rate = estimates[String(Math.max(...targets))];
  return typeof rate === "number" && rate > 0 && Number.isFinite(rate)
    ? BigInt(Math.ceil(rate * 1_000))
    : undefined;
}

/**
 * Reads an answer of `estimatesmartfee`, in satoshis per 1000 virtual bytes; undefined if the node has no
 * estimate.
 *
 * @throws RpcFault
 */
export function readNodeFeeRate(answer: unknown): bigint | undefined {
  const { feerate } = fieldsOf("estimatesmartfee", answer);
  return typeof feerate === "number" && feerate > 0 && Number.isFinite(feerate)
    ? BigInt(Math.round(feerate * 1e8))
    : undefined;
}

/** 32 bytes of lowercase hex without `0x`, Bitcoin's format of hashes. */
export function isHash(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
}

export function fieldsOf(method: string, value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw garbage(method, "response is not an object");
  return value as Readonly<Record<string, unknown>>;
}

export function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
