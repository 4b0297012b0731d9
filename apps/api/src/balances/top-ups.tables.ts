import type { Address, Hex, TxHash } from "@causeway/domain";
import { sql } from "drizzle-orm";
import { boolean, check, index, integer, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core";
import { int8, uint } from "../db/columns.tables.ts";
import type { TopUpState } from "./top-ups.port.ts";

/** Transfers to the solver that credit an app balance, or were meant to. */
export const appTopUps = pgTable(
  "app_top_ups",
  {
    id: int8("id").generatedAlwaysAsIdentity().primaryKey(),
    chainId: int8("chain_id").notNull(),
    txHash: text("tx_hash").$type<TxHash>().notNull(),
    /** Counts equal transfers within a transaction. */
    ordinal: integer("ordinal").notNull(),
    blockNumber: int8("block_number").notNull(),
    blockHash: text("block_hash").$type<Hex>().notNull(),
    /** False while no canonical block contains the transfer. */
    canonical: boolean("canonical").notNull(),
    confirmAtBlock: int8("confirm_at_block").notNull(),
    sender: text("sender").$type<Address>().notNull(),
    /** Null if the marker is malformed; the top-up is then not credited. */
    wallet: text("wallet").$type<Address>(),
    currency: text("currency").$type<Address>().notNull(),
    amount: uint("amount").notNull(),
    state: text("state").$type<TopUpState>().notNull(),
    /** How many times the top-up was credited; each credit is a movement of its own. */
    credits: integer("credits").notNull().default(0),
    seenAtMs: int8("seen_at_ms").notNull(),
  },
  (t) => [
    check("app_top_ups_state_check", sql`${t.state} in ('seen', 'credited', 'unattributed')`),
    index("app_top_ups_due")
      .on(t.chainId, t.confirmAtBlock)
      .where(sql`${t.state} = 'seen' and ${t.canonical}`),
    uniqueIndex("app_top_ups_identity").on(
      t.chainId,
      t.txHash,
      t.currency,
      t.amount,
      t.sender,
      sql`coalesce(${t.wallet}, '')`,
      t.ordinal,
    ),
    index("app_top_ups_recent").on(t.chainId, t.blockNumber),
  ],
);
