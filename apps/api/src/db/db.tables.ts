import { sql } from "drizzle-orm";
import { index, integer, pgTable, primaryKey, text, timestamp, uniqueIndex } from "drizzle-orm/pg-core";
import { int8, json } from "./columns.tables.ts";
import type { OutboxEntry } from "./unit-of-work.port.ts";

/** Messages to other processes: stored by a transaction, sent with `pg_notify` after it commits. */
export const announcements = pgTable("announcements", {
  id: int8("id").generatedAlwaysAsIdentity().primaryKey(),
  channel: text("channel").notNull(),
  payload: text("payload").notNull(),
  createdAt: timestamp("created_at", { withTimezone: true })
    .notNull()
    .default(sql`clock_timestamp()`),
});

/** Jobs to enqueue, committed with the state they follow from. The relay moves them to the queue. */
export const outbox = pgTable(
  "outbox",
  {
    id: int8("id").generatedAlwaysAsIdentity().primaryKey(),
    jobName: text("job_name").notNull(),
    jobId: text("job_id").notNull(),
    /** JSON text. */
    payload: json("payload").$type<OutboxEntry["payload"]>().notNull(),
    createdAtMs: int8("created_at_ms").notNull(),
    publishedAtMs: int8("published_at_ms"),
    /** Until then, the process that committed the job runs it. Null: any relay may take it at once. */
    leasedUntil: timestamp("leased_until", { withTimezone: true }),
  },
  (t) => [
    uniqueIndex("outbox_open_job")
      .on(t.jobId)
      .where(sql`${t.publishedAtMs} is null`),
    index("outbox_published")
      .on(t.publishedAtMs)
      .where(sql`${t.publishedAtMs} is not null`),
    index("outbox_unpublished")
      .on(t.id)
      .where(sql`${t.publishedAtMs} is null`),
  ],
);

/** When a job of a leg last ran, so that the reconciler can tell a lost job from a slow one. */
export const jobRuns = pgTable(
  "job_runs",
  {
    jobName: text("job_name").notNull(),
    legId: text("leg_id").notNull(),
    jobId: text("job_id").notNull(),
    ranAtMs: int8("ran_at_ms").notNull(),
    lostAfterMs: int8("lost_after_ms").notNull(),
    rescues: integer("rescues").notNull().default(0),
  },
  (t) => [primaryKey({ columns: [t.jobName, t.legId] }), index("job_runs_lost").on(t.lostAfterMs)],
);
