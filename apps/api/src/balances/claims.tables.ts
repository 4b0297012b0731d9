import type { Address, Hex, TxHash } from "@causeway/domain";
import { sql } from "drizzle-orm";
import { check, index, integer, pgTable, text } from "drizzle-orm/pg-core";
import { int8, uint } from "../db/columns.tables.ts";
import type { ClaimState } from "./claims.port.ts";

/** Withdrawals of an app balance: the offer, its signature and the payment. */
export const claims = pgTable(
  "claims",
  {
    /**
     * keccak256(abi.encode(salt, wallet, chain id, currency, recipient, amount, expiry)). The wallet signs
     * this hash.
     */
    claimId: text("claim_id").$type<Hex>().primaryKey(),
    wallet: text("wallet").$type<Address>().notNull(),
    chainId: int8("chain_id").notNull(),
    currency: text("currency").$type<Address>().notNull(),
    recipient: text("recipient").$type<Address>().notNull(),
    /** The amount that the recipient gets, base units. */
    amount: uint("amount").notNull(),
    /** The cost of the payment, base units of the same currency. */
    feeAmount: uint("fee_amount").notNull(),
    /** When an unsigned offer expires, Unix seconds. */
    expiresAt: int8("expires_at").notNull(),
    state: text("state").$type<ClaimState>().notNull().default("offered"),
    /** Payout attempts; each has its own job. */
    tries: integer("tries").notNull().default(0),
    txHash: text("tx_hash").$type<TxHash>(),
    failReason: text("fail_reason"),
    createdAtMs: int8("created_at_ms").notNull(),
    updatedAtMs: int8("updated_at_ms").notNull(),
  },
  (t) => [
    check("claims_amount_check", sql`${t.amount} > 0`),
    check("claims_fee_amount_check", sql`${t.feeAmount} >= 0`),
    check("claims_state_check", sql`${t.state} in ('offered', 'paying', 'paid', 'returned')`),
    index("claims_offered")
      .on(t.expiresAt)
      .where(sql`${t.state} = 'offered'`),
    index("claims_paying")
      .on(t.updatedAtMs)
      .where(sql`${t.state} = 'paying'`),
    index("claims_wallet")
      .on(t.wallet, t.createdAtMs, t.claimId)
      .where(sql`${t.state} <> 'offered'`),
  ],
);
