import { bytesOf, sha256, toHex, type Hex } from "@causeway/domain";
import { garbage } from "../rpc-fault.ts";
import { readRawTransaction, type RawTransaction } from "./answers/raw-transaction.ts";
import { InvalidMessage } from "./answers/wire-fields.ts";

/**
 * Turns the answers of Tron's own API into facts, or throws an RpcFault: a missing field is never guessed.
 * Pure.
 */

type Fields = Readonly<Record<string, unknown>>;

/** A block by its header. */
export interface TronBlock {
  readonly number: bigint;
  /** Its first 8 bytes are the number. */
  readonly id: Hex;
  readonly parentId: Hex;
  /** Milliseconds since epoch. */
  readonly timestampMs: bigint;
}

/** The outcome of a transaction. */
export interface TransactionInfo {
  readonly blockNumber: bigint;
  /** Milliseconds since epoch. */
  readonly blockTimeMs: bigint;
  /** Why the transaction failed; undefined if it succeeded. */
  readonly failure: string | undefined;
  readonly logs: readonly { readonly address: Hex; readonly topics: readonly Hex[]; readonly data: Hex }[];
}

/** A transaction, and the reason why it failed. */
export interface TransactionContent extends RawTransaction {
  readonly failure: string | undefined;
}

/**
 * The fields of an answer; undefined for the empty object, which means "not found".
 *
 * @throws RpcFault also for the node's own errors
 */
export function knownFields(value: unknown, method: string): Fields | undefined {
  const fields = fieldsOf(value, method);
  if (fields["Error"] !== undefined) throw garbage(method, "the node returned an error");
  return Object.keys(fields).length === 0 ? undefined : fields;
}

/** A block's header; undefined if the node does not know the block. @throws RpcFault */
export function readBlock(value: unknown, method: string): TronBlock | undefined {
  const fields = knownFields(value, method);
  if (fields === undefined) return undefined;
  const header = fieldsOf(fieldsOf(fields["block_header"], method)["raw_data"], method);
  // The first block's number is zero, and zeros are omitted.
  const number = header["number"] === undefined ? 0n : integer(header, "number", method);
  const id = hash(fields, "blockID", method);
  if (BigInt(id.slice(0, 18)) !== number) throw garbage(method, "block id belongs to a different number");
  return {
    number,
    id,
    parentId: hash(header, "parentHash", method),
    timestampMs: header["timestamp"] === undefined ? 0n : integer(header, "timestamp", method),
  };
}

/**
 * The outcome of a transaction; undefined if it is not in a block.
 *
 * @throws RpcFault if it is about another transaction
 */
export function readInfo(value: unknown, requestedId: Hex): TransactionInfo | undefined {
  const method = "gettransactioninfobyid";
  const fields = knownFields(value, method);
  if (fields === undefined) return undefined;
  if (hash(fields, "id", method) !== requestedId)
    throw garbage(method, "response concerns a different transaction");
  const receipt = fieldsOf(fields["receipt"], method);
  const logs = fields["log"] ?? [];
  if (!Array.isArray(logs)) throw garbage(method, "logs are not a list");
  const result = resultText(receipt["result"], "SUCCESS", method);
  const hasFailed = resultText(fields["result"], "SUCESS", method) === "FAILED";
  return {
    blockNumber: integer(fields, "blockNumber", method),
    blockTimeMs: integer(fields, "blockTimeStamp", method),
    // The default of the wire format means that no contract ran, and is omitted.
    failure: hasFailed || !["SUCCESS", "DEFAULT"].includes(result) ? result : undefined,
    logs: logs.map((log: unknown) => readLog(log, method)),
  };
}

function readLog(value: unknown, method: string): TransactionInfo["logs"][number] {
  const fields = fieldsOf(value, method);
  const topics = fields["topics"] ?? [];
  if (!Array.isArray(topics)) throw garbage(method, "topics are not a list");
  return {
    address: prefixed(fields["address"], /^[0-9a-f]{40}$/, "address", method),
    topics: topics.map((topic: unknown) => prefixed(topic, /^[0-9a-f]{64}$/, "topic", method)),
    data: prefixed(fields["data"] ?? "", /^(?:[0-9a-f]{2})*$/, "data", method),
  };
}

/**
 * A transaction, read from the bytes whose hash is its id, not from the JSON next to them.
 *
 * @throws RpcFault if the bytes are another transaction's
 */
export function readContent(value: unknown, requestedId: Hex): TransactionContent | undefined {
  const method = "gettransactionbyid";
  const fields = knownFields(value, method);
  if (fields === undefined) return undefined;
  const raw = prefixed(fields["raw_data_hex"], /^(?:[0-9a-f]{2})+$/, "raw_data_hex", method);
  if (hash(fields, "txID", method) !== requestedId || toHex(sha256(bytesOf(raw))) !== requestedId)
    throw garbage(method, "response concerns a different transaction");
  const [ret] = Array.isArray(fields["ret"]) ? (fields["ret"] as unknown[]) : [];
  const { contractRet } = fieldsOf(ret, method);
  if (contractRet === undefined) throw garbage(method, "contractRet is missing or malformed");
  const result = resultText(contractRet, "SUCCESS", method);
  try {
    return { ...readRawTransaction(raw), failure: result === "SUCCESS" ? undefined : result };
  } catch (error) {
    if (error instanceof InvalidMessage) throw garbage(method, error.message);
    throw error;
  }
}

/** The result of a simulated call. @throws RpcFault if it failed, or the node did not run it */
export function readConstantResult(value: unknown): Hex {
  const method = "triggerconstantcontract";
  const fields = fieldsOf(value, method);
  const result = fieldsOf(fields["result"], method);
  const [answer, ...extra] = Array.isArray(fields["constant_result"])
    ? (fields["constant_result"] as unknown[])
    : [];
  // For a failed call, the node returns "result": true, a message, and a flag on the transaction.
  const isMarked = JSON.stringify(fields["transaction"] ?? {}).includes('"ret":"FAILED"');
  if (result["result"] !== true || result["message"] !== undefined || isMarked || extra.length > 0)
    throw garbage(method, "the call failed or was not executed");
  return prefixed(answer, /^(?:[0-9a-f]{2})*$/, "constant_result", method);
}

function fieldsOf(value: unknown, method: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw garbage(method, "response is not an object");
  return value as Fields;
}

function integer(fields: Fields, name: string, method: string): bigint {
  const value = fields[name];
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0)
    throw garbage(method, `${name} is missing or malformed`);
  return BigInt(value);
}

function hash(fields: Fields, name: string, method: string): Hex {
  return prefixed(fields[name], /^[0-9a-f]{64}$/, name, method);
}

function prefixed(value: unknown, shape: RegExp, name: string, method: string): Hex {
  const text = typeof value === "string" ? value.toLowerCase() : "";
  if (typeof value !== "string" || !shape.test(text))
    throw garbage(method, `${name} is missing or malformed`);
  return `0x${text}`;
}

function resultText(value: unknown, absent: string, method: string): string {
  const text = value ?? absent;
  if (typeof text !== "string" || !/^[A-Z_]{1,40}$/.test(text))
    throw garbage(method, "result is missing or malformed");
  return text;
}
