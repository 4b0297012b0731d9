import type { Address, Hex, HoldState, MovementContext, RequestId, WalletAccount } from "@causeway/domain";
import { sql } from "drizzle-orm";
import { check, index, integer, pgTable, primaryKey, text, unique, uniqueIndex } from "drizzle-orm/pg-core";
import { int8, uint, xid8 } from "../db/columns.tables.ts";
import type { ReservationState } from "./ledger.port.ts";

/** Wallets with an app balance. Lock this row before you move its money or check what is available. */
export const appWallets = pgTable("app_wallets", {
  wallet: text("wallet").$type<Address>().primaryKey(),
  createdAtMs: int8("created_at_ms").notNull(),
});

/** One movement of money: entries that sum to zero in every asset. Written once and never changed. */
export const ledgerMovements = pgTable(
  "ledger_movements",
  {
    id: int8("id").generatedAlwaysAsIdentity().primaryKey(),
    /** Identifies the movement, so that a retry posts it only once. */
    movementKey: text("movement_key").notNull().unique(),
    /** Type of the movement in `GET /balance-events`. */
    context: text("context").$type<MovementContext>().notNull(),
    reason: text("reason").notNull(),
    wallet: text("wallet")
      .$type<Address>()
      .notNull()
      .references(() => appWallets.wallet),
    /** The request or claim that it belongs to. */
    requestId: text("request_id").$type<Hex>(),
    createdAtMs: int8("created_at_ms").notNull(),
    /** The transaction that wrote it; only that one may add entries. */
    writtenBy: xid8("written_by")
      .notNull()
      .default(sql`pg_current_xact_id()`),
  },
  (t) => [
    index("ledger_movements_request")
      .on(t.requestId)
      .where(sql`${t.requestId} is not null`),
  ],
);

/**
 * Amounts are base units; a positive amount increases the account. Each wallet account has a running
 * balance.
 */
export const ledgerEntries = pgTable(
  "ledger_entries",
  {
    id: int8("id").generatedAlwaysAsIdentity().primaryKey(),
    movementId: int8("movement_id")
      .notNull()
      .references(() => ledgerMovements.id),
    account: text("account").$type<"custody" | "fees" | "fronted" | WalletAccount>().notNull(),
    /** Null for house accounts, which have no running balance so that no one waits for their lock. */
    wallet: text("wallet")
      .$type<Address>()
      .references(() => appWallets.wallet),
    chainId: int8("chain_id").notNull(),
    currency: text("currency").$type<Address>().notNull(),
    amount: uint("amount").notNull(),
    seq: int8("seq"),
    balanceAfter: uint("balance_after"),
  },
  (t) => [
    unique().on(t.movementId, t.account, t.chainId, t.currency),
    check(
      "ledger_account_known",
      sql`((${t.wallet} is null) and (${t.account} in ('custody', 'fees', 'fronted')) and (${t.seq} is null) and (${t.balanceAfter} is null)) or ((${t.wallet} is not null) and (${t.account} in ('balance', 'pending', 'owed')) and (${t.seq} is not null) and (${t.balanceAfter} is not null))`,
    ),
    check("ledger_entries_amount_check", sql`${t.amount} <> 0`),
    check(
      "ledger_never_overdrawn",
      sql`(${t.balanceAfter} is null) or ((${t.account} = 'owed') and (${t.balanceAfter} <= 0)) or ((${t.account} <> 'owed') and (${t.balanceAfter} >= 0))`,
    ),
    index("ledger_entries_house")
      .on(t.account, t.chainId, t.currency)
      .where(sql`${t.wallet} is null`),
    uniqueIndex("ledger_entries_run")
      .on(t.wallet, t.account, t.chainId, t.currency, t.seq)
      .where(sql`${t.wallet} is not null`),
    index("ledger_entries_wallet")
      .on(t.wallet, t.id)
      .where(sql`${t.wallet} is not null`),
  ],
);

/** Accounts that have at least one entry. */
export const ledgerAccounts = pgTable(
  "ledger_accounts",
  {
    wallet: text("wallet")
      .$type<Address>()
      .notNull()
      .references(() => appWallets.wallet),
    account: text("account").$type<WalletAccount>().notNull(),
    chainId: int8("chain_id").notNull(),
    currency: text("currency").$type<Address>().notNull(),
  },
  (t) => [primaryKey({ columns: [t.wallet, t.account, t.chainId, t.currency] })],
);

/** Money reserved for the fees of a request; it is in account `pending` while open. */
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
    /** What a paid reservation cost, 18 decimals; budgets count it. Null if all of it, or not paid yet. */
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

/** What was reserved of each asset, in order, and its USD value. */
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

/** What an app guarantees with its balance: one per request. */
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
    /** What is paid out before the deposit: chain, currency and amount. */
    chainId: int8("chain_id").notNull(),
    currency: text("currency").$type<Address>().notNull(),
    amount: uint("amount").notNull(),
    /** How often it became permanent; each time is its own movement. */
    debits: integer("debits").notNull().default(0),
    placedAtMs: int8("placed_at_ms").notNull(),
    /** When it last stopped being active. Null while active. */
    resolvedAtMs: int8("resolved_at_ms"),
    /** Value of the deposit above the fill, 18 decimals. Counts as exposure of the key but is not held. */
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
