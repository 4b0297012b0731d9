import type { RequestId } from "@causeway/domain";
import { sql } from "drizzle-orm";
import { check, index, integer, pgTable, primaryKey, text, unique } from "drizzle-orm/pg-core";
import { int8, json } from "../db/columns.tables.ts";
import type { DeliveryState, WebhookHeaders } from "./webhooks.port.ts";
import { apiKeys } from "../callers/callers.tables.ts";

/** Webhook endpoints of API keys. */
export const webhookEndpoints = pgTable(
  "webhook_endpoints",
  {
    id: text("id").primaryKey(),
    keyId: text("key_id")
      .notNull()
      .references(() => apiKeys.id, { onDelete: "cascade" }),
    url: text("url").notNull(),
    label: text("label").notNull(),
    /** Extra headers of each delivery. */
    headers: json("headers").$type<WebhookHeaders>().notNull(),
    /** Signs deliveries. Stored in clear text, because an HMAC needs the secret itself. */
    secret: text("secret").notNull(),
    /** The secret before the last rotation, which also signs until `previous_until_ms`. */
    previousSecret: text("previous_secret"),
    previousUntilMs: int8("previous_until_ms"),
    createdAtMs: int8("created_at_ms").notNull(),
    updatedAtMs: int8("updated_at_ms").notNull(),
    deletedAtMs: int8("deleted_at_ms"),
    /** Since when every attempt has failed. Null if the last attempt succeeded. */
    failingSinceMs: int8("failing_since_ms"),
    lastError: text("last_error"),
    lastDeliveredAtMs: int8("last_delivered_at_ms"),
  },
  (t) => [
    check("webhook_endpoints_check", sql`(${t.previousSecret} is null) = (${t.previousUntilMs} is null)`),
    index("webhook_endpoints_failing")
      .on(t.id)
      .where(sql`${t.failingSinceMs} is not null and ${t.deletedAtMs} is null`),
    index("webhook_endpoints_key")
      .on(t.keyId)
      .where(sql`${t.deletedAtMs} is null`),
    index("webhook_endpoints_made").on(t.keyId, t.createdAtMs),
    index("webhook_endpoints_removed")
      .on(t.deletedAtMs)
      .where(sql`${t.deletedAtMs} is not null`),
  ],
);

/** An event to deliver to an endpoint, written in the commit of the event. */
export const webhookDeliveries = pgTable(
  "webhook_deliveries",
  {
    id: int8("id").generatedAlwaysAsIdentity().primaryKey(),
    endpointId: text("endpoint_id")
      .notNull()
      .references(() => webhookEndpoints.id, { onDelete: "cascade" }),
    requestId: text("request_id").$type<RequestId>().notNull(),
    seq: integer("seq").notNull(),
    state: text("state").$type<DeliveryState>().notNull().default("waiting"),
    /** Attempts since the delivery was created or last replayed. */
    tries: integer("tries").notNull().default(0),
    /** Attempts in total. */
    attempts: integer("attempts").notNull().default(0),
    nextAtMs: int8("next_at_ms").notNull(),
    /** Identifies the lease of the worker that may deliver until `lease_until_ms`. */
    leaseToken: text("lease_token"),
    leaseUntilMs: int8("lease_until_ms").notNull().default(0),
    createdAtMs: int8("created_at_ms").notNull(),
    endedAtMs: int8("ended_at_ms"),
  },
  (t) => [
    unique().on(t.endpointId, t.requestId, t.seq),
    index("webhook_deliveries_due")
      .on(t.endpointId, t.nextAtMs)
      .where(sql`${t.state} = 'waiting'`),
    index("webhook_deliveries_ended")
      .on(t.endedAtMs)
      .where(sql`${t.endedAtMs} is not null`),
    index("webhook_deliveries_leased")
      .on(t.leaseUntilMs)
      .where(sql`${t.state} = 'waiting' and ${t.leaseUntilMs} > 0`),
    index("webhook_deliveries_newest").on(t.endpointId, t.id.desc().nullsFirst()),
    index("webhook_deliveries_waiting")
      .on(t.endpointId, t.requestId, t.seq)
      .where(sql`${t.state} = 'waiting'`),
  ],
);

/** Result of each delivery attempt. */
export const webhookAttempts = pgTable(
  "webhook_attempts",
  {
    deliveryId: int8("delivery_id")
      .notNull()
      .references(() => webhookDeliveries.id, { onDelete: "cascade" }),
    /** Counts from 1 for each delivery. */
    n: integer("n").notNull(),
    atMs: int8("at_ms").notNull(),
    tookMs: int8("took_ms").notNull(),
    /** HTTP status. Null if there was no response. */
    status: integer("status"),
    /** Why the attempt failed. Null if it succeeded. */
    error: text("error"),
    /** Beginning of the response body. */
    response: text("response"),
  },
  (t) => [primaryKey({ columns: [t.deliveryId, t.n] })],
);
