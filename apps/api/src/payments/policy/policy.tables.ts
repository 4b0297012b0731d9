import type { Address, RequestId } from "@causeway/domain";
import { index, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { int8, uint } from "../../db/columns.tables.ts";
import type { KeyName } from "./limits.port.ts";
import type { Rule } from "./limits.port.ts";

/** The operator's pauses. New quotes and payments within a scope are refused until its row is deleted. */
export const pauses = pgTable("pauses", {
  /** `all`, `chain:<id>` or `route:<origin id>-<destination id>`. */
  scope: text("scope").primaryKey(),
  /** Who paused it, as they named themselves. */
  pausedBy: text("paused_by").notNull(),
  reason: text("reason").notNull(),
  sinceMs: int8("since_ms").notNull(),
});

/** USD that a key has signed away on a chain per UTC day. Only for keys and chains with a daily limit. */
export const spentDays = pgTable(
  "spent_days",
  {
    chainId: int8("chain_id").notNull(),
    keyName: text("key_name").$type<KeyName>().notNull(),
    /** Counted from 1970. */
    day: int8("day").notNull(),
    /** 18 decimals. */
    usd: uint("usd").notNull(),
  },
  (t) => [primaryKey({ columns: [t.chainId, t.keyName, t.day] })],
);

/**
 * The part of {@link spentDays} that a slot releases if it ends without paying. Deleted when the slot ends.
 */
export const spentSlots = pgTable("spent_slots", {
  slotId: int8("slot_id").primaryKey(),
  chainId: int8("chain_id").notNull(),
  keyName: text("key_name").$type<KeyName>().notNull(),
  day: int8("day").notNull(),
  /** 18 decimals. */
  usd: uint("usd").notNull(),
});

/** Payments that the policy does not allow now. Deleted when they are reserved or given up. */
export const heldPayments = pgTable(
  "held_payments",
  {
    legKind: text("leg_kind").notNull(),
    legId: text("leg_id").notNull(),
    requestId: text("request_id").$type<RequestId>(),
    chainId: int8("chain_id").notNull(),
    sender: text("sender").$type<Address>().notNull(),
    rule: text("rule").$type<Rule>().notNull(),
    why: text("why").notNull(),
    sinceMs: int8("since_ms").notNull(),
    /** When the payment was last refused. */
    seenAtMs: int8("seen_at_ms").notNull(),
  },
  (t) => [primaryKey({ columns: [t.legKind, t.legId] }), index("held_payments_request").on(t.requestId)],
);
