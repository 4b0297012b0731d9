import type { Address } from "@causeway/domain";
import { sql } from "drizzle-orm";
import { check, index, integer, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { bytes, int8 } from "../db/columns.tables.ts";
import type { ApiScope } from "../http/api-keys.port.ts";

/** API keys. The secret is shown once; only its SHA-256 is stored. */
export const apiKeys = pgTable(
  "api_keys",
  {
    id: text("id").primaryKey(),
    label: text("label").notNull(),
    secretHash: bytes("secret_hash").notNull().unique(),
    /** The secret before the last rotation; valid until `previous_until_ms`. */
    previousSecretHash: bytes("previous_secret_hash"),
    previousUntilMs: int8("previous_until_ms"),
    scopes: text("scopes").array().$type<ApiScope[]>().notNull(),
    /** Allowed referrers; empty allows any. */
    referrers: text("referrers").array().notNull(),
    /** Browser origins of a publishable key, which may only quote and read. Empty for a secret key. */
    origins: text("origins").array().notNull(),
    /** Wallet whose app balance pays; its owner signed for this. */
    fundingAddress: text("funding_address").$type<Address>(),
    /** What the balance may pay for: JSON text, as the admin API accepts it. */
    rules: text("rules").notNull(),
    /** Rate limits of this key; null applies the default. */
    quotePerMinute: integer("quote_per_minute"),
    otherPerMinute: integer("other_per_minute"),
    createdAtMs: int8("created_at_ms").notNull(),
    updatedAtMs: int8("updated_at_ms").notNull(),
    revokedAtMs: int8("revoked_at_ms"),
  },
  (t) => [
    check("api_keys_check", sql`(${t.previousSecretHash} is null) = (${t.previousUntilMs} is null)`),
    check("api_keys_publishable_scopes", sql`${t.origins} = '{}' or ${t.scopes} <@ '{quote,read}'`),
  ],
);

/** Message that a wallet's owner must sign before a key may spend its balance. One per key and wallet. */
export const fundingChallenges = pgTable(
  "funding_challenges",
  {
    keyId: text("key_id")
      .notNull()
      .references(() => apiKeys.id, { onDelete: "cascade" }),
    address: text("address").$type<Address>().notNull(),
    nonce: text("nonce").notNull(),
    expiresAtMs: int8("expires_at_ms").notNull(),
  },
  (t) => [primaryKey({ columns: [t.keyId, t.address] })],
);

/** Calls per key, endpoint and response, by minute. */
export const apiUsage = pgTable(
  "api_usage",
  {
    keyId: text("key_id").notNull(),
    /** Start of the minute. */
    minuteMs: int8("minute_ms").notNull(),
    endpoint: text("endpoint").notNull(),
    status: integer("status").notNull(),
    /** Empty if the call succeeded. */
    errorCode: text("error_code").notNull(),
    count: int8("count").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.keyId, t.minuteMs, t.endpoint, t.status, t.errorCode] }),
    index("api_usage_age").on(t.minuteMs),
    index("api_usage_hours")
      .on(t.minuteMs)
      .where(sql`(${t.minuteMs} % 86400000) <> 0`),
    index("api_usage_minutes")
      .on(t.minuteMs)
      .where(sql`(${t.minuteMs} % 3600000) <> 0`),
  ],
);
