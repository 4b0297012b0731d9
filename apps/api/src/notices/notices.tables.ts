import { sql } from "drizzle-orm";
import { boolean, index, integer, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { int8, json } from "../db/columns.tables.ts";
import type { Message, Severity } from "./notices.port.ts";

/** Alarms that no message has reported yet, written in the commit that raises them. */
export const noticeAlarms = pgTable("notice_alarms", {
  id: int8("id").generatedAlwaysAsIdentity().primaryKey(),
  rule: text("rule").notNull(),
  subject: text("subject").notNull(),
  severity: text("severity").$type<Severity>().notNull(),
  text: text("text").notNull(),
  atMs: int8("at_ms").notNull(),
});

/** The last reported state of each rule and subject. */
export const noticeStates = pgTable(
  "notice_states",
  {
    rule: text("rule").notNull(),
    subject: text("subject").notNull(),
    severity: text("severity").$type<Severity>().notNull(),
    isCondition: boolean("is_condition").notNull(),
    seenAtMs: int8("seen_at_ms").notNull(),
    notifiedAtMs: int8("notified_at_ms").notNull(),
    unreported: integer("unreported").notNull(),
  },
  (t) => [primaryKey({ columns: [t.rule, t.subject] }), index("notice_states_seen").on(t.seenAtMs)],
);

/** A message to one channel. */
export const noticeDeliveries = pgTable(
  "notice_deliveries",
  {
    id: int8("id").generatedAlwaysAsIdentity().primaryKey(),
    /** Digest of the URL. */
    channel: text("channel").notNull(),
    message: json("message").$type<Message>().notNull(),
    tries: integer("tries").notNull().default(0),
    nextAtMs: int8("next_at_ms").notNull(),
    leaseUntilMs: int8("lease_until_ms").notNull().default(0),
    createdAtMs: int8("created_at_ms").notNull(),
    /** Null while it waits. */
    endedAtMs: int8("ended_at_ms"),
  },
  (t) => [
    index("notice_deliveries_due")
      .on(t.channel, t.nextAtMs)
      .where(sql`${t.endedAtMs} is null`),
    index("notice_deliveries_newest").on(t.createdAtMs),
  ],
);
