import type { Authorization } from "@causeway/chains";
import type { Address, FailReason, Hex, RequestId, TxHash } from "@causeway/domain";
import { sql } from "drizzle-orm";
import { boolean, index, integer, pgTable, primaryKey, text, unique, uniqueIndex } from "drizzle-orm/pg-core";
import { int8, json, uint } from "../db/columns.tables.ts";
import type { AttemptKind, SlotState } from "../db/records.port.ts";

/** Call data that is in the operator's archive only. */
export const NO_CALL_DATA = "";

/** One per chain and sender: the next unused nonce. Lock this row to reserve nonces. */
export const lanes = pgTable(
  "lanes",
  {
    chainId: int8("chain_id").notNull(),
    sender: text("sender").$type<Address>().notNull(),
    nextNonce: int8("next_nonce").notNull(),
    /** Block from which unknown nonces are searched. Null if there are none. */
    searchFrom: int8("search_from"),
    /**
     * The database server on which the lane was last compared with its chain, as `database_identity()` names
     * it. On another server the lane pays nothing. Null: never compared since this was introduced.
     */
    server: text("server"),
    /** Block since which a held lane without a journal shows no unknown transaction. Null if it shows one. */
    quietSince: int8("quiet_since"),
    /** Since when the lane is held. Null if it is not, or was not compared with its journal yet. */
    heldSinceMs: int8("held_since_ms"),
  },
  (t) => [primaryKey({ columns: [t.chainId, t.sender] })],
);

/** One nonce of a lane, permanently assigned to one leg. */
export const slots = pgTable(
  "slots",
  {
    id: int8("id").generatedAlwaysAsIdentity().primaryKey(),
    chainId: int8("chain_id").notNull(),
    sender: text("sender").$type<Address>().notNull(),
    nonce: int8("nonce").notNull(),
    legKind: text("leg_kind").notNull(),
    /** The id of the leg among its kind: of a request, deposit, claim or sweep, or the name of a call. */
    legId: text("leg_id").notNull(),
    requestId: text("request_id").$type<RequestId>(),
    callTo: text("call_to").$type<Address>().notNull(),
    /** {@link NO_CALL_DATA} once it was archived. */
    callData: text("call_data").$type<Hex | typeof NO_CALL_DATA>().notNull(),
    callValue: uint("call_value").notNull(),
    gasLimit: int8("gas_limit").notNull(),
    maxFeePerGas: uint("max_fee_per_gas").notNull(),
    maxPriorityFeePerGas: uint("max_priority_fee_per_gas").notNull(),
    /** The amount by which the mined payment reduces the inventory; counts as reserved until then. */
    outflowCurrency: text("outflow_currency").$type<Address>().notNull(),
    outflowAmount: uint("outflow_amount").notNull(),
    /** The amount that the recipient of a fill gets, in the destination currency. Null for other payments. */
    deliveredAmount: uint("delivered_amount"),
    /**
     * `open`: not mined. `mined`: in a canonical block. `final`: beyond reorgs. `dead`: the nonce was used
     * and did not pay the leg.
     */
    state: text("state").$type<SlotState>().notNull(),
    /** Set when this nonce must no longer pay the leg: its next attempts are no-ops. */
    cancelReason: text("cancel_reason").$type<FailReason>(),
    cancelAfterMs: int8("cancel_after_ms").notNull(),
    /** The attempt that is in a canonical block. */
    minedAttempt: integer("mined_attempt"),
    minedBlockNumber: int8("mined_block_number"),
    minedBlockHash: text("mined_block_hash").$type<Hex>(),
    minedStatus: text("mined_status").$type<"success" | "reverted">(),
    /** When the watcher saw the attempt in that block. */
    minedAtMs: int8("mined_at_ms"),
    gasUsed: uint("gas_used"),
    effectiveGasPrice: uint("effective_gas_price"),
    /** Height at which the nonce was first seen used while none of our attempts was found. */
    unexplainedSince: int8("unexplained_since"),
    deadReason: text("dead_reason"),
    createdAtMs: int8("created_at_ms").notNull(),
    /** When the payment became final. Null if it is not. */
    finalAtMs: int8("final_at_ms"),
    /**
     * Whether settlement knows of the final payment. A sweep finds these, so payments never wait for
     * settlement.
     */
    settlementNoted: boolean("settlement_noted").notNull().default(false),
    /** Signed EIP-7702 authorizations of the transaction, as JSON text. */
    callAuthorizations: json("call_authorizations").$type<readonly Authorization[]>(),
    /**
     * True if a later head still showed no receipt for the used nonce. Only then does its lane stop
     * planning.
     */
    unexplainedConfirmed: boolean("unexplained_confirmed").notNull().default(false),
    /**
     * Gas that a revert could burn and that neither deposit nor sponsor covers, 18 decimals. Null if none.
     */
    uncoveredUsd: uint("uncovered_usd"),
  },
  (t) => [
    unique().on(t.chainId, t.sender, t.nonce),
    uniqueIndex("slots_one_live_per_leg")
      .on(t.legKind, t.legId)
      .where(sql`${t.state} <> 'dead'`),
    index("slots_request")
      .on(t.requestId)
      .where(sql`${t.requestId} is not null`),
    index("slots_settlement_due")
      .on(t.id)
      .where(sql`${t.state} = 'final' and not ${t.settlementNoted}`),
    index("slots_uncovered")
      .on(t.id)
      .where(sql`${t.uncoveredUsd} > 0 and ${t.state} in ('open', 'mined')`),
    index("slots_unsettled")
      .on(t.chainId, t.sender, t.nonce)
      .where(sql`${t.state} in ('open', 'mined')`),
  ],
);

/**
 * Signed bytes of a slot, committed before they are broadcast. A replacement has the same nonce and higher
 * fees.
 */
export const attempts = pgTable(
  "attempts",
  {
    slotId: int8("slot_id")
      .notNull()
      .references(() => slots.id),
    n: integer("n").notNull(),
    kind: text("kind").$type<AttemptKind>().notNull(),
    /** The signed bytes. `0x` once they are pruned: 30 days after the payment became final. */
    raw: text("raw").$type<Hex>().notNull(),
    txHash: text("tx_hash").$type<TxHash>().notNull(),
    maxFeePerGas: uint("max_fee_per_gas").notNull(),
    maxPriorityFeePerGas: uint("max_priority_fee_per_gas").notNull(),
    createdAtMs: int8("created_at_ms").notNull(),
    /** When the bytes were last sent to a node. Null before that, and again when they must be resent. */
    broadcastAtMs: int8("broadcast_at_ms"),
    firstBroadcastAtMs: int8("first_broadcast_at_ms"),
    /** Since when nodes have had the bytes without interruption. */
    offeredSinceMs: int8("offered_since_ms"),
  },
  (t) => [
    primaryKey({ columns: [t.slotId, t.n] }),
    uniqueIndex("attempts_tx_hash").on(t.txHash),
    index("attempts_with_bytes")
      .on(t.createdAtMs)
      .where(sql`${t.raw} <> '0x'`),
  ],
);

/**
 * Transactions that used our nonces but are missing from the database. Kept until the lost rows are
 * restored, because old blocks cannot be searched again.
 */
export const nonceUsers = pgTable(
  "nonce_users",
  {
    chainId: int8("chain_id").notNull(),
    sender: text("sender").$type<Address>().notNull(),
    nonce: int8("nonce").notNull(),
    txHash: text("tx_hash").$type<TxHash>().notNull(),
    /** The request or claim that the transaction pays and whose commit was lost. Null if none. */
    pays: text("pays"),
    /**
     * Last 32 bytes of the input, where payments name their order. Null if shorter, or if the transaction
     * reverted.
     */
    inputEnd: text("input_end").$type<Hex>(),
  },
  (t) => [
    primaryKey({ columns: [t.chainId, t.sender, t.nonce] }),
    index("nonce_users_pays")
      .on(t.pays, t.chainId)
      .where(sql`${t.pays} is not null`),
  ],
);

/** Gas of fills that reverted in a block. The part that no refund deducts is limited per day. */
export const fillBurns = pgTable(
  "fill_burns",
  {
    slotId: int8("slot_id").primaryKey(),
    requestId: text("request_id").$type<RequestId>().notNull(),
    chainId: int8("chain_id").notNull(),
    /** Gas cost of the revert. */
    wei: uint("wei").notNull(),
    /** The part that the solver paid itself. */
    unpaidWei: uint("unpaid_wei").notNull(),
    atMs: int8("at_ms").notNull(),
    /** Value at the price of its block, 18 decimals. Null if there was no price. */
    usd: uint("usd"),
    /** Part that the request's sponsor was charged. Null if not charged yet. */
    sponsorWei: uint("sponsor_wei"),
  },
  (t) => [
    index("fill_burns_request").on(t.requestId),
    index("fill_burns_unpaid")
      .on(t.atMs)
      .where(sql`${t.unpaidWei} > 0`),
  ],
);

/** Every contract that a chain was ever configured with: users may still pay to them. */
export const usedContracts = pgTable(
  "used_contracts",
  {
    chainId: int8("chain_id").notNull(),
    address: text("address").$type<Address>().notNull(),
    /** The contract's name in the chain file, such as `depository`. */
    role: text("role").notNull(),
    firstUsedAtMs: int8("first_used_at_ms").notNull(),
  },
  (t) => [primaryKey({ columns: [t.chainId, t.address, t.role] })],
);
