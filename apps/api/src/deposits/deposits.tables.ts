import type {
  Address,
  FailReason,
  Hex,
  OrderId,
  RefundFailReason,
  RequestId,
  TxHash,
} from "@causeway/domain";
import { sql } from "drizzle-orm";
import { boolean, index, integer, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import { int8, uint } from "../db/columns.tables.ts";
import type { DepositDisposition, RefundState } from "../db/records.port.ts";
import { requests } from "../requests/requests.tables.ts";

/**
 * Money received by a depository. Transaction, currency, amount, depositor, sender, order and `ordinal`
 * identify a deposit: in another fork the same transaction can make a different one.
 */
export const deposits = pgTable(
  "deposits",
  {
    id: int8("id").generatedAlwaysAsIdentity().primaryKey(),
    chainId: int8("chain_id").notNull(),
    txHash: text("tx_hash").$type<TxHash>().notNull(),
    /** Counts equal deposits within a transaction. */
    ordinal: integer("ordinal").notNull(),
    blockNumber: int8("block_number").notNull(),
    blockHash: text("block_hash").$type<Hex>().notNull(),
    /** False while no canonical block contains it. */
    canonical: boolean("canonical").notNull(),
    /** Height of the chain at which it has enough confirmations for its value. */
    confirmAtBlock: int8("confirm_at_block").notNull(),
    depositor: text("depositor").$type<Address>().notNull(),
    sender: text("sender").$type<Address>().notNull(),
    currency: text("currency").$type<Address>().notNull(),
    amount: uint("amount").notNull(),
    /** Quoted value, USD with 18 decimals; 0 if it was not quoted. */
    valueUsd: uint("value_usd").notNull(),
    orderId: text("order_id").$type<OrderId>(),
    requestId: text("request_id").$type<RequestId>(),
    /** The decision about the deposit. */
    disposition: text("disposition").$type<DepositDisposition>().notNull(),
    /** Why it is refunded or unattributed. */
    reason: text("reason").$type<FailReason>(),
    refundState: text("refund_state").$type<RefundState>().notNull().default("none"),
    refundFailReason: text("refund_fail_reason").$type<RefundFailReason>(),
    seenAtMs: int8("seen_at_ms").notNull(),
    /** Nonce of the sender's transfer on a chain whose transfers carry no order id. */
    walletNonce: uint("wallet_nonce"),
    /** Until when the wallet may still map the transfer to an order (ms). Null if no mapping is awaited. */
    mappingUntilMs: int8("mapping_until_ms"),
    /**
     * Value of a refund that settlement never repays, as of its planning, USD with 18 decimals. Null if there
     * is none.
     */
    unrepaidUsd: uint("unrepaid_usd"),
    unrepaidAtMs: int8("unrepaid_at_ms"),
    unrepaidReason: text("unrepaid_reason"),
    /** Why the refund waits for room in the daily limit. Null if it does not wait. */
    refundWaits: text("refund_waits"),
    /** The depository that received it; settlement claims it there. Null means the configured one. */
    depository: text("depository").$type<Address>(),
    /** Oracles cannot read its transaction, so neither its fill nor its refund is ever repaid. */
    unattestable: boolean("unattestable").notNull().default(false),
    /** When the operator released its refund from the daily limit. Null if never. */
    refundReleasedAtMs: int8("refund_released_at_ms"),
  },
  (t) => [
    uniqueIndex("deposits_by_nonce")
      .on(t.chainId, t.txHash, t.sender, t.walletNonce, t.ordinal)
      .where(sql`${t.walletNonce} is not null`),
    uniqueIndex("deposits_identity").on(
      t.chainId,
      t.txHash,
      t.currency,
      t.amount,
      t.depositor,
      t.sender,
      sql`coalesce(${t.orderId}, '')`,
      t.ordinal,
    ),
    index("deposits_recent").on(t.chainId, t.blockNumber),
    index("deposits_refund_due")
      .on(t.id)
      .where(sql`${t.disposition} = 'refund' and ${t.refundState} = 'none'`),
    index("deposits_refund_waits")
      .on(t.id)
      .where(sql`${t.refundWaits} is not null`),
    index("deposits_request")
      .on(t.requestId)
      .where(sql`${t.requestId} is not null`),
    index("deposits_unasked")
      .on(t.chainId, t.txHash)
      .where(sql`${t.requestId} is null`),
    index("deposits_unattributed")
      .on(t.id)
      .where(sql`${t.disposition} = 'unattributed'`),
    index("deposits_unattributed_due")
      .on(t.chainId, t.seenAtMs)
      .where(
        sql`${t.disposition} = 'unattributed' and ${t.requestId} is null and ${t.canonical} and ${t.refundState} = 'none'`,
      ),
    index("deposits_unattributed_refunds")
      .on(t.chainId, t.depositor, t.currency)
      .where(sql`${t.requestId} is null and not ${t.canonical} and ${t.refundState} in ('sent', 'final')`),
    index("deposits_unmapped")
      .on(t.chainId, t.id)
      .where(sql`${t.mappingUntilMs} is not null`),
    index("deposits_unrepaid")
      .on(t.unrepaidAtMs)
      .where(sql`${t.unrepaidAtMs} is not null`),
  ],
);

/** How far the watcher of an EVM chain has read. */
export const chainCursors = pgTable("chain_cursors", {
  chainId: int8("chain_id").primaryKey(),
  blockNumber: int8("block_number").notNull(),
  blockHash: text("block_hash").$type<Hex>().notNull(),
  /** Up to which block the logs were read a second time, once final. Null before the first recheck. */
  recheckedBlock: int8("rechecked_block"),
  /**
   * Hash of the last block of a scan that commits its deposits in parts. Parts of any other scan are
   * refused until it ends.
   */
  advancesTo: text("advances_to").$type<Hex>(),
});

/** The newest block hashes that the watcher read, to find the fork of a reorg. */
export const chainBlocks = pgTable(
  "chain_blocks",
  {
    chainId: int8("chain_id").notNull(),
    number: int8("number").notNull(),
    hash: text("hash").$type<Hex>().notNull(),
    parentHash: text("parent_hash").$type<Hex>().notNull(),
    timestamp: int8("timestamp").notNull(),
  },
  (t) => [primaryKey({ columns: [t.chainId, t.number] })],
);

/** How far the watcher of a non-EVM chain has read. Each family defines its own `cursor`. */
export const nonEvmCursors = pgTable("rail_cursors", {
  chainId: int8("chain_id").primaryKey(),
  cursor: text("cursor").notNull(),
  /** The block (slot, ledger) up to which it was read. */
  blockNumber: int8("block_number").notNull(),
  blockHash: text("block_hash").$type<Hex>().notNull(),
  /** Time of that block, Unix seconds. */
  blockSeconds: int8("block_seconds").notNull(),
  /** The cursor up to which several endpoints have read; null: one is enough. */
  checkedCursor: text("checked_cursor"),
});

/**
 * Reported transactions, not mined yet, of a request's user that name its order; a fast fill checks them.
 */
export const originTransactions = pgTable(
  "origin_transactions",
  {
    requestId: text("request_id")
      .$type<RequestId>()
      .notNull()
      .references(() => requests.requestId, { onDelete: "cascade" }),
    txHash: text("tx_hash").$type<TxHash>().notNull(),
    reportedAtMs: int8("reported_at_ms").notNull(),
  },
  (t) => [primaryKey({ columns: [t.requestId, t.txHash] })],
);
