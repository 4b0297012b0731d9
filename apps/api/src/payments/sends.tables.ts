import type { Address, Hex, RequestId, TxHash } from "@causeway/domain";
import { sql } from "drizzle-orm";
import { boolean, index, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { int8 } from "../db/columns.tables.ts";

/** Mined same-chain transfers that fulfill a request of kind `send` or `swap`. */
export const sends = pgTable(
  "sends",
  {
    chainId: int8("chain_id").notNull(),
    txHash: text("tx_hash").$type<TxHash>().notNull(),
    requestId: text("request_id").$type<RequestId>().notNull().unique(),
    /** Null until mined. */
    blockNumber: int8("block_number"),
    blockHash: text("block_hash").$type<Hex>(),
    settled: boolean("settled").notNull().default(false),
    createdAtMs: int8("created_at_ms").notNull(),
    sender: text("sender").$type<Address>().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.chainId, t.txHash] }),
    index("sends_unsettled_block")
      .on(t.chainId, t.blockNumber, t.txHash)
      .where(sql`not ${t.settled}`),
  ],
);

/**
 * Reported transactions, not mined yet, of `send` and `swap` requests. Anyone may report, so neither
 * request nor transaction is unique.
 */
export const sendReports = pgTable(
  "send_reports",
  {
    chainId: int8("chain_id").notNull(),
    txHash: text("tx_hash").$type<TxHash>().notNull(),
    requestId: text("request_id").$type<RequestId>().notNull(),
    /** Signer of the transaction; the number of followed reports per signer is limited. */
    sender: text("sender").$type<Address>().notNull(),
    createdAtMs: int8("created_at_ms").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.chainId, t.txHash, t.requestId] }),
    index("send_reports_age").on(t.chainId, t.createdAtMs, t.txHash, t.requestId),
    index("send_reports_request").on(t.requestId),
    index("send_reports_sender").on(t.chainId, t.sender),
  ],
);
