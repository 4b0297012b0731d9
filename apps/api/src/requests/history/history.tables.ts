import type { Address, FailReason, RefundFailReason, RequestId, TxHash } from "@causeway/domain";
import { sql } from "drizzle-orm";
import { boolean, index, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import { int8, largeInt8 } from "../../db/columns.tables.ts";
import type { RequestFeature, RequestType } from "./request-history.port.ts";
import { requests } from "../requests.tables.ts";

/** One row per request that was paid, accepted or sent: what `GET /requests` filters and sorts by. */
export const requestHistory = pgTable(
  "request_history",
  {
    /** Breaks ties of the sort key in fewer bytes than the request id. */
    n: int8("n").generatedAlwaysAsIdentity().primaryKey(),
    requestId: text("request_id")
      .$type<RequestId>()
      .notNull()
      .references(() => requests.requestId, { onDelete: "cascade" }),
    /** When the request was quoted. */
    createdAtMs: int8("created_at_ms").notNull(),
    /** When the client-visible status last changed. */
    updatedAtMs: int8("updated_at_ms").notNull(),
    status: text("status").notNull(),
    failReason: text("fail_reason").$type<FailReason>(),
    refundFailReason: text("refund_fail_reason").$type<RefundFailReason>(),
    requestType: text("request_type").$type<RequestType>().notNull(),
    userAddress: text("user_address").$type<Address>(),
    recipient: text("recipient").$type<Address>(),
    depositAddress: text("deposit_address").$type<Address>(),
    originChainId: int8("origin_chain_id").notNull(),
    destinationChainId: int8("destination_chain_id").notNull(),
    /** The user's payment. */
    currencyIn: text("currency_in").$type<Address>(),
    /** The recipient's output. */
    currencyOut: text("currency_out").$type<Address>(),
    /** Lower case; null if the currency has no known symbol. */
    symbolIn: text("symbol_in"),
    symbolOut: text("symbol_out"),
    /** Quoted input value, in millionths of a USD. */
    amountUsd: largeInt8("amount_usd").notNull(),
    /** Quoted app fees, in millionths of a USD. */
    appFeesUsd: largeInt8("app_fees_usd")
      .notNull()
      .default(sql`0`),
    features: text("features").array().$type<RequestFeature[]>().notNull().default([]),
    /** API key that requested the quote. */
    keyId: text("key_id"),
    referrer: text("referrer"),
    /** Block of the deposit on the origin chain. */
    inBlock: int8("in_block"),
    /** When the deposit was first seen. */
    inSeenAtMs: int8("in_seen_at_ms"),
    /** From the sighting of the deposit until the fill was mined. Null for a fast fill. */
    fillMs: int8("fill_ms"),
  },
  (t) => [
    index("request_history_amount").on(t.amountUsd, t.n, t.createdAtMs),
    index("request_history_app_fees")
      .on(t.appFeesUsd, t.createdAtMs, t.n)
      .where(sql`${t.appFeesUsd} > 0`),
    index("request_history_block").on(t.inBlock, t.createdAtMs, t.n),
    index("request_history_calls")
      .on(t.createdAtMs, t.n)
      .where(sql`${t.features} @> '{calls}'`),
    index("request_history_chain_block").on(t.originChainId, t.inBlock, t.inSeenAtMs),
    index("request_history_created").on(t.createdAtMs, t.n),
    index("request_history_currency_in").on(t.currencyIn, t.createdAtMs, t.n),
    index("request_history_currency_out").on(t.currencyOut, t.createdAtMs, t.n),
    index("request_history_deposit_address")
      .on(t.depositAddress, t.createdAtMs, t.n)
      .where(sql`${t.depositAddress} is not null`),
    index("request_history_destination").on(t.destinationChainId, t.createdAtMs, t.n),
    index("request_history_destination_swap")
      .on(t.createdAtMs, t.n)
      .where(sql`${t.features} @> '{destination-swap}'`),
    index("request_history_execution")
      .on(t.createdAtMs, t.n)
      .where(sql`${t.features} @> '{execution}'`),
    index("request_history_fail")
      .on(t.failReason, t.createdAtMs, t.n)
      .where(sql`${t.failReason} is not null`),
    index("request_history_fast_fill")
      .on(t.createdAtMs, t.n)
      .where(sql`${t.features} @> '{fast-fill}'`),
    index("request_history_fill_time")
      .on(t.fillMs, t.createdAtMs, t.n)
      .where(sql`${t.fillMs} is not null`),
    index("request_history_key")
      .on(t.keyId, t.createdAtMs, t.n)
      .where(sql`${t.keyId} is not null`),
    index("request_history_origin").on(t.originChainId, t.createdAtMs, t.n),
    index("request_history_origin_swap")
      .on(t.createdAtMs, t.n)
      .where(sql`${t.features} @> '{origin-swap}'`),
    index("request_history_recipient").on(t.recipient, t.createdAtMs, t.n),
    index("request_history_refund_fail")
      .on(t.refundFailReason, t.createdAtMs, t.n)
      .where(sql`${t.refundFailReason} is not null`),
    uniqueIndex("request_history_request").on(t.requestId),
    index("request_history_status").on(t.status, t.createdAtMs, t.n),
    index("request_history_symbol_in").on(t.symbolIn, t.createdAtMs, t.n),
    index("request_history_symbol_out").on(t.symbolOut, t.createdAtMs, t.n),
    index("request_history_type").on(t.requestType, t.createdAtMs, t.n),
    index("request_history_updated").on(t.updatedAtMs, t.n),
    index("request_history_user").on(t.userAddress, t.createdAtMs, t.n),
  ],
);

/** Finds requests by transaction hash: the inverse of the hash arrays of `requests`. */
export const requestTransactions = pgTable(
  "request_transactions",
  {
    txHash: text("tx_hash").$type<TxHash>().notNull(),
    requestId: text("request_id")
      .$type<RequestId>()
      .notNull()
      .references(() => requests.requestId, { onDelete: "cascade" }),
    kind: text("kind").$type<"deposit" | "fill" | "refund">().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.txHash, t.requestId, t.kind] }),
    index("request_transactions_request").on(t.requestId),
  ],
);

/** Symbols and assets of currencies, as configured when a request is first listed. */
export const currencyNames = pgTable(
  "currency_names",
  {
    chainId: int8("chain_id").notNull(),
    address: text("address").$type<Address>().notNull(),
    /** Equal for the same asset on all chains. Null if unknown. */
    asset: text("asset"),
    symbol: text("symbol").notNull(),
    /** True for the token that wraps the chain's native token one to one. */
    wrapsNative: boolean("wraps_native").notNull().default(false),
  },
  (t) => [primaryKey({ columns: [t.chainId, t.address] })],
);
