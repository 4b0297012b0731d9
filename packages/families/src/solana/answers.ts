import {
  getBase58Decoder,
  getBase58Encoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
} from "@solana/kit";
import { garbage } from "../rpc-fault.ts";
import type {
  AccountFact,
  BeforeAndAfter,
  InstructionFact,
  TokenHolding,
  TokenState,
  TransactionFacts,
} from "./answers/transaction-facts.ts";
import { TOKEN_PROGRAMS } from "./answers/programs.ts";

// Turns a node's answers into facts or throws an RpcFault; a missing field is never guessed.

type Fields = Readonly<Record<string, unknown>>;

const METHOD = "getTransaction";

/** A transaction as a node returns it. The time of its block may be missing. */
export interface ReportedTransaction extends Omit<TransactionFacts, "timestamp"> {
  /** Unix seconds; undefined if the node did not return it. */
  readonly blockTime: bigint | undefined;
  /** The message that the fee payer signed, and the signature. */
  readonly message: Uint8Array;
  readonly signatureBytes: Uint8Array;
}

/**
 * The answer of `getTransaction` in base64: the message is read from the signed bytes, so that a node cannot
 * change it. Undefined for `null`.
 * @throws RpcFault if it is another transaction, or incomplete
 */
export function readTransaction(value: unknown, requestedSignature: string): ReportedTransaction | undefined {
  if (value === null) return undefined;
  const fields = fieldsOf(value, METHOD);
  const meta = fieldsOf(fields["meta"], METHOD);
  if (!("err" in meta)) throw garbage(METHOD, "response does not state whether the transaction failed");
  const { message, messageBytes, signatureBytes } = decodeTransaction(fields["transaction"]);
  // Nodes return this version only if it was requested.
  if (message.version === 1) throw garbage(METHOD, "transaction has an unsupported version");
  const signature = getBase58Decoder().decode(signatureBytes);
  if (signature !== requestedSignature) throw garbage(METHOD, "response concerns a different transaction");

  const loaded = fieldsOf(meta["loadedAddresses"] ?? { writable: [], readonly: [] }, METHOD);
  const [writable, readonly] = [keysIn(loaded["writable"]), keysIn(loaded["readonly"])];
  const lookups = ("addressTableLookups" in message ? message.addressTableLookups : undefined) ?? [];
  const expectedCount = (which: "writableIndexes" | "readonlyIndexes"): number =>
    lookups.reduce((sum, lookup) => sum + lookup[which].length, 0);
  // If addresses of lookup tables were missing, indexes in the message would refer to wrong accounts.
  if (
    writable.length !== expectedCount("writableIndexes") ||
    readonly.length !== expectedCount("readonlyIndexes")
  )
    throw garbage(METHOD, "addresses of its lookup tables are missing");
  const keys: readonly string[] = [...message.staticAccounts, ...writable, ...readonly];

  const [feePayer] = keys;
  if (feePayer === undefined) throw garbage(METHOD, "transaction has no accounts");
  const topLevel = message.instructions.map(({ programAddressIndex, accountIndices, data }) => ({
    program: keyAt(keys, programAddressIndex),
    accounts: (accountIndices ?? []).map((index) => keyAt(keys, index)),
    data: Uint8Array.from(data ?? []),
  }));
  return {
    signature,
    slot: wholeNumber(fields["slot"], METHOD, "slot"),
    blockTime: isAbsent(fields["blockTime"])
      ? undefined
      : wholeNumber(fields["blockTime"], METHOD, "blockTime"),
    feePayer,
    signers: message.staticAccounts.slice(0, message.header.numSignerAccounts),
    failed: meta["err"] !== null,
    instructions: inExecutionOrder(topLevel, meta["innerInstructions"], keys),
    logs: textsIn(meta["logMessages"]),
    lamports: lamportsOf(keys, meta),
    tokens: tokensOf(keys, meta),
    message: messageBytes,
    signatureBytes,
  };
}

/**
 * The accounts of a `getMultipleAccounts`, in the requested order, and the slot at which they were read.
 *
 * @throws RpcFault
 */
export function readAccounts(
  value: unknown,
  count: number,
): { readonly slot: bigint; readonly accounts: readonly (AccountFact | undefined)[] } {
  const method = "getMultipleAccounts";
  const answer = fieldsOf(value, method);
  const slot = readContextSlot(answer, method);
  const list = listOf(answer["value"], method, "value");
  if (list.length !== count) throw garbage(method, `${list.length} accounts, expected ${count}`);
  return { slot, accounts: list.map((entry) => (entry === null ? undefined : accountOf(entry, method))) };
}

function accountOf(entry: unknown, method: string): AccountFact {
  const { owner, lamports, data } = fieldsOf(entry, method);
  if (typeof owner !== "string") throw garbage(method, "account has no owner");
  if (!Array.isArray(data) || typeof data[0] !== "string" || data[1] !== "base64")
    throw garbage(method, "account data is not base64");
  return {
    owner,
    lamports: wholeNumber(lamports, method, "lamports"),
    data: Uint8Array.from(Buffer.from(data[0], "base64")),
  };
}

/** The slot in an answer's context. @throws RpcFault */
export function readContextSlot(answer: Fields, method: string): bigint {
  return wholeNumber(fieldsOf(answer["context"], method)["slot"], method, "context.slot");
}

/** The commitment level of a transaction. */
export interface SignatureStatus {
  readonly slot: bigint;
  readonly isFinal: boolean;
  readonly failed: boolean;
}

/** The only entry of `getSignatureStatuses`; undefined if the node does not know it. @throws RpcFault */
export function readSignatureStatus(value: unknown): SignatureStatus | undefined {
  const method = "getSignatureStatuses";
  const list = listOf(fieldsOf(value, method)["value"], method, "value");
  if (list.length !== 1) throw garbage(method, "response must have one entry per signature");
  const [entry] = list;
  if (entry === null) return undefined;
  const fields = fieldsOf(entry, method);
  if (!("err" in fields)) throw garbage(method, "response does not state whether the transaction failed");
  const status = fields["confirmationStatus"];
  if (status !== "processed" && status !== "confirmed" && status !== "finalized")
    throw garbage(method, "status is missing");
  return {
    slot: wholeNumber(fields["slot"], method, "slot"),
    isFinal: status === "finalized",
    failed: fields["err"] !== null,
  };
}

/** One entry of `getSignaturesForAddress`. */
export interface SignatureEntry {
  readonly signature: string;
  readonly slot: bigint;
  readonly failed: boolean;
}

/** Newest first, like nodes. @throws RpcFault */
export function readSignatureList(value: unknown): readonly SignatureEntry[] {
  const method = "getSignaturesForAddress";
  return listOf(value, method, "response").map((entry) => {
    const fields = fieldsOf(entry, method);
    const { signature } = fields;
    if (typeof signature !== "string") throw garbage(method, "entry has no signature");
    if (!("err" in fields)) throw garbage(method, "response does not state whether a transaction failed");
    return { signature, slot: wholeNumber(fields["slot"], method, "slot"), failed: fields["err"] !== null };
  });
}

/** A JSON number that is an exact, nonnegative integer. @throws RpcFault */
export function wholeNumber(value: unknown, method: string, name: string): bigint {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0)
    throw garbage(method, `${name} is not an integer, or too large to be exact`);
  return BigInt(value);
}

export function fieldsOf(value: unknown, method: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw garbage(method, "object is missing");
  return value as Fields;
}

function decodeTransaction(transaction: unknown): {
  readonly message: ReturnType<ReturnType<typeof getCompiledTransactionMessageDecoder>["decode"]>;
  readonly messageBytes: Uint8Array;
  readonly signatureBytes: Uint8Array;
} {
  if (!Array.isArray(transaction) || typeof transaction[0] !== "string" || transaction[1] !== "base64")
    throw garbage(METHOD, "transaction is not base64");
  try {
    const { messageBytes, signatures } = getTransactionDecoder().decode(
      Buffer.from(transaction[0], "base64"),
    );
    const message = getCompiledTransactionMessageDecoder().decode(messageBytes);
    const [first] = Object.values(signatures);
    if (first === undefined || first === null) throw new TypeError("signature is missing");
    return { message, messageBytes: Uint8Array.from(messageBytes), signatureBytes: Uint8Array.from(first) };
  } catch {
    throw garbage(METHOD, "bytes are not a transaction");
  }
}

interface Instruction {
  readonly program: string;
  readonly accounts: readonly string[];
  readonly data: Uint8Array;
}

/** Lists instructions in execution order; top-level instructions get the lowest numbers. */
function inExecutionOrder(
  topLevel: readonly Instruction[],
  inner: unknown,
  keys: readonly string[],
): readonly InstructionFact[] {
  // Nodes without inner instructions return null; then the effects of the transaction are unknown.
  const groups = new Map<number, readonly Instruction[]>();
  let last = -1;
  for (const entry of listOf(inner, METHOD, "innerInstructions")) {
    const { index, instructions } = fieldsOf(entry, METHOD);
    if (typeof index !== "number" || !Number.isInteger(index) || index <= last || index >= topLevel.length)
      throw garbage(METHOD, "inner instructions have no parent instruction");
    last = index;
    groups.set(
      index,
      listOf(instructions, METHOD, "instructions").map((inner) => innerInstruction(inner, keys)),
    );
  }
  let number = topLevel.length;
  return topLevel.flatMap((instruction, index) => [
    { ...instruction, index, isTopLevel: true },
    ...(groups.get(index) ?? []).map((nested) => ({ ...nested, index: number++, isTopLevel: false })),
  ]);
}

function innerInstruction(entry: unknown, keys: readonly string[]): Instruction {
  const { programIdIndex, accounts, data } = fieldsOf(entry, METHOD);
  if (typeof data !== "string" || data.length > 20_000)
    throw garbage(METHOD, "inner instruction has no data");
  let bytes: Uint8Array;
  try {
    bytes = Uint8Array.from(getBase58Encoder().encode(data));
  } catch {
    throw garbage(METHOD, "inner instruction data is not base58");
  }
  return {
    program: keyAt(keys, programIdIndex),
    accounts: listOf(accounts, METHOD, "accounts").map((index) => keyAt(keys, index)),
    data: bytes,
  };
}

function lamportsOf(keys: readonly string[], meta: Fields): ReadonlyMap<string, BeforeAndAfter | undefined> {
  const before = listOf(meta["preBalances"], METHOD, "preBalances");
  const after = listOf(meta["postBalances"], METHOD, "postBalances");
  if (before.length !== keys.length || after.length !== keys.length)
    throw garbage(METHOD, "number of balances differs from the number of accounts");
  return new Map(
    keys.map((key, index) => {
      const [had, has] = [before[index], after[index]];
      // Anyone can include an account with an enormous balance: it must not make the transaction unreadable.
      if (isBeyondExact(had) || isBeyondExact(has)) return [key, undefined];
      const balances = {
        before: wholeNumber(had, METHOD, "a balance"),
        after: wholeNumber(has, METHOD, "a balance"),
      };
      return [key, balances];
    }),
  );
}

function isBeyondExact(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && value > Number.MAX_SAFE_INTEGER;
}

function tokensOf(keys: readonly string[], meta: Fields): readonly TokenHolding[] {
  const before = tokenStates(meta["preTokenBalances"], "preTokenBalances", keys);
  const after = tokenStates(meta["postTokenBalances"], "postTokenBalances", keys);
  const accounts = keys.filter((key) => before.has(key) || after.has(key));
  return accounts.map((account) => ({ account, before: before.get(account), after: after.get(account) }));
}

function tokenStates(value: unknown, name: string, keys: readonly string[]): ReadonlyMap<string, TokenState> {
  const states = new Map<string, TokenState>();
  for (const entry of listOf(value, METHOD, name)) {
    const { accountIndex, mint, owner, programId, uiTokenAmount } = fieldsOf(entry, METHOD);
    const { amount } = fieldsOf(uiTokenAmount, METHOD);
    if (typeof mint !== "string" || typeof owner !== "string")
      throw garbage(METHOD, `${name}: mint or owner is missing`);
    if (typeof programId !== "string" || !TOKEN_PROGRAMS.has(programId))
      throw garbage(METHOD, `${name}: owner is not a token program`);
    if (typeof amount !== "string" || !/^\d{1,20}$/.test(amount))
      throw garbage(METHOD, `${name}: amount is missing`);
    const account = keyAt(keys, accountIndex);
    if (states.has(account)) throw garbage(METHOD, `${name}: duplicate account`);
    states.set(account, { mint, owner, program: programId, amount: BigInt(amount) });
  }
  return states;
}

function keyAt(keys: readonly string[], index: unknown): string {
  const key = typeof index === "number" ? keys[index] : undefined;
  if (key === undefined) throw garbage(METHOD, "account index is out of range");
  return key;
}

function keysIn(value: unknown): readonly string[] {
  return listOf(value, METHOD, "loadedAddresses").map((key) => {
    if (typeof key !== "string") throw garbage(METHOD, "address is not a string");
    return key;
  });
}

function textsIn(value: unknown): readonly string[] {
  return listOf(value, METHOD, "logMessages").map((line) => {
    if (typeof line !== "string") throw garbage(METHOD, "log line is not a string");
    return line;
  });
}

function listOf(value: unknown, method: string, name: string): readonly unknown[] {
  if (!Array.isArray(value)) throw garbage(method, `${name} is missing`);
  return value as unknown[];
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}
