import type { Address, Hex, RequestId, Hex32 } from "@causeway/domain";
import { sql } from "drizzle-orm";
import { boolean, index, integer, pgSequence, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core";
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
    /** The reason why it waits. Null if unknown. */
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

/** Numbers of hub batches: the leg ids of their slots. */
export const hubBatches = pgSequence("hub_batches");

/** Executions that a quorum of oracles signed. Each is executed on the hub once, in the order of `id`. */
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
    /** The hub transaction that contains it. Null: none. */
    slotId: int8("slot_id").references(() => slots.id),
    reason: text("reason"),
    nextTryMs: int8("next_try_ms").notNull(),
    createdAtMs: int8("created_at_ms").notNull(),
    settledAtMs: int8("settled_at_ms"),
    /** A transaction that contained it was rejected permanently; it is sent alone from now on. */
    apart: boolean("apart").notNull().default(false),
    /** Since when no transaction has room for it. Null if one does. */
    setAsideSinceMs: int8("set_aside_since_ms"),
  },
  (t) => [
    index("hub_executions_due")
      .on(t.id)
      .where(sql`${t.state} = 'attested' and ${t.slotId} is null`),
    index("hub_executions_slot")
      .on(t.slotId)
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
