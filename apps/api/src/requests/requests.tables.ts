import type {
  Address,
  FailReason,
  FrontState,
  OrderId,
  RefundFailReason,
  RequestId,
  RequestKind,
  StateName,
  TxHash,
} from "@causeway/domain";
import { sql } from "drizzle-orm";
import {
  boolean,
  doublePrecision,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import { int8, json } from "../db/columns.tables.ts";
import type { Month } from "../db/month.port.ts";
import type { TraceEvent } from "./trace.port.ts";

/** One row per quote given to a client. `terms` never changes; the other columns are its state. */
export const requests = pgTable(
  "requests",
  {
    requestId: text("request_id").$type<RequestId>().primaryKey(),
    orderId: text("order_id").$type<OrderId>().notNull(),
    kind: text("kind").$type<RequestKind>().notNull(),
    state: text("state").$type<StateName>().notNull(),
    /** The deposit that the state refers to: the accepted one, or the one being refunded. */
    depositId: int8("deposit_id"),
    failReason: text("fail_reason").$type<FailReason>(),
    refundFailReason: text("refund_fail_reason").$type<RefundFailReason>(),
    /** True once no reorg can change the outcome. */
    final: boolean("final").notNull().default(false),
    originChainId: int8("origin_chain_id").notNull(),
    destinationChainId: int8("destination_chain_id").notNull(),
    createdAtMs: int8("created_at_ms").notNull(),
    updatedAtMs: int8("updated_at_ms").notNull(),
    fillDeadlineMs: int8("fill_deadline_ms").notNull(),
    inTxHashes: text("in_tx_hashes").array().$type<TxHash[]>().notNull().default([]),
    txHashes: text("tx_hashes").array().$type<TxHash[]>().notNull().default([]),
    refundTxHashes: text("refund_tx_hashes").array().$type<TxHash[]>().notNull().default([]),
    /** API key that requested the quote. Null if none. */
    keyId: text("key_id"),
    /** The agreed terms, as JSON text. */
    terms: text("terms").notNull(),
    /** Progress of a fast fill, which an app's balance covers until the deposit is confirmed. */
    front: text("front").$type<FrontState>().notNull().default("none"),
    /** How many times the client-visible status has changed. */
    statusSeq: integer("status_seq").notNull().default(0),
    depositAddress: text("deposit_address").$type<Address>(),
    /** The request that replaced this one when a different amount arrived at its deposit address. */
    supersededBy: text("superseded_by").$type<RequestId>(),
    /** Funds at the deposit address that can be neither filled nor refunded automatically. */
    fundsHeld: boolean("funds_held").notNull().default(false),
    /** Confirmed funds at the deposit address that will be processed automatically. */
    fundsSeen: boolean("funds_seen").notNull().default(false),
    /** When the request entered its state. Null if the state never changed; use `updated_at_ms` then. */
    stateSinceMs: int8("state_since_ms"),
    /** Pruning has checked this request and keeps it. */
    kept: boolean("kept").notNull().default(false),
    /**
     * Months whose events are only in the operator's archive. Empty: the archive has other data of the
     * request, but no events. Null: nothing is archived.
     */
    archivedMonths: text("archived_months").array().$type<Month[]>(),
  },
  (t) => [
    index("requests_deposit_address")
      .on(t.depositAddress)
      .where(sql`${t.depositAddress} is not null`),
    index("requests_fronted")
      .on(t.fillDeadlineMs)
      .where(sql`${t.front} = 'held'`),
    index("requests_fronted_deposit")
      .on(t.originChainId)
      .where(sql`${t.front} in ('held', 'debited') and ${t.depositId} is not null`),
    uniqueIndex("requests_order_id").on(t.orderId),
    index("requests_prunable")
      .on(t.fillDeadlineMs)
      .where(sql`${t.state} = 'expired' and not ${t.kept}`),
    index("requests_prunable_large")
      .on(sql`greatest(${t.fillDeadlineMs}, ${t.stateSinceMs})`)
      .where(
        sql`${t.state} = 'expired' and not ${t.kept} and ${t.depositAddress} is null and octet_length(${t.terms}) > 4096`,
      ),
    index("requests_to_fill")
      .on(sql`coalesce(${t.stateSinceMs}, ${t.updatedAtMs})`)
      .where(sql`${t.state} in ('fillable', 'filling')`),
    index("requests_under_way")
      .on(t.updatedAtMs)
      .where(sql`${t.state} in ('deposited', 'fillable', 'filling', 'submitted', 'refunding')`),
    index("requests_waiting_origin")
      .on(t.originChainId, t.fillDeadlineMs)
      .where(
        sql`${t.state} in ('quoted', 'depositing') and ${t.supersededBy} is null and not ${t.fundsSeen}`,
      ),
    index("requests_with_address_funds")
      .on(t.depositAddress)
      .where(sql`${t.fundsSeen} or ${t.fundsHeld}`),
  ],
);

/**
 * The trace: what happened to a request, in order. Partitioned by the month of `at_ms`, which the migration
 * `0002_partitions` adds; see docs/adr/0027-data-that-lasts-years.md.
 */
export const requestEvents = pgTable(
  "request_events",
  {
    id: int8("id").generatedAlwaysAsIdentity(),
    requestId: text("request_id").$type<RequestId>().notNull(),
    atMs: int8("at_ms").notNull(),
    event: text("event").$type<TraceEvent>().notNull(),
    /** Facts of the event. Amounts are decimal strings. */
    detail: json("detail").$type<Readonly<Record<string, unknown>>>().notNull(),
  },
  (t) => [primaryKey({ columns: [t.id, t.atMs] }), index("request_events_request").on(t.requestId, t.id)],
);

/**
 * The client-visible status after each change, written in the commit that changed it. Columns mean the same
 * as in `requests`.
 */
export const statusEvents = pgTable(
  "status_events",
  {
    requestId: text("request_id").$type<RequestId>().notNull(),
    /** Counts from 1 for each request. */
    seq: integer("seq").notNull(),
    /** API key that requested the quote or submitted the call. Null if none. */
    keyId: text("key_id"),
    atMs: int8("at_ms").notNull(),
    /** True if only `final` changed. */
    onlyFinal: boolean("only_final").notNull(),
    state: text("state").$type<StateName>().notNull(),
    depositId: int8("deposit_id"),
    failReason: text("fail_reason").$type<FailReason>(),
    refundFailReason: text("refund_fail_reason").$type<RefundFailReason>(),
    final: boolean("final").notNull(),
    front: text("front").$type<FrontState>().notNull(),
    inTxHashes: text("in_tx_hashes").array().$type<TxHash[]>().notNull(),
    txHashes: text("tx_hashes").array().$type<TxHash[]>().notNull(),
    refundTxHashes: text("refund_tx_hashes").array().$type<TxHash[]>().notNull(),
    fundsSeen: boolean("funds_seen").notNull().default(false),
    fundsHeld: boolean("funds_held").notNull().default(false),
  },
  (t) => [primaryKey({ columns: [t.requestId, t.seq] }), index("status_events_age").on(t.atMs)],
);

/** Moving average of the time from deposit to fill per route; `timeEstimate` is based on it. */
export const routeTimings = pgTable(
  "route_timings",
  {
    originChainId: int8("origin_chain_id").notNull(),
    destinationChainId: int8("destination_chain_id").notNull(),
    samples: int8("samples").notNull(),
    averageMs: doublePrecision("average_ms").notNull(),
  },
  (t) => [primaryKey({ columns: [t.originChainId, t.destinationChainId] })],
);
