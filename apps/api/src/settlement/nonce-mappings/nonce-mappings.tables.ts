import type { Address, Hex, OrderId, RequestId } from "@causeway/domain";
import { sql } from "drizzle-orm";
import { index, integer, pgTable, text, unique } from "drizzle-orm/pg-core";
import { int8, uint } from "../../db/columns.tables.ts";
import type { NonceMappingState } from "../../chains/nonce-mappings.port.ts";
import { slots } from "../../payments/payments.tables.ts";

/**
 * Nonce mappings that wallets signed, for chains whose transfers carry no order id. One mapping per nonce.
 */
export const nonceMappings = pgTable(
  "nonce_mappings",
  {
    key: int8("key").generatedAlwaysAsIdentity().primaryKey(),
    chainId: int8("chain_id").notNull(),
    wallet: text("wallet").$type<Address>().notNull(),
    nonce: uint("nonce").notNull(),
    /** The order that the transfer pays. */
    mappedId: text("mapped_id").$type<OrderId>().notNull(),
    depositor: text("depositor").$type<Address>().notNull(),
    /** Null if it belongs to no request of ours. */
    requestId: text("request_id").$type<RequestId>(),
    /** The wallet's signature. */
    signature: text("signature").$type<Hex>().notNull(),
    /** Chain id of the domain that it was signed for. */
    signatureChainId: int8("signature_chain_id").notNull(),
    /**
     * `stored`: oracles must sign it. `signed`: they did. `published`: it is on the hub. `contradicted`:
     * the hub has a different mapping for the nonce.
     */
    state: text("state").$type<NonceMappingState>().notNull(),
    /** The reason why it waits. Null if unknown. */
    reason: text("reason"),
    tries: integer("tries").notNull().default(0),
    nextTryMs: int8("next_try_ms").notNull(),
    /** As many oracle signatures as the multisig requires, ascending by signer, concatenated. */
    hubSignature: text("hub_signature").$type<Hex>(),
    /** The hub transaction that sets it. Null: none. */
    slotId: int8("slot_id").references(() => slots.id),
    /** The entry on the hub. */
    hubMappedId: text("hub_mapped_id").$type<OrderId>(),
    hubDepositor: text("hub_depositor").$type<Address>(),
    /** Since when the hub has it, Unix seconds. */
    hubSetAt: int8("hub_set_at"),
    createdAtMs: int8("created_at_ms").notNull(),
    updatedAtMs: int8("updated_at_ms").notNull(),
  },
  (t) => [
    unique().on(t.chainId, t.wallet, t.nonce),
    index("nonce_mappings_carried")
      .on(t.key)
      .where(sql`${t.state} = 'signed' and ${t.slotId} is not null`),
    index("nonce_mappings_due")
      .on(t.nextTryMs)
      .where(sql`${t.state} in ('stored', 'signed') and ${t.slotId} is null`),
    index("nonce_mappings_request")
      .on(t.requestId)
      .where(sql`${t.requestId} is not null`),
  ],
);
