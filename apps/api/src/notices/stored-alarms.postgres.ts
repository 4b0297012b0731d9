import type { Clock } from "../db/clock.port.ts";
import { defineWrite, type Params } from "../db/define-query.postgres.ts";
import type { EventName, Events, Facts } from "../db/events.port.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { keyOf } from "./fold-notices.ts";
import { severityOf, subjectOf, textOf } from "./notice-text.ts";
import type { Severity } from "./notices.port.ts";
import { noticeAlarms } from "./notices.tables.ts";

/**
 * A process stores the same alarm at most once within this time: a waiting request raises its alarm with
 * every retry.
 */
const STORED_ONCE_MS = 60_000;
const MAX_KEYS = 10_000;
/** Events that are never stored: a notice about a failed notice would repeat as long as the channel fails. */
const NEVER: ReadonlySet<EventName> = new Set(["notice_given_up"]);

type Row = {
  readonly rule: string;
  readonly subject: string;
  readonly severity: Severity;
  readonly text: string;
  readonly atMs: number;
};
const insert = defineWrite("notice_alarm_store", (db, { rule, subject, severity, text, atMs }: Params<Row>) =>
  db.insert(noticeAlarms).values({ rule, subject, severity, text, atMs }),
);

/** Stores alarms until a message reports them. */
export interface AlarmInbox {
  /** Stores an alarm, in the same transaction as the reported event. */
  store(sql: Sql, event: EventName, facts: Facts): Promise<void>;
  /** Notes that an alarm is stored and committed: the same alarm within a minute is not stored again. */
  markStored(event: EventName, facts: Facts): void;
}

export function alarmInbox(clock: Clock): AlarmInbox {
  const storedAtMs = new Map<string, number>();
  const keyFor = (rule: EventName, facts: Facts): string => keyOf({ rule, subject: subjectOf(facts) });
  return {
    async store(sql, event, facts) {
      const nowMs = clock.nowMs();
      const lastMs = storedAtMs.get(keyFor(event, facts));
      if (NEVER.has(event) || (lastMs !== undefined && nowMs - lastMs < STORED_ONCE_MS)) return;
      await insert(sql, {
        rule: event,
        subject: subjectOf(facts),
        severity: severityOf(event),
        text: textOf(event, facts),
        atMs: nowMs,
      });
    },
    markStored(event, facts) {
      const key = keyFor(event, facts);
      // Oldest first, so that random ids cannot exhaust memory.
      storedAtMs.delete(key);
      storedAtMs.set(key, clock.nowMs());
      const [oldest] = storedAtMs.keys();
      if (storedAtMs.size > MAX_KEYS && oldest !== undefined) storedAtMs.delete(oldest);
    },
  };
}

/** Events whose alarms are stored, for alarms that belong to no transaction. */
export function withStoredAlarms(events: Events, inbox: AlarmInbox, sql: Sql): Events {
  return {
    ...events,
    alarm(event, facts) {
      events.alarm(event, facts);
      inbox.store(sql, event, facts).then(
        () => inbox.markStored(event, facts),
        (error: unknown) => events.fault("notice_fault", error, { part: "store" }),
      );
    },
  };
}
