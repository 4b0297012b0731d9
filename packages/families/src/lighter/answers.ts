import { parseAddress, type Address, type Hex32 } from "@causeway/domain";
import { garbage } from "../rpc-fault.ts";
import { parseExactJson } from "./answers/exact-json.ts";
import { transactionStateOf, type TransactionState } from "./finality.ts";

/**
 * Parses the answers of Lighter and its explorer. Pure; an answer to another request is an RpcFault.
 */

/** One transaction as Lighter records it. */
export interface LighterTransaction {
  /** 80 lower-case hex digits. */
  readonly hash: string;
  readonly state: TransactionState;
  /** Unix milliseconds at which Lighter accepted it. */
  readonly queuedAtMs: bigint;
  /** Unix milliseconds at which it was executed; 0 until then. */
  readonly executedAtMs: bigint;
  /** Block height; 0 while it is not in a block. */
  readonly blockHeight: bigint;
  /** Undefined if the transaction is not a transfer. */
  readonly transfer: RecordedTransfer | undefined;
}

/** A signed transfer between two accounts. */
export interface RecordedTransfer {
  readonly fromAccountIndex: bigint;
  readonly apiKeyIndex: bigint;
  readonly toAccountIndex: bigint;
  readonly assetIndex: bigint;
  /** 0: the balance that secures perpetuals, 1: the spot balance. */
  readonly fromRouteType: bigint;
  readonly toRouteType: bigint;
  /** Base units of the asset. */
  readonly amount: bigint;
  /** Fee that the sender pays in addition, in millionths of a dollar. */
  readonly usdcFee: bigint;
  readonly memo: Hex32;
  readonly nonce: bigint;
}

/**
 * One line of an account's history at the explorer. Only its hash is used; the transaction itself is
 * requested from Lighter.
 */
export interface LoggedTransfer {
  readonly hash: string;
  readonly fromAccountIndex: string;
}

/** The kind of transaction that moves assets between accounts. */
const TRANSFER_TYPE = 12n;

/** Bounds of plausible times in milliseconds, 2017 to 2286; a time in seconds is outside of them. */
const TIMES_MS = { from: 1_500_000_000_000n, to: 9_999_999_999_999n };

/**
 * The record of a transaction, requested by its hash; undefined if Lighter does not know it.
 * @throws RpcFault garbage for any other shape, another transaction, or a record that contradicts what was
 * signed
 */
export function readTransaction(hash: string, status: number, text: string): LighterTransaction | undefined {
  const method = "tx";
  const record = jsonObject(method, text);
  if (status !== 200 || record["code"] !== 200n) {
    if (saysNotFound(record)) return undefined;
    throw garbage(method, `status ${status}, code ${String(record["code"])}`);
  }
  if (record["hash"] !== hash) throw garbage(method, "record belongs to a different transaction");
  const isTransfer = integer(method, record, "type") === TRANSFER_TYPE;
  const transfer = isTransfer ? readTransfer(method, record) : undefined;
  const executedAtMs = integer(method, record, "executed_at");
  const blockHeight = integer(method, record, "block_height");
  const state = transactionStateOf(integer(method, record, "status"), blockHeight);
  if (state === "final" && (executedAtMs === 0n || blockHeight === 0n))
    throw garbage(method, "settled transaction has no block or time");
  return {
    hash,
    state,
    queuedAtMs: time(method, "queued_at", integer(method, record, "queued_at")),
    executedAtMs: executedAtMs === 0n ? 0n : time(method, "executed_at", executedAtMs),
    blockHeight,
    transfer,
  };
}

/** The signed content is JSON text inside the record. */
function readTransfer(method: string, record: Readonly<Record<string, unknown>>): RecordedTransfer {
  const { info } = record;
  if (typeof info !== "string") throw garbage(method, "info is not a string");
  const signed = jsonObject(method, info);
  const transfer: RecordedTransfer = {
    fromAccountIndex: integer(method, signed, "FromAccountIndex"),
    apiKeyIndex: integer(method, signed, "ApiKeyIndex"),
    toAccountIndex: integer(method, signed, "ToAccountIndex"),
    assetIndex: integer(method, signed, "AssetIndex"),
    fromRouteType: integer(method, signed, "FromRouteType"),
    toRouteType: integer(method, signed, "ToRouteType"),
    amount: integer(method, signed, "Amount"),
    usdcFee: integer(method, signed, "USDCFee"),
    memo: memoOf(method, signed["Memo"]),
    nonce: integer(method, signed, "Nonce"),
  };
  if (integer(method, record, "account_index") !== transfer.fromAccountIndex)
    throw garbage(method, "sender in the record differs from the signed one");
  if (integer(method, record, "nonce") !== transfer.nonce)
    throw garbage(method, "nonce in the record differs from the signed one");
  if (record["api_key_index"] !== undefined && record["api_key_index"] !== transfer.apiKeyIndex)
    throw garbage(method, "key in the record differs from the signed one");
  return transfer;
}

/** Lighter's contract on Ethereum. @throws RpcFault garbage */
export function readContract(status: number, text: string): Address {
  const method = "info";
  const contractText = jsonObject(method, text)["contract_address"];
  const contract = typeof contractText === "string" ? parseAddress(contractText) : undefined;
  if (status !== 200 || contract === undefined)
    throw garbage(method, `response has status ${status} and no contract address`);
  return contract;
}

/** One page of an account's transfers at the explorer, in its order. @throws RpcFault garbage */
export function readLoggedTransfers(status: number, text: string): readonly LoggedTransfer[] {
  const method = "accountLogs";
  if (status !== 200) throw garbage(method, `status ${status}`);
  const page = json(method, text);
  if (!Array.isArray(page)) throw garbage(method, "response is not a list");
  return (page as unknown[]).map((entry) => {
    if (!isObject(entry)) throw garbage(method, "entry is not an object");
    const { hash, pubdata } = entry;
    if (typeof hash !== "string" || !isHash(hash)) throw garbage(method, "entry has no hash");
    if (!isObject(pubdata)) throw garbage(method, "entry has no published data");
    const transferData = pubdata["l2_transfer_pubdata_v2"] ?? pubdata["l2_transfer_pubdata"];
    if (!isObject(transferData)) throw garbage(method, "entry is not a transfer");
    const from = transferData["from_account_index"];
    if (typeof from !== "string" && typeof from !== "bigint") throw garbage(method, "entry has no sender");
    return { hash, fromAccountIndex: from.toString() };
  });
}

/** Whether a text is a transaction hash in canonical format. */
export function isHash(text: string): boolean {
  return /^[0-9a-f]{80}$/.test(text);
}

/** 32 bytes, which Lighter returns as a list of numbers. */
function memoOf(method: string, value: unknown): Hex32 {
  if (!Array.isArray(value) || value.length !== 32) throw garbage(method, "Memo is not 32 bytes");
  const bytes = (value as unknown[]).map((byte) => {
    if (typeof byte !== "bigint" || byte < 0n || byte > 255n) throw garbage(method, "Memo is not 32 bytes");
    return byte.toString(16).padStart(2, "0");
  });
  return `0x${bytes.join("")}`;
}

function integer(method: string, record: Readonly<Record<string, unknown>>, name: string): bigint {
  const value = Object.hasOwn(record, name) ? record[name] : undefined;
  if (typeof value !== "bigint" || value < 0n) throw garbage(method, `${name} is not an integer`);
  return value;
}

function time(method: string, name: string, ms: bigint): bigint {
  if (ms < TIMES_MS.from || ms > TIMES_MS.to) throw garbage(method, `${name} is not a time in milliseconds`);
  return ms;
}

function saysNotFound(answer: Readonly<Record<string, unknown>>): boolean {
  const { code, message } = answer;
  return (
    typeof code === "bigint" && code !== 200n && typeof message === "string" && /not found/i.test(message)
  );
}

function jsonObject(method: string, text: string): Readonly<Record<string, unknown>> {
  const value = json(method, text);
  if (!isObject(value)) throw garbage(method, "response is not a JSON object");
  return value;
}

function json(method: string, text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    throw garbage(method, "response is not JSON");
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
