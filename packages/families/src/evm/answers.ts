import type { Address, Hex, TxHash } from "@causeway/domain";
import type { BlockRef, LogFact, ReceiptFact, TransactionFact } from "./port.ts";
import { garbage, type RpcFault } from "../rpc-fault.ts";

/**
 * Turns a node's answers into facts, or throws an {@link RpcFault}: a missing field is never guessed. Pure.
 */

type Fields = Readonly<Record<string, unknown>>;

/** A block header as in `eth_getBlockBy…` and `newHeads`; undefined for `null`. @throws RpcFault */
export function readBlock(value: unknown, method: string): BlockRef | undefined {
  if (value === null) return undefined;
  const fields = fieldsOf(value, method);
  return {
    number: readQuantity(fields, "number", method),
    hash: readHash(fields, "hash", method),
    parentHash: readHash(fields, "parentHash", method),
    timestamp: readQuantity(fields, "timestamp", method),
    baseFeePerGas:
      fields["baseFeePerGas"] === undefined || fields["baseFeePerGas"] === null
        ? undefined
        : readQuantity(fields, "baseFeePerGas", method),
  };
}

/**
 * A transaction and its block, if any; undefined for `null`.
 *
 * @throws RpcFault if it is another transaction
 */
export function readTransaction(
  value: unknown,
  requestedHash: TxHash,
): { readonly transaction: TransactionFact; readonly blockHash: Hex | undefined } | undefined {
  const method = "eth_getTransactionByHash";
  if (value === null) return undefined;
  const fields = fieldsOf(value, method);
  const transaction = {
    ...transactionOf(fields, method),
    ...feeCapOf(fields, method),
    ...(!isAbsent(fields["gas"]) && { gasLimit: readQuantity(fields, "gas", method) }),
  };
  if (transaction.hash !== requestedHash) throw garbage(method, "response concerns a different transaction");
  return {
    transaction,
    blockHash: isAbsent(fields["blockHash"]) ? undefined : readHash(fields, "blockHash", method),
  };
}

/**
 * The transactions of a whole block to a `wanted` address.
 *
 * @throws RpcFault if it is another block, or incomplete
 */
export function readBlockTransactions(
  value: unknown,
  requestedHash: Hex,
  isWanted: (to: Address) => boolean,
): TransactionFact[] {
  const method = "eth_getBlockByHash";
  const block = fieldsOf(value, method);
  if (readHash(block, "hash", method) !== requestedHash)
    throw garbage(method, "response concerns a different block");
  const transactions = block["transactions"];
  if (!Array.isArray(transactions)) throw garbage(method, "transactions are missing");
  return transactions.flatMap((entry: unknown) => {
    const fields = fieldsOf(entry, method);
    if (isAbsent(fields["to"]) || !isWanted(readAddress(fields, "to", method))) return [];
    return [transactionOf(fields, method)];
  });
}

function transactionOf(fields: Fields, method: string): TransactionFact {
  const nonce = readQuantity(fields, "nonce", method);
  if (nonce > BigInt(Number.MAX_SAFE_INTEGER)) throw garbage(method, "nonce is out of range");
  return {
    hash: readHash(fields, "hash", method),
    from: readAddress(fields, "from", method),
    to: isAbsent(fields["to"]) ? undefined : readAddress(fields, "to", method),
    input: readBytes(fields, "input", method),
    value: readQuantity(fields, "value", method),
    nonce: Number(nonce),
  };
}

/** The maximum fee per gas of a transaction; a legacy transaction has only one price. */
function feeCapOf(fields: Fields, method: string): Pick<TransactionFact, "maxFeePerGas"> {
  const name = isAbsent(fields["maxFeePerGas"]) ? "gasPrice" : "maxFeePerGas";
  return isAbsent(fields[name]) ? {} : { maxFeePerGas: readQuantity(fields, name, method) };
}

/**
 * A receipt with all its logs; undefined for `null`.
 *
 * @throws RpcFault when it is another receipt or has no status
 */
export function readReceipt(value: unknown, requestedHash: TxHash): ReceiptFact | undefined {
  const method = "eth_getTransactionReceipt";
  if (value === null) return undefined;
  const fields = fieldsOf(value, method);
  const txHash = readHash(fields, "transactionHash", method);
  if (txHash !== requestedHash) throw garbage(method, "response concerns a different transaction");
  // Some nodes serve a receipt without block fields for a moment after sealing.
  const blockHash = readHash(fields, "blockHash", method);
  const status = fields["status"];
  if (status !== "0x1" && status !== "0x0") throw garbage(method, "status is missing");
  const logs = fields["logs"];
  if (!Array.isArray(logs)) throw garbage(method, "logs are missing");
  const readLogs = logs.map((log: unknown) => readLog(log, method));
  if (readLogs.some((log) => log.txHash !== txHash || log.blockHash !== blockHash)) {
    throw garbage(method, "log belongs to a different transaction or block");
  }
  return {
    txHash,
    status: status === "0x1" ? "success" : "reverted",
    blockNumber: readQuantity(fields, "blockNumber", method),
    blockHash,
    ...readPrice(fields, method),
    logs: readLogs,
  };
}

/** The gas used, and the total cost per unit of gas. */
function readPrice(fields: Fields, method: string): Pick<ReceiptFact, "gasUsed" | "effectiveGasPrice"> {
  const gasUsed = readQuantity(fields, "gasUsed", method);
  // Only nodes older than EIP-1559 omit this field.
  const price = readQuantity(fields, "effectiveGasPrice", method);
  // Rollups charge the sender for the transaction's bytes as well, and report it separately from the gas
  // price.
  const dataFee = isAbsent(fields["l1Fee"]) ? 0n : readQuantity(fields, "l1Fee", method);
  if (dataFee === 0n || gasUsed === 0n) return { gasUsed, effectiveGasPrice: price };
  return { gasUsed, effectiveGasPrice: price + (dataFee + gasUsed - 1n) / gasUsed };
}

/** One log of a mined block. @throws RpcFault also when the node marks it as removed. */
export function readLog(value: unknown, method: string): LogFact {
  const fields = fieldsOf(value, method);
  if (fields["removed"] === true) throw garbage(method, "log is marked as removed");
  const topics = fields["topics"];
  if (!Array.isArray(topics) || topics.length > 4) throw garbage(method, "topics are missing");
  const logIndex = readQuantity(fields, "logIndex", method);
  return {
    address: readAddress(fields, "address", method),
    topics: topics.map((topic: unknown) => readHash({ topic }, "topic", method)),
    data: readBytes(fields, "data", method),
    logIndex: Number(logIndex),
    blockNumber: readQuantity(fields, "blockNumber", method),
    blockHash: readHash(fields, "blockHash", method),
    txHash: readHash(fields, "transactionHash", method),
  };
}

/** The answer of `eth_getLogs`. @throws RpcFault */
export function readLogs(value: unknown, method: string): LogFact[] {
  if (!Array.isArray(value)) throw garbage(method, "response is not a list");
  return value.map((log: unknown) => readLog(log, method));
}

/** A JSON-RPC quantity (`0x` hex, at most 256 bits). @throws RpcFault */
export function quantityOf(value: unknown, method: string, name = "result"): bigint {
  if (typeof value !== "string" || !QUANTITY.test(value)) throw missing(method, name);
  return BigInt(value);
}

/** Bytes, lower case. @throws RpcFault */
export function bytesOf(value: unknown, method: string, name = "result"): Hex {
  if (typeof value !== "string" || value.length % 2 !== 0 || !BYTES.test(value)) throw missing(method, name);
  return value.toLowerCase() as Hex;
}

/** 32 bytes, lower case. @throws RpcFault */
export function hashOf(value: unknown, method: string, name = "result"): Hex {
  if (typeof value !== "string" || !HASH.test(value)) throw missing(method, name);
  return value.toLowerCase() as Hex;
}

/** The fields of an object. @throws RpcFault */
export function fieldsOf(value: unknown, method: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw garbage(method, "response is not an object");
  }
  return value as Fields;
}

/** `0x` hex of a number without leading zeros, as nodes require. */
export function toQuantity(value: bigint | number): Hex {
  return `0x${value.toString(16)}`;
}

const QUANTITY = /^0x[0-9a-f]{1,64}$/i;
const BYTES = /^0x[0-9a-f]*$/i;
const HASH = /^0x[0-9a-f]{64}$/i;
const ADDRESS = /^0x[0-9a-f]{40}$/i;

function readQuantity(fields: Fields, name: string, method: string): bigint {
  return quantityOf(fields[name], method, name);
}

function readBytes(fields: Fields, name: string, method: string): Hex {
  return bytesOf(fields[name], method, name);
}

function readHash(fields: Fields, name: string, method: string): Hex {
  return hashOf(fields[name], method, name);
}

function readAddress(fields: Fields, name: string, method: string): Address {
  const value = fields[name];
  if (typeof value !== "string" || !ADDRESS.test(value)) throw missing(method, name);
  return value.toLowerCase() as Address;
}

function isAbsent(value: unknown): boolean {
  return value === null || value === undefined;
}

function missing(method: string, name: string): RpcFault {
  return garbage(method, `${name} is missing or malformed`);
}
