import type { Address, Hex, MovementContext, WalletAccount } from "@causeway/domain";
import { sql } from "drizzle-orm";
import { check, index, pgTable, primaryKey, text, unique, uniqueIndex } from "drizzle-orm/pg-core";
import { int8, uint, xid8 } from "../db/columns.tables.ts";

/**
 * Wallets with an app balance. Lock the wallet's row before you move its funds or check what is available.
 */
export const appWallets = pgTable("app_wallets", {
  wallet: text("wallet").$type<Address>().primaryKey(),
  createdAtMs: int8("created_at_ms").notNull(),
});

/**
 * Movements of funds: the entries of a movement sum to zero in every asset. Written once and never changed.
 */
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
    /** The request or claim that the movement belongs to. */
    requestId: text("request_id").$type<Hex>(),
    createdAtMs: int8("created_at_ms").notNull(),
    /** The database transaction that wrote the movement; no other transaction may add entries. */
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
    /**
     * Null for the service's own accounts. They have no running balance, so that transactions do not wait for
     * their lock.
     */
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
