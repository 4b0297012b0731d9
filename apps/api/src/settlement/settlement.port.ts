import type { Execution } from "@causeway/attest";
import type { Hex, Hex32, RequestId, TxHash } from "@causeway/domain";
import type { DepositRecord, RequestRecord, Slot } from "../db/records.port.ts";

/** A final payment of the solver, with the facts for the request to oracles. */
export interface DuePayment {
  readonly slotId: string;
  readonly kind: "fill" | "refund";
  /** Chain and transaction of the payment. */
  readonly chainId: number;
  readonly txHash: TxHash;
  readonly request: RequestRecord;
  /** The deposit that was filled or refunded. */
  readonly deposit: DepositRecord | undefined;
  /** Failed tries so far. */
  readonly tries: number;
}

/** What an execution settles: a deposit, a fill, a refund, or the initiation or outcome of a withdrawal. */
export type ExecutionKind = "deposit" | "fill" | "refund" | "initiation" | "withdrawal";

/** An execution with signatures that the hub's multisig accepts. */
export interface SignedExecution extends Execution {
  readonly kind: ExecutionKind;
  /** As many signatures as the multisig reads, ascending by signer, concatenated. */
  readonly signature: Hex;
}

export type ExecutionState = "attested" | "settled" | "refused";

export interface ExecutionRecord extends SignedExecution {
  readonly id: string;
  /** A transaction with it was permanently refused, so it is sent alone. */
  readonly apart: boolean;
  readonly state: ExecutionState;
  readonly reason: string | undefined;
}

/** Why a payment is not attested yet, and when to ask again. */
export interface Postponement {
  readonly reason: string;
  /** An oracle refused, or none can attest it: an operator should look. */
  readonly rejected: boolean;
  readonly nextTryMs: number;
}

/** An execution whose slot is final or dead. */
export interface EndedExecution extends ExecutionRecord {
  readonly slot: Pick<Slot, "id" | "chainId" | "sender" | "nonce">;
}

/** An execution, while it is in the transaction of this slot. `slotId` undefined: while it is in none. */
export interface ExecutionOnSlot {
  readonly key: Hex32;
  readonly slotId: string | undefined;
}

/** Stored state of settlement, inside one transaction. */
export interface SettlementWrites {
  /** Takes over payments that have become final; returns how many. */
  notePayments(atMs: number, limit: number): Promise<number>;
  postpone(slotId: string, why: Postponement, atMs: number): Promise<void>;
  /** The payment will never be repaid. */
  giveUp(slotId: string, reason: string, atMs: number): Promise<void>;
  /** A quorum signed: the executions with these keys settle the payment. False if it was no longer due. */
  markAttested(slotId: string, keys: { deposit: Hex32; payment: Hex32 }, atMs: number): Promise<boolean>;
  /**
   * Stores executions in the order in which they must run. Existing ones stay unchanged, except refused ones,
   * which get the new signature.
   */
  addExecutions(executions: readonly SignedExecution[], atMs: number): Promise<void>;
  /** Locks executions in a fixed order. False if one of them is already in a transaction. */
  lockUnsubmitted(executionIds: readonly string[]): Promise<boolean>;
  /** Assigns the locked executions to the transaction with this slot. */
  markSubmitted(executionIds: readonly string[], slotId: string): Promise<void>;
  /** Releases the executions of a refused transaction, to go one per transaction. Returns them. */
  splitBatch(slotId: string, nextTryMs: number): Promise<readonly ExecutionRecord[]>;
  /**
   * Releases all executions and nonce mappings of an open transaction, so that another transaction can
   * include them. Returns how many were released.
   */
  abandon(slotId: string, reason: string, atMs: number): Promise<number>;
  /** For an execution that is too large for any transaction: it is checked again from `nextTryMs` on. */
  postponeExecution(key: Hex32, reason: string, nextTryMs: number, atMs: number): Promise<void>;
  /** Drops what oracles signed for up to `limit` executions that were settled before `beforeMs`. */
  dropSignatures(beforeMs: number, limit: number): Promise<number>;
  /** They are final on the hub. Returns the payments that this settles. */
  settle(keys: readonly Hex32[], atMs: number): Promise<readonly SettledPayment[]>;
  /** The hub did not run it; payments that need it are due again at `nextTryMs`. */
  refuse(execution: ExecutionOnSlot, reason: string, nextTryMs: number, atMs: number): Promise<void>;
  /** No transaction contains it any longer; another may from `nextTryMs` on. */
  release(execution: ExecutionOnSlot, reason: string, nextTryMs: number): Promise<void>;
}

export interface SettledPayment {
  readonly slotId: string;
  readonly requestId: RequestId;
}

/** Reads of settlement outside any transaction. */
export interface SettlementReads {
  /** Payments that are due, longest waiting first. */
  duePayments(nowMs: number, limit: number): Promise<DuePayment[]>;
  /**
   * Executions that are in no transaction, in order. Omits a payment's execution while the execution of its
   * deposit is postponed.
   */
  executionsToSubmit(nowMs: number, limit: number): Promise<ExecutionRecord[]>;
  execution(key: Hex32): Promise<ExecutionRecord | undefined>;
  /** Executions whose transaction is final or dead, without a result. */
  endedExecutions(limit: number): Promise<EndedExecution[]>;
  /** Number of the next hub batch. */
  nextBatchId(): Promise<string>;
  /** Backlog per state, for the metrics. */
  waiting(): Promise<readonly { state: string; count: number; oldestMs: number }[]>;
}
