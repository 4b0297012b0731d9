import type { Address, RequestId } from "@causeway/domain";
import { sql } from "drizzle-orm";
import { boolean, check, index, integer, pgTable, text } from "drizzle-orm/pg-core";
import { int8, uint } from "../db/columns.tables.ts";
import type { CoverState } from "../balances/fast-fill.port.ts";

/** Terms of a fast fill, which an app guarantees before its deposit is confirmed. */
export const fastFills = pgTable(
  "fast_fills",
  {
    requestId: text("request_id").$type<RequestId>().primaryKey(),
    keyId: text("key_id").notNull(),
    wallet: text("wallet").$type<Address>().notNull(),
    /** The amount that the recipient gets, base units of the destination currency. */
    amount: uint("amount").notNull(),
    /** The input that the fill was priced on, base units of the origin currency. */
    inputAmount: uint("input_amount").notNull(),
    /** The asset credited to the app if the deposit exceeds `input_amount`; chain 0 means none. */
    surplusChainId: int8("surplus_chain_id").notNull(),
    surplusCurrency: text("surplus_currency").$type<Address>().notNull(),
    surplusAmount: uint("surplus_amount").notNull(),
    /**
     * True while the surplus is credited; a reorg undoes the credit. Each credit is a movement of its own.
     */
    surplusCredited: boolean("surplus_credited").notNull().default(false),
    surplusMoves: integer("surplus_moves").notNull().default(0),
    acceptedAtMs: int8("accepted_at_ms").notNull(),
    originPriceUsd: uint("origin_price_usd")
      .notNull()
      .default(sql`0`),
    destinationPriceUsd: uint("destination_price_usd")
      .notNull()
      .default(sql`0`),
    nativePriceUsd: uint("native_price_usd")
      .notNull()
      .default(sql`0`),
    /** How much value a deposit may lose by price moves while the quote is firm, bps. */
    toleranceBps: integer("tolerance_bps").notNull().default(0),
    /** A deposit seen later is refunded. Null means no limit. */
    depositUntilMs: int8("deposit_until_ms"),
    /** Gas of the final fill; charged if the deposit never arrives. */
    spentUsd: uint("spent_usd")
      .notNull()
      .default(sql`0`),
    /** Value debited because the deposit had not arrived. */
    debitedUsd: uint("debited_usd")
      .notNull()
      .default(sql`0`),
    /** Gas of a fill that reverted in a block. */
    revertedGasUsd: uint("burnt_usd")
      .notNull()
      .default(sql`0`),
    revertedSlotId: int8("burnt_slot_id"),
    revertedAtMs: int8("burnt_at_ms"),
    /** Whether the app was charged for the reverted fill. */
    revertedGasCharged: boolean("burnt_charged").notNull().default(false),
    /**
     * Whether the deposit was booked to the app's balance: nothing to book, waiting for a price, or booked.
     */
    coverState: text("cover_state").$type<CoverState>().notNull().default("none"),
    /** When booking or debiting was last tried; the oldest is tried first. */
    triedAtMs: int8("tried_at_ms").notNull().default(0),
  },
  (t) => [
    check("fast_fills_amount_check", sql`${t.amount} > 0`),
    check("fast_fills_cover_state_check", sql`${t.coverState} in ('none', 'due', 'booked')`),
    check("fast_fills_input_amount_check", sql`${t.inputAmount} > 0`),
    check("fast_fills_surplus_amount_check", sql`${t.surplusAmount} >= 0`),
    index("fast_fills_burnt")
      .on(t.wallet, t.revertedAtMs)
      .where(sql`${t.revertedGasUsd} > 0`),
    index("fast_fills_due")
      .on(t.acceptedAtMs)
      .where(sql`(${t.coverState} = 'due') or ((${t.revertedGasUsd} > 0) and (not ${t.revertedGasCharged}))`),
  ],
);
