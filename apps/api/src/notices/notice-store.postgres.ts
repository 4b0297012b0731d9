import { and, eq, sql as text } from "drizzle-orm";
import type pg from "pg";
import {
  defineQuery,
  defineSql,
  defineSqlWrite,
  defineWrite,
  namesOf,
  nullable,
  type Params,
  type Row,
} from "../db/define-query.postgres.ts";
import { inTransaction } from "../db/in-transaction.postgres.ts";
import { sqlOn } from "../db/pool.postgres.ts";
import type { NoticeState, NoticeStore } from "./notices.port.ts";
import {
  noticeAlarms as alarms,
  noticeDeliveries as deliveries,
  noticeStates as states,
} from "./notices.tables.ts";

/** An interface as a type alias: parameters extend `Record<string, unknown>`, which interfaces do not. */
type Fields<T> = { readonly [Name in keyof T]: T[Name] };

/** Maximum number of alarms per round. */
const MAX_ALARMS = 5_000;

const lock = defineSql(
  "notice_fold_lock",
  { isOurs: Boolean },
  () => text`select pg_try_advisory_xact_lock(hashtextextended('causeway:notices', 0)) as is_ours`,
);
const readAlarms = defineQuery("notice_alarms_read", (db) =>
  db.select().from(alarms).orderBy(alarms.id).limit(MAX_ALARMS),
);
const readStates = defineQuery(
  "notice_states_read",
  (db, p: Params<{ rules: readonly string[]; subjects: readonly string[] }>) =>
    db
      .select()
      .from(states)
      .where(
        text`(${states.rule}, ${states.subject}) in (select * from unnest(${p.rules}::text[], ${p.subjects}::text[]))`,
      ),
);
const countSent = defineSql(
  "notice_sent",
  { sent: Number },
  (p: Params<{ sinceMs: number }>) => text`
    select coalesce(max(n), 0) as sent from (
      select count(*) as n from ${deliveries} where ${deliveries.createdAtMs} > ${p.sinceMs} group by ${deliveries.channel}) by_channel`,
);
const removeAlarms = defineSqlWrite(
  "notice_alarms_remove",
  (p: Params<{ ids: readonly number[] }>) =>
    text`delete from ${alarms} where ${alarms.id} = any(${p.ids}::bigint[])`,
);
const saveState = defineWrite("notice_state_save", (db, p: Params<Fields<NoticeState>>) => {
  const { rule, subject, severity, isCondition, seenAtMs, notifiedAtMs, unreported } = p;
  const changed = { severity, isCondition, seenAtMs, notifiedAtMs, unreported };
  return db
    .insert(states)
    .values({ rule, subject, ...changed })
    .onConflictDoUpdate({ target: [states.rule, states.subject], set: changed });
});
const removeState = defineWrite("notice_state_remove", (db, p: Params<{ rule: string; subject: string }>) =>
  db.delete(states).where(and(eq(states.rule, p.rule), eq(states.subject, p.subject))),
);
const insertDelivery = defineSqlWrite(
  "notice_delivery_insert",
  (p: Params<{ channel: string; message: string; nowMs: number }>) => text`
    insert into ${deliveries} (${namesOf(deliveries.channel, deliveries.message, deliveries.nextAtMs, deliveries.createdAtMs)})
    values (${p.channel}, ${p.message}, ${p.nowMs}::bigint, ${p.nowMs}::bigint)`,
);

const claim = defineSql(
  "notice_claim",
  { id: deliveries.id, channel: deliveries.channel, message: deliveries.message, tries: deliveries.tries },
  (p: Params<{ channels: readonly string[]; nowMs: number; leaseUntilMs: number; limit: number }>) => text`
    with due as (
      select ${deliveries.id} from ${deliveries}
      where ${deliveries.endedAtMs} is null and ${deliveries.channel} = any(${p.channels}::text[])
        and ${deliveries.nextAtMs} <= ${p.nowMs} and ${deliveries.leaseUntilMs} <= ${p.nowMs}
      order by ${deliveries.nextAtMs}, ${deliveries.id} limit ${p.limit} for update skip locked)
    update ${deliveries} set lease_until_ms = ${p.leaseUntilMs} from due where ${deliveries.id} = due.id
    returning ${deliveries.id}, ${deliveries.channel}, ${deliveries.message}, ${deliveries.tries}`,
);
const finish = defineSqlWrite(
  "notice_finish",
  (p: Params<{ id: number; againAtMs: number | null; nowMs: number }>) => text`
    update ${deliveries} set tries = ${deliveries.tries} + 1, lease_until_ms = 0,
      next_at_ms = coalesce(${p.againAtMs}::bigint, ${deliveries.nextAtMs}),
      ended_at_ms = case when ${p.againAtMs}::bigint is null then ${p.nowMs}::bigint end
    where ${deliveries.id} = ${p.id} and ${deliveries.endedAtMs} is null`,
);
const prune = defineSqlWrite(
  "notice_prune",
  (p: Params<{ createdBeforeMs: number; seenBeforeMs: number }>) => text`
    with old as (delete from ${deliveries} where ${deliveries.createdAtMs} < ${p.createdBeforeMs})
    delete from ${states} where ${states.seenAtMs} < ${p.seenBeforeMs}`,
);
const WAITING = { waiting: Number, oldestMs: nullable(Number) };
const waiting = defineSql(
  "notice_waiting",
  WAITING,
  () =>
    text`select count(*) as waiting, min(${deliveries.createdAtMs}) as oldest_ms from ${deliveries} where ${deliveries.endedAtMs} is null`,
);

export function noticeStore(pool: pg.Pool): NoticeStore {
  const poolSql = sqlOn(pool);
  return {
    async fold({ findings, channels, sinceMs, nowMs }, decide) {
      await inTransaction(pool, async (client) => {
        const sql = sqlOn(client);
        const [locked] = await lock(sql, {});
        if (locked?.isOurs !== true) return;
        const storedAlarms = await readAlarms(sql, {});
        const keys = [...storedAlarms, ...findings];
        if (keys.length === 0) return;
        const storedStates = await readStates(sql, {
          rules: keys.map(({ rule }) => rule),
          subjects: keys.map(({ subject }) => subject),
        });
        const [count] = await countSent(sql, { sinceMs });
        const round = decide({ alarms: storedAlarms, states: storedStates, sent: count?.sent ?? 0 });
        if (round === undefined) return;
        for (const message of round.messages)
          for (const channel of channels)
            await insertDelivery(sql, { channel, message: JSON.stringify(message), nowMs });
        for (const state of round.states) await saveState(sql, { ...state });
        for (const { rule, subject } of round.ended) await removeState(sql, { rule, subject });
        await removeAlarms(sql, { ids: storedAlarms.map(({ id }) => id) });
      });
    },
    async claim({ channels, nowMs, leaseMs, limit }) {
      return await claim(poolSql, { channels, nowMs, leaseUntilMs: nowMs + leaseMs, limit });
    },
    async finish(id, { nowMs, againAtMs }) {
      await finish(poolSql, { id, nowMs, againAtMs: againAtMs ?? null });
    },
    async prune(before) {
      await prune(poolSql, { ...before });
    },
    async waiting() {
      const [row]: readonly Row<typeof WAITING>[] = await waiting(poolSql, {});
      return { count: row?.waiting ?? 0, oldestMs: row?.oldestMs ?? undefined };
    },
  };
}
