import type { Authorization } from "@causeway/chains";
import type { Address, Hex, RequestId } from "@causeway/domain";
import { sql } from "drizzle-orm";
import { boolean, index, integer, pgTable, text } from "drizzle-orm/pg-core";
import { int8, json, uint } from "../db/columns.tables.ts";

/**
 * Calls that the service sends for users, written when accepted: what was requested, its price, and who pays.
 * One per request.
 */
export const executions = pgTable(
  "executions",
  {
    requestId: text("request_id").$type<RequestId>().primaryKey(),
    keyId: text("key_id").notNull(),
    /** App balance that pays. Null if the output of the quote pays. */
    wallet: text("wallet").$type<Address>(),
    /** SHA-256 of the request body; the same body returns the same response. */
    bodyHash: text("question_hash").$type<Hex>().notNull(),
    chainId: int8("chain_id").notNull(),
    callTo: text("call_to").$type<Address>().notNull(),
    callData: text("call_data").$type<Hex>().notNull(),
    callValue: uint("call_value").notNull(),
    /** Signed EIP-7702 authorizations, as JSON text. */
    callAuthorizations: json("call_authorizations").$type<readonly Authorization[]>(),
    gasLimit: int8("gas_limit").notNull(),
    /** Maximum that was priced, wei per gas, including a replacement. */
    maxFeePerGas: uint("max_fee_per_gas").notNull(),
    /** USD per native token at acceptance, 18 decimals. */
    nativePriceUsd: uint("coin_usd").notNull(),
    /** Flat fee, USD with 18 decimals. */
    flatUsd: uint("flat_usd").notNull(),
    /** Calls that the fill includes, as JSON text. */
    destination: text("destination"),
    /** User that budgets count the cost for. */
    userAddress: text("user_address").$type<Address>(),
    target: text("target").$type<Address>().notNull(),
    /** UTC days since 1970 at acceptance. */
    day: integer("day").notNull(),
    /** Maximum cost until the actual cost is known, USD with 18 decimals. */
    costUsd: uint("cost_usd").notNull(),
    /** Actual cost of the transaction on the origin chain. Null if unknown. */
    originUsd: uint("origin_usd"),
    /** Actual cost of the calls included in the fill. Null if unknown. */
    destinationUsd: uint("destination_usd"),
    /** True once the reservation was paid or released. */
    settled: boolean("settled").notNull().default(false),
    createdAtMs: int8("created_at_ms").notNull(),
    /**
     * Price that an app pays per native token that its call carries, 18 decimals. Null if it carries none.
     */
    salePriceUsd: uint("sale_price_usd"),
  },
  (t) => [
    index("executions_budget").on(t.keyId, t.day),
    index("executions_unsettled")
      .on(t.createdAtMs)
      .where(sql`not ${t.settled}`),
  ],
);
