import type { Address, Hex, RequestId, TxHash, Hex32 } from "@causeway/domain";
import { sql } from "drizzle-orm";
import { boolean, index, integer, pgTable, primaryKey, text, unique, uniqueIndex } from "drizzle-orm/pg-core";
import { int8, uint } from "../db/columns.tables.ts";
import type { ExecutionKind, ExecutionState } from "./settlement.port.ts";
import type { WithdrawalOutcome } from "./withdrawals/withdrawals.port.ts";
import { slots } from "../payments/payments.tables.ts";

/** Payments of the solver that the hub owes it for. */
export const settlements = pgTable(
  "settlements",
  {
    slotId: int8("slot_id")
      .primaryKey()
      .references(() => slots.id),
    requestId: text("request_id").$type<RequestId>().notNull(),
    /**
     * `due`: no quorum has signed yet. `attested`: signed, to be executed on the hub. `settled`: executed,
     * beyond reorgs of the hub. `unrepayable`: no oracle can ever attest it.
     */
    state: text("state").$type<"due" | "attested" | "settled" | "unrepayable">().notNull(),
    /** What it waits for. Null if unknown. */
    reason: text("reason"),
    /** An oracle refused it, or none can attest it; asked again rarely. */
    rejected: boolean("rejected").notNull().default(false),
    tries: integer("tries").notNull().default(0),
    nextTryMs: int8("next_try_ms").notNull(),
    /** Idempotency key of the execution that credits the deposit on the hub. */
    depositKey: text("deposit_key").$type<Hex>(),
    /** Idempotency key of the execution that moves that credit to the solver. */
    paymentKey: text("payment_key").$type<Hex>(),
    createdAtMs: int8("created_at_ms").notNull(),
    updatedAtMs: int8("updated_at_ms").notNull(),
  },
  (t) => [
    index("settlements_attested")
      .on(t.slotId)
      .where(sql`${t.state} = 'attested'`),
    index("settlements_due")
      .on(t.nextTryMs)
      .where(sql`${t.state} = 'due'`),
    index("settlements_request").on(t.requestId),
  ],
);

/**
 * A transaction that submits executions to the hub: one nonce and its signed variants. Its call never
 * changes.
 */
export const hubTransactions = pgTable(
  "hub_transactions",
  {
    id: int8("id").generatedAlwaysAsIdentity().primaryKey(),
    sender: text("sender").$type<Address>().notNull(),
    nonce: int8("nonce").notNull(),
    callTo: text("call_to").$type<Address>().notNull(),
    /** `0x` once it is pruned: 30 days after the transaction became final. */
    callData: text("call_data").$type<Hex>().notNull(),
    gasLimit: int8("gas_limit").notNull(),
    maxFeePerGas: uint("max_fee_per_gas").notNull(),
    maxPriorityFeePerGas: uint("max_priority_fee_per_gas").notNull(),
    /** `open`: the nonce may be unused. `final`: used, beyond reorgs of the hub. */
    state: text("state").$type<"open" | "final">().notNull(),
    createdAtMs: int8("created_at_ms").notNull(),
    /** The hub rejected the transaction permanently, so its nonce is spent on a no-op. */
    isNoop: boolean("is_noop").notNull().default(false),
    /** When it became final. Null if it is not. */
    finalAtMs: int8("final_at_ms"),
  },
  (t) => [
    unique().on(t.sender, t.nonce),
    index("hub_transactions_open")
      .on(t.nonce)
      .where(sql`${t.state} = 'open'`),
  ],
);

/** Signed bytes of such a transaction, committed before they are broadcast. */
export const hubAttempts = pgTable(
  "hub_attempts",
  {
    transactionId: int8("transaction_id")
      .notNull()
      .references(() => hubTransactions.id),
    n: integer("n").notNull(),
    /** The signed bytes. `0x` once they are pruned: 30 days after the transaction became final. */
    raw: text("raw").$type<Hex>().notNull(),
    txHash: text("tx_hash").$type<TxHash>().notNull(),
    maxFeePerGas: uint("max_fee_per_gas").notNull(),
    maxPriorityFeePerGas: uint("max_priority_fee_per_gas").notNull(),
    createdAtMs: int8("created_at_ms").notNull(),
    broadcastAtMs: int8("broadcast_at_ms"),
    isNoop: boolean("is_noop").notNull().default(false),
  },
  (t) => [
    primaryKey({ columns: [t.transactionId, t.n] }),
    index("hub_attempts_with_bytes")
      .on(t.createdAtMs)
      .where(sql`${t.raw} <> '0x'`),
  ],
);

/** What a quorum of oracles signed, executed on the hub once, in the order of `id`. */
export const hubExecutions = pgTable(
  "hub_executions",
  {
    id: int8("id").generatedAlwaysAsIdentity().primaryKey(),
    idempotencyKey: text("idempotency_key").$type<Hex>().notNull().unique(),
    kind: text("kind").$type<ExecutionKind>().notNull(),
    /** Empty once they are pruned: 30 days after it was settled. */
    actions: text("actions").array().$type<Hex[]>().notNull(),
    /**
     * As many signatures as the multisig requires, ascending by signer, concatenated. `0x` once it is
     * pruned, with `actions`.
     */
    signature: text("signature").$type<Hex>().notNull(),
    /**
     * `attested`: to be executed. `settled`: executed, beyond reorgs of the hub. `refused`: not executed;
     * needs a new attestation.
     */
    state: text("state").$type<ExecutionState>().notNull(),
    /** The transaction that carries it. Null if none does. */
    transactionId: int8("transaction_id").references(() => hubTransactions.id),
    reason: text("reason"),
    nextTryMs: int8("next_try_ms").notNull(),
    createdAtMs: int8("created_at_ms").notNull(),
    settledAtMs: int8("settled_at_ms"),
    /** A transaction that carried it was rejected permanently; it is sent alone from now on. */
    apart: boolean("apart").notNull().default(false),
    /** Since when no transaction has room for it. Null if one does. */
    setAsideSinceMs: int8("set_aside_since_ms"),
  },
  (t) => [
    index("hub_executions_due")
      .on(t.id)
      .where(sql`${t.state} = 'attested' and ${t.transactionId} is null`),
    index("hub_executions_transaction")
      .on(t.transactionId)
      .where(sql`${t.state} = 'attested'`),
    index("hub_executions_with_signature")
      .on(t.settledAtMs)
      .where(sql`${t.state} = 'settled' and ${t.signature} <> '0x'`),
  ],
);

/**
 * Withdrawals of the solver's hub balance, by withdrawal address. The chains decide their state; this
 * stores what must not be created twice.
 */
export const hubWithdrawals = pgTable(
  "hub_withdrawals",
  {
    withdrawalAddress: text("withdrawal_address").$type<Address>().primaryKey(),
    chainName: text("chain_name").notNull(),
    depository: text("depository").$type<Address>().notNull(),
    currency: text("currency").$type<Address>().notNull(),
    amount: uint("amount").notNull(),
    recipient: text("recipient").$type<Address>().notNull(),
    nonce: text("nonce").$type<Hex32>().notNull(),
    /**
     * The only payload that may be signed for it: stored before it is recorded on the hub, and recorded
     * before it is signed.
     */
    payload: text("payload").$type<Hex>(),
    /** `executed`: paid out and burned. `expired`: returned to the balance. Null while pending. */
    outcome: text("outcome").$type<WithdrawalOutcome>(),
    createdAtMs: int8("created_at_ms").notNull(),
    updatedAtMs: int8("updated_at_ms").notNull(),
  },
  (t) => [uniqueIndex("hub_withdrawals_nonce").on(t.nonce)],
);
