import { sql as text, type SQL } from "drizzle-orm";
import { announcements } from "./db.tables.ts";
import { namesOf } from "./define-query.postgres.ts";
import { statement } from "./pool.postgres.ts";
import type { Sql, Statement } from "./pool.postgres.ts";

/** Announcements that one statement sends at most. */
const BATCH = 1_000;
/** Pause between two batches: what is committed meanwhile is announced together. */
const PAUSE_MS = 20;

/**
 * NOTIFY holds a lock of the whole database from before the commit is flushed until it is acknowledged, so
 * commits that notify go one by one. Therefore changes only store what is to be announced, and it is sent
 * from here: in a transaction that nothing waits for, because losing it leaves the rows to the next sender.
 */
const send = statement(
  "announcements_send",
  `with quick as (select set_config('synchronous_commit', 'off', true)),
   due as (select id from announcements order by id limit ${BATCH} for update skip locked),
   gone as (delete from announcements where id in (select id from due) returning id, channel, payload)
   select pg_notify(channel, payload) from quick, (select channel, payload from gone order by id) as ordered`,
);

/**
 * Appends to $2 how long ago the oldest announcement was stored that is not sent, ms. Everything committed
 * before that has been sent: who hears this, in the order of the commits, has heard all of it.
 */
const beat = statement(
  "announcements_beat",
  `with quick as (select set_config('synchronous_commit', 'off', true)),
   oldest as (select coalesce(ceil(extract(epoch from clock_timestamp() - min(created_at)) * 1000), 0) as ms from announcements)
   select pg_notify($1, $2 || ' ' || ms) from quick, oldest`,
);

/** The last part of a statement with `announces`: stores the channel and payload that `select` returns. */
export function storeAnnouncements(select: SQL): SQL {
  return text`insert into ${announcements} (${namesOf(announcements.channel, announcements.payload)}) ${select}`;
}

/** A statement whose last part stores announcements: `select` gives channel and payload. */
export function announcing(name: string, statements: string, select: string): Statement {
  return {
    name,
    text: `${statements} insert into announcements (channel, payload) ${select}`,
    announces: true,
  };
}

export interface Announcer {
  /** Sends what was committed, now or after the pause. Faults leave it to the next sender. */
  send(): void;
}

export function announcer(sql: Sql): Announcer {
  let isSending = false;
  let isDue = false;

  async function run(): Promise<void> {
    isSending = true;
    while (isDue) {
      isDue = false;
      await sendAll(sql).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS).unref());
    }
    isSending = false;
  }

  return {
    send(): void {
      isDue = true;
      if (!isSending) void run();
    },
  };
}

/** Sends all committed announcements, of this process and of others. */
export async function sendAll(sql: Sql): Promise<void> {
  while ((await sql.query(send, [])).length === BATCH);
}

/** Sends what others left behind, then `text` with the age of what is not sent yet. */
export async function announceBeat(sql: Sql, channel: string, text: string): Promise<void> {
  await sendAll(sql);
  await sql.query(beat, [channel, text]);
}
