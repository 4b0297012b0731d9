import type { Address, Hex, Hex32, RequestId, TxHash } from "@causeway/domain";
import type { DepositRecord, RequestRecord } from "../db/records.port.ts";

/** A payment of the solver that is beyond reorgs, and everything that oracles are asked about it. */
export interface DuePayment {
  readonly slotId: string;
  readonly kind: "fill" | "refund";
  /** Chain and transaction of the payment. */
  readonly chainId: number;
  readonly txHash: TxHash;
  readonly request: RequestRecord;
  /** The deposit that was filled or given back. */
  readonly deposit: DepositRecord | undefined;
  /** How often oracles were asked in vain. */
  readonly tries: number;
}

/** What it is that an execution settles. */
export type ExecutionKind = "deposit" | "fill" | "refund" | "initiation" | "withdrawal";

/** What oracles signed together. */
export interface Execution {
  readonly idempotencyKey: Hex32;
  readonly actions: readonly Hex[];
}

/** An execution with signatures that the hub's multisig accepts. */
export interface SignedExecution extends Execution {
  readonly kind: ExecutionKind;
  /** As many signatures as the multisig reads, ascending by signer, one after the other. */
  readonly signature: Hex;
}

export type ExecutionState = "attested" | "settled" | "refused";

export interface ExecutionRecord extends SignedExecution {
  readonly id: string;
  /** A transaction that carried it was refused for good: it goes alone. */
  readonly apart: boolean;
  readonly state: ExecutionState;
  readonly reason: string | undefined;
}

/** A transaction that carries executions: one nonce for one call, for good. */
export interface HubTransactionPlan {
  readonly sender: Address;
  readonly nonce: number;
  readonly call: { readonly to: Address; readonly data: Hex };
  readonly gasLimit: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

export interface HubTransaction extends HubTransactionPlan {
  readonly id: string;
  readonly createdAtMs: number;
  /** Signed variants, oldest first. */
  readonly attempts: readonly HubAttempt[];
  /** The hub refused it for good: its call is a no-op now, which spends the nonce. */
  readonly isNoop: boolean;
}

export interface HubAttempt {
  readonly n: number;
  /** It carries nothing. */
  readonly isNoop: boolean;
  readonly raw: Hex;
  readonly txHash: TxHash;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly createdAtMs: number;
  readonly broadcastAtMs: number | undefined;
}

/** Why a payment is not attested yet, and when to ask again. */
export interface Postponement {
  readonly reason: string;
  /** An oracle said no, or none can say yes: somebody should look. */
  readonly rejected: boolean;
  readonly nextTryMs: number;
}

/** What settlement remembers, inside one transaction. */
export interface SettlementWrites {
  /** Hands payments that have become final to settlement; returns how many. */
  notePayments(atMs: number, limit: number): Promise<number>;
  postpone(slotId: string, why: Postponement, atMs: number): Promise<void>;
  /** The payment is never repaid. */
  giveUp(slotId: string, reason: string, atMs: number): Promise<void>;
  /**
   * The quorum has signed: what settles the payment stands in the executions of these keys. False when it was
   * not due any more.
   */
  attested(slotId: string, keys: { deposit: Hex32; payment: Hex32 }, atMs: number): Promise<boolean>;
  /**
   * Remembers executions, in the order in which they are to be carried out. Known ones stay as they are, but
   * for refused ones: their new signature counts.
   */
  addExecutions(executions: readonly SignedExecution[], atMs: number): Promise<void>;
  /** Until the end of the transaction nobody else gives nonces of the hub away. */
  lockHub(): Promise<void>;
  /** One above every nonce that was given away; 0 before the first. */
  nextNonce(sender: Address): Promise<number>;
  /** @throws ExecutionsTaken when another transaction carries one of them. */
  addTransaction(
    plan: HubTransactionPlan,
    executionIds: readonly string[],
    atMs: number,
  ): Promise<HubTransaction>;
  /**
   * The hub refuses the transaction for good: its nonce goes to `noop`, and what it carried is free again,
   * one execution a transaction. Returns what it carried; undefined when it was taken apart before.
   */
  takeApart(
    transactionId: string,
    noop: { readonly to: Address; readonly gasLimit: bigint },
    nextTryMs: number,
  ): Promise<readonly ExecutionRecord[] | undefined>;
  /**
   * Frees all executions and nonce mappings of an open transaction, so that another transaction can carry
   * them. The transaction stays open, because its nonce may still be used. Returns how many were freed.
   */
  abandon(transactionId: string, reason: string, atMs: number): Promise<number>;
  /** No transaction has room for it: it is looked at again from `nextTryMs` on. */
  setAside(key: Hex32, reason: string, nextTryMs: number, atMs: number): Promise<void>;
  /** False when attempt `n` exists already: somebody else signed first. */
  addAttempt(transactionId: string, attempt: HubAttempt): Promise<boolean>;
  setBroadcast(transactionId: string, n: number, atMs: number): Promise<void>;
  /** The nonce is used up for good. */
  setTransactionFinal(transactionId: string): Promise<void>;
  /** The hub has carried them out for good. Payments all of whose executions are, are settled: returned. */
  settle(keys: readonly Hex32[], atMs: number): Promise<readonly SettledPayment[]>;
  /** The hub did not carry it out; the payments that need it are due again at `nextTryMs`. */
  refuse(key: Hex32, reason: string, nextTryMs: number, atMs: number): Promise<void>;
  /** No transaction carries it any more; another may from `nextTryMs` on. */
  release(key: Hex32, reason: string, nextTryMs: number): Promise<void>;
}

export interface SettledPayment {
  readonly slotId: string;
  readonly requestId: RequestId;
}

/** Reads of settlement outside any transaction. */
export interface SettlementReads {
  /** Payments whose time to be asked about has come, longest waiting first. */
  duePayments(nowMs: number, limit: number): Promise<DuePayment[]>;
  /**
   * Executions that no transaction carries, in order; of a payment only once nothing keeps its deposit's
   * execution back.
   */
  executionsToCarry(nowMs: number, limit: number): Promise<ExecutionRecord[]>;
  execution(key: Hex32): Promise<ExecutionRecord | undefined>;
  executionsOf(transactionId: string): Promise<ExecutionRecord[]>;
  /** Transactions of every sender whose nonce may still be free, by sender and nonce. */
  openTransactions(): Promise<HubTransaction[]>;
  /** How much waits, for the metrics. */
  waiting(): Promise<readonly { state: string; count: number; oldestMs: number }[]>;
}
