import { sql as text, type SQL } from "drizzle-orm";
import { announcements } from "./db.tables.ts";
import { defineSql, namesOf, type Params } from "./define-query.postgres.ts";
import type { Sql } from "./pool.postgres.ts";

/** Maximum number of announcements per statement. */
const BATCH = 1_000;
/**
 * Pause after a batch: commits in the meantime are announced together. The first one after a quiet time is
 * sent at once. At 50 commits per second, the pause delays each one by 10 ms (median).
 */
const PAUSE_MS = 20;

/**
 * NOTIFY holds a database-wide lock until its commit is flushed, so commits that notify run one after
 * another. Changes therefore only store their announcements, and a later transaction, which does not wait
 * for its flush, sends them. If a crash loses that transaction, the next sender finds the rows.
 */
const withoutFlush = text`quick as (select set_config('synchronous_commit', 'off', true))`;
const { id, channel, payload } = announcements;
const taken = text`with ${withoutFlush},
    due as (select ${id} from ${announcements} order by ${id} limit ${text.raw(String(BATCH))} for update skip locked),
    gone as (delete from ${announcements} where ${id} in (select id from due) returning ${id}, ${channel}, ${payload})`;
const send = defineSql(
  "announcements_send",
  {},
  () => text`${taken}
    select pg_notify(channel, payload) from quick, (select channel, payload from gone order by id) as ordered`,
);
const sendWithBeat = defineSql(
  "announcements_send_with_beat",
  {},
  (p: Params<{ channel: string; text: string }>) => text`${taken}
    select pg_notify(channel, payload) from quick, (select channel, payload from
      (select id, channel, payload from gone union all select null, ${p.channel}, ${p.text}) as every
      order by id nulls last) as ordered`,
);

/** The last part of a statement with `announces`: stores the channel and payload that `select` returns. */
export function storeAnnouncements(select: SQL): SQL {
  return text`insert into ${announcements} (${namesOf(channel, payload)}) ${select}`;
}

export interface Announcer {
  /** Sends committed announcements, now or after the pause. After an error, the next call sends them. */
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

/** Sends all committed announcements of this and other processes. */
export async function sendAll(sql: Sql): Promise<void> {
  while ((await send(sql, {})).length === BATCH);
}

/** Sends `text` after the announcements that other processes committed but did not send. */
export async function announceBeat(sql: Sql, channel: string, text: string): Promise<void> {
  if ((await sendWithBeat(sql, { channel, text })).length > BATCH) await sendAll(sql);
}
