import type { Address, HoldReason, OrderId, RequestId, TxHash } from "@causeway/domain";
import { sql } from "drizzle-orm";
import { boolean, index, pgSequence, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { int8, json, uint } from "../../db/columns.tables.ts";
import type { RouteQuestion, SweepState } from "./deposit-addresses.port.ts";

/** Deposit addresses that were issued to clients, each with its quote. */
export const depositAddresses = pgTable(
  "deposit_addresses",
  {
    address: text("address").$type<Address>().primaryKey(),
    requestId: text("request_id").$type<RequestId>().notNull().unique(),
    orderId: text("order_id").$type<OrderId>().notNull(),
    depositor: text("depositor").$type<Address>().notNull(),
    /** May recover funds from the address; the zero address means no one. */
    recovery: text("recovery").$type<Address>().notNull(),
    strict: boolean("strict").notNull(),
    /** Null if no one was named; the zero address means the sender. */
    refundTo: text("refund_to").$type<Address>(),
    /** The quote request, to quote again for a different amount. */
    question: json("question").$type<RouteQuestion>().notNull(),
    keyId: text("key_id"),
    createdAtMs: int8("created_at_ms").notNull(),
    /**
     * When it was issued, or last received funds that its request reports. Older addresses are scanned less
     * often.
     */
    activeAtMs: int8("active_at_ms").notNull(),
    /** Whether the contract itself binds the address to the order of its quote. */
    boundToOrder: boolean("bound_to_order").notNull(),
    /** Chain and currency that the address was quoted for, so that watching need not parse `question`. */
    quotedChainId: int8("quoted_chain_id").notNull(),
    quotedCurrency: text("quoted_currency").$type<Address>().notNull(),
  },
  (t) => [index("deposit_addresses_active").on(t.activeAtMs.desc().nullsFirst())],
);

export const depositAddressObservations = pgSequence("deposit_address_observations");

/** Balances seen at deposit addresses that were not swept yet. */
export const depositAddressFunds = pgTable(
  "deposit_address_funds",
  {
    address: text("address")
      .$type<Address>()
      .notNull()
      .references(() => depositAddresses.address),
    chainId: int8("chain_id").notNull(),
    currency: text("currency").$type<Address>().notNull(),
    /** Identifies this sighting; at most one sweep refers to it. */
    observation: int8("observation")
      .notNull()
      .default(sql`nextval('deposit_address_observations')`),
    amount: uint("amount").notNull(),
    /** The block in which the amount was last seen to change. */
    seenBlock: int8("seen_block").notNull(),
    /** Last earlier block in which the funds were missing. Null if no earlier block was read. */
    unseenBlock: int8("unseen_block"),
    seenAtMs: int8("seen_at_ms").notNull(),
    /** Why the funds stay at the address. Null if not decided yet. */
    heldReason: text("held_reason").$type<HoldReason>(),
    /**
     * What the amount consists of, oldest first: JSON text `[[amount, since block, unseen block or null,
     * ms, found block or null], ...]`. Null means one layer, with the age of this row.
     */
    layers: text("layers"),
    /**
     * The reason that the operator was last alerted about, so that arriving dust does not repeat the alert.
     */
    alarmedReason: text("alarmed_reason").$type<HoldReason>(),
    /**
     * Whether the status of the request mentions these funds: true for configured tokens, false for dust.
     */
    speaks: boolean("speaks").notNull().default(true),
  },
  (t) => [
    primaryKey({ columns: [t.address, t.chainId, t.currency] }),
    index("deposit_address_funds_age").on(t.seenAtMs),
  ],
);

/** Transfers from a deposit address to the depository, for one order, in one transaction. */
export const depositSweeps = pgTable(
  "deposit_sweeps",
  {
    id: int8("id").generatedAlwaysAsIdentity().primaryKey(),
    /** The database allows only one sweep per observation. */
    observation: int8("observation").notNull().unique(),
    address: text("address").$type<Address>().notNull(),
    chainId: int8("chain_id").notNull(),
    currency: text("currency").$type<Address>().notNull(),
    /** Deposited for the order. */
    amount: uint("amount").notNull(),
    /** Deposited in addition to `amount`; 0 if nothing. */
    excess: uint("excess").notNull(),
    orderId: text("order_id").$type<OrderId>().notNull(),
    requestId: text("request_id").$type<RequestId>().notNull(),
    state: text("state").$type<SweepState>().notNull().default("planned"),
    blockNumber: int8("block_number"),
    txHash: text("tx_hash").$type<TxHash>(),
    createdAtMs: int8("created_at_ms").notNull(),
    /** When the swept amount first arrived at the address. Null means when the sweep was planned. */
    arrivedAtMs: int8("arrived_at_ms"),
    /** When a simulation of the sweep first reverted. Null if the last one did not. */
    refusedSinceMs: int8("refused_since_ms"),
    /** Origin of the funds, as in `deposit_address_funds`; restored if the sweep moves nothing. */
    layers: text("layers"),
  },
  (t) => [
    index("deposit_sweeps_address").on(t.address, t.id),
    index("deposit_sweeps_open")
      .on(t.chainId, t.address)
      .where(sql`${t.state} in ('planned', 'sent', 'mined')`),
    index("deposit_sweeps_planned")
      .on(t.createdAtMs)
      .where(sql`${t.state} = 'planned'`),
    index("deposit_sweeps_request").on(t.requestId),
  ],
);
