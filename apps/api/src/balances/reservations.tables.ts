import type { Address, HoldState, RequestId } from "@causeway/domain";
import { sql } from "drizzle-orm";
import { check, index, integer, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import { int8, uint } from "../db/columns.tables.ts";
import type { ReservationState } from "./ledger.port.ts";
import { appWallets } from "./ledger.tables.ts";

/** Funds reserved for the fees of a request; in account `pending` while the reservation is open. */
export const feeReservations = pgTable(
  "fee_reservations",
  {
    id: int8("id").generatedAlwaysAsIdentity().primaryKey(),
    requestId: text("request_id").$type<RequestId>().notNull(),
    wallet: text("wallet")
      .$type<Address>()
      .notNull()
      .references(() => appWallets.wallet),
    /** 18 decimals. */
    usd: uint("usd").notNull(),
    state: text("state").$type<ReservationState>().notNull().default("open"),
    createdAtMs: int8("created_at_ms").notNull(),
    closedAtMs: int8("closed_at_ms"),
    purpose: text("purpose").$type<"execution" | "fees">().notNull().default("execution"),
    round: integer("round").notNull().default(1),
    /**
     * API key whose daily budget the fees count against. Null for executions, which are counted by their
     * own rows.
     */
    keyId: text("key_id"),
    /** UTC days since 1970. */
    day: integer("day"),
    userAddress: text("user_address").$type<Address>(),
    /**
     * The paid part of a reservation, USD with 18 decimals; budgets count it. Null: the whole reservation, or
     * not paid yet.
     */
    paidUsd: uint("paid_usd"),
  },
  (t) => [
    check("fee_reservations_purpose_check", sql`${t.purpose} in ('execution', 'fees')`),
    check("fee_reservations_state_check", sql`${t.state} in ('open', 'paid', 'released')`),
    index("fee_reservations_budget")
      .on(t.keyId, t.day)
      .where(sql`${t.keyId} is not null`),
    uniqueIndex("fee_reservations_identity").on(t.requestId, t.purpose, t.round),
    index("fee_reservations_open")
      .on(t.wallet)
      .where(sql`${t.state} = 'open'`),
  ],
);

/** The reserved amounts by asset, in the order in which they are charged, and their USD values. */
export const feeReservationParts = pgTable(
  "fee_reservation_parts",
  {
    reservationId: int8("reservation_id")
      .notNull()
      .references(() => feeReservations.id),
    n: integer("n").notNull(),
    chainId: int8("chain_id").notNull(),
    currency: text("currency").$type<Address>().notNull(),
    amount: uint("amount").notNull(),
    usd: uint("usd").notNull(),
  },
  (t) => [primaryKey({ columns: [t.reservationId, t.n] })],
);

/** Deposits that an app guarantees with its balance; one hold per request. */
export const holds = pgTable(
  "holds",
  {
    requestId: text("request_id").$type<RequestId>().primaryKey(),
    wallet: text("wallet")
      .$type<Address>()
      .notNull()
      .references(() => appWallets.wallet),
    keyId: text("key_id").notNull(),
    state: text("state").$type<HoldState>().notNull().default("active"),
    /** 18 decimals. */
    usd: uint("usd").notNull(),
    /** The fill that is paid before the deposit: chain, currency and base units. */
    chainId: int8("chain_id").notNull(),
    currency: text("currency").$type<Address>().notNull(),
    amount: uint("amount").notNull(),
    /** How many times the hold was debited; each debit is a movement of its own. */
    debits: integer("debits").notNull().default(0),
    placedAtMs: int8("placed_at_ms").notNull(),
    /** When the hold last stopped being active. Null while active. */
    resolvedAtMs: int8("resolved_at_ms"),
    /**
     * Value of the deposit in excess of the fill, USD with 18 decimals. Counts toward the key's exposure but
     * is not held.
     */
    surplusUsd: uint("surplus_usd")
      .notNull()
      .default(sql`0`),
  },
  (t) => [
    check("holds_state_check", sql`${t.state} in ('active', 'released', 'permanent')`),
    check("holds_usd_check", sql`${t.usd} >= 0`),
    index("holds_active_key")
      .on(t.keyId)
      .where(sql`${t.state} = 'active'`),
    index("holds_active_wallet")
      .on(t.wallet)
      .where(sql`${t.state} = 'active'`),
    index("holds_wallet").on(t.wallet, t.placedAtMs, t.requestId),
  ],
);

/** Final fills whose app fees are not credited yet because no fresh price was available. */
export const appFeesDue = pgTable("app_fees_due", {
  requestId: text("request_id").$type<RequestId>().primaryKey(),
  sinceMs: int8("since_ms").notNull(),
});
