import { sql } from "drizzle-orm";
import { check, index, integer, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { int8 } from "../db/columns.tables.ts";

/** First responses to calls with an `Idempotency-Key`, kept for a day. */
export const idempotencyKeys = pgTable(
  "idempotency_keys",
  {
    /** API key id, or `ip:<address>`. */
    scope: text("scope").notNull(),
    endpoint: text("endpoint").notNull(),
    key: text("key").notNull(),
    bodyHash: text("body_hash").notNull(),
    /** The run that holds the key until `lease_until_ms`; after that, another run takes over. */
    leaseToken: text("lease_token").notNull(),
    leaseUntilMs: int8("lease_until_ms").notNull(),
    /** HTTP status of the response. Null until there is one. */
    status: integer("status"),
    body: text("body"),
    createdAtMs: int8("created_at_ms").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.scope, t.endpoint, t.key] }),
    check("idempotency_keys_check", sql`(${t.status} is null) = (${t.body} is null)`),
    index("idempotency_keys_age").on(t.createdAtMs),
  ],
);
