import { sql as text } from "drizzle-orm";
import type { Clock } from "../db/clock.port.ts";
import type { Usage, UsageCount, UsageNote } from "../http/usage.port.ts";
import type { SearchLimiter } from "../http/usage.port.ts";
import { withSearchTimeout } from "../db/search-timeout.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import {
  columnsOf,
  defineSql,
  nameOf,
  namesOf,
  type Params,
  defineSqlWrite,
} from "../db/define-query.postgres.ts";
import { apiUsage } from "./callers.tables.ts";

const MINUTE_MS = 60_000;
const FLUSH_EVERY_MS = 5_000;
const TIDY_EVERY_MS = 3600 * 1000;
const DAY_MS = 24 * 3600 * 1000;
const MINUTES_KEPT_MS = 2 * DAY_MS;
const HOURS_KEPT_MS = 60 * DAY_MS;
const KEPT_MS = 400 * DAY_MS;
const MAX_BATCH = 10_000;
const BATCH = text.raw(String(MAX_BATCH));
/** Maximum batches per kind and run; the remaining rows follow an hour later. */
const MAX_BATCHES = 100;
/** Maximum number of distinct counts that are kept in memory while the database is unavailable. */
const MAX_WAITING = 20_000;

const { keyId: key, minuteMs: minute, endpoint: path, status, errorCode, count } = apiUsage;
const KEY = [key, minute, path, status, errorCode] as const;
const names = namesOf(...KEY);
const addUp = text`on conflict (${names}) do update set ${nameOf(count)} = ${count} + excluded.${nameOf(count)}`;

interface Counts extends Record<string, unknown> {
  readonly keyIds: readonly string[];
  readonly minutesMs: readonly number[];
  readonly endpoints: readonly string[];
  readonly statuses: readonly number[];
  readonly errorCodes: readonly string[];
  readonly counts: readonly number[];
}
const add = defineSqlWrite(
  "usage_add",
  (p: Params<Counts>) => text`
    insert into ${apiUsage} (${names}, ${nameOf(count)})
    select * from unnest(${p.keyIds}::text[], ${p.minutesMs}::bigint[], ${p.endpoints}::text[], ${p.statuses}::integer[],
      ${p.errorCodes}::text[], ${p.counts}::bigint[]) ${addUp}`,
);
interface ReadParams extends Record<string, unknown> {
  readonly keyId: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly bucketMs: number;
  readonly limit: number;
}
const read = defineSql(
  "usage_read",
  { keyId: key, startMs: Number, endpoint: path, status, errorCode, count: Number },
  (p: Params<ReadParams>) => text`
    select ${key}, ${minute} - ${minute} % ${p.bucketMs}::bigint as start_ms, ${path}, ${status}, ${errorCode}, sum(${count})::bigint as count
    from ${apiUsage} where ${key} = ${p.keyId} and ${minute} >= ${p.fromMs}::bigint - ${p.fromMs}::bigint % ${p.bucketMs}::bigint
      and ${minute} < ${p.toMs}
    group by 1, 2, 3, 4, 5 order by 2, 3, 4, 5 limit ${p.limit}`,
);

interface AgeBounds extends Record<string, unknown> {
  readonly beforeMs: number;
  readonly sinceMs: number;
}
// Lets only one process sum up at a time: the daily sums of one process delete rows that the hourly sums of
// another add to, so the two could deadlock.
const hasUsageLock = text`(select pg_advisory_xact_lock(hashtextextended('causeway:usage', 0))) is not null`;

type Removal = (sql: Sql, bounds: AgeBounds) => Promise<{ readonly done: number }[]>;

/**
 * Merges counts between `sinceMs` and `beforeMs` into the count of their hour or day. Skips older counts:
 * they are deleted, possibly by another process at the same time.
 */
const sumUp = (name: string, widthMs: number): Removal => {
  const width = text.raw(String(widthMs));
  return defineSql(
    name,
    { done: Number },
    (p: Params<AgeBounds>) => text`
      with taken as (
        delete from ${apiUsage} where (${columnsOf(KEY)}) in (
          select ${columnsOf(KEY)} from ${apiUsage}
          where ${hasUsageLock} and ${minute} < ${p.beforeMs} and ${minute} >= ${p.sinceMs} and ${minute} % ${width} <> 0
          order by ${minute} limit ${BATCH} for update skip locked)
        returning ${apiUsage}.*),
      summed as (
        insert into ${apiUsage} (${names}, ${nameOf(count)})
        select ${nameOf(key)}, ${nameOf(minute)} - ${nameOf(minute)} % ${width}, ${namesOf(path, status, errorCode)},
          sum(${nameOf(count)})::bigint from taken
        group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5 ${addUp})
      select count(*) as done from taken`,
  );
};
const sumUpHours = sumUp("usage_sum_up_hours", 3600 * 1000);
const sumUpDays = sumUp("usage_sum_up_days", DAY_MS);
const prune: Removal = defineSql(
  "usage_prune",
  { done: Number },
  ({ beforeMs }: Params<AgeBounds>) => text`
    with gone as (delete from ${apiUsage} where ctid = any(array(
      select ctid from ${apiUsage} where ${minute} < ${beforeMs} limit ${BATCH} for update skip locked)) returning 1)
    select count(*) as done from gone`,
);

interface PendingCount extends UsageNote {
  readonly minuteMs: number;
  count: number;
}

export interface UsageCounter extends Usage {
  /** Writes the counts since the last flush; failed writes are retried. */
  flush(): Promise<void>;
  /** Stops the timer and writes the remaining counts. */
  close(): Promise<void>;
}

/** Counts in memory and writes to the table every few seconds. */
export function usageCounter(
  sql: Sql,
  {
    searches,
    clock,
    mayDeleteByAge,
    onFault,
  }: {
    /** The connections and slots for reading counts. */
    readonly searches: { readonly sql: Sql; readonly limiter: SearchLimiter };
    readonly clock: Clock;
    /** Whether the clock is reliable enough to delete or sum up by age. */
    readonly mayDeleteByAge: () => Promise<boolean>;
    readonly onFault: (error: unknown) => void;
  },
): UsageCounter {
  let pendingCounts = new Map<string, PendingCount>();
  let writing: Promise<void> | undefined;
  let tidiedAtMs = -Infinity;

  const write = async (): Promise<void> => {
    const batch = pendingCounts;
    pendingCounts = new Map();
    if (batch.size > 0) {
      // All processes lock the rows in the same order, so that they cannot deadlock.
      const counts = [...batch].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, count]) => count);
      try {
        await add(sql, {
          keyIds: counts.map(({ keyId }) => keyId),
          minutesMs: counts.map(({ minuteMs }) => minuteMs),
          endpoints: counts.map(({ endpoint }) => endpoint),
          statuses: counts.map((pending) => pending.status),
          errorCodes: counts.map((pending) => pending.errorCode),
          counts: counts.map((pending) => pending.count),
        });
      } catch (error) {
        for (const [name, count] of batch) countUp(name, count, count.count);
        throw error;
      }
    }
    const nowMs = clock.nowMs();
    if (nowMs - tidiedAtMs < TIDY_EVERY_MS) return;
    tidiedAtMs = nowMs;
    if (!(await mayDeleteByAge())) return;
    const sinceMs = nowMs - KEPT_MS;
    await inBatches(prune, { beforeMs: sinceMs, sinceMs: 0 });
    await inBatches(sumUpHours, { beforeMs: nowMs - MINUTES_KEPT_MS, sinceMs });
    await inBatches(sumUpDays, { beforeMs: nowMs - HOURS_KEPT_MS, sinceMs });
  };

  const inBatches = async (removal: Removal, bounds: AgeBounds): Promise<void> => {
    for (let batch = 0; batch < MAX_BATCHES; batch++) {
      const [done] = await removal(sql, bounds);
      if ((done?.done ?? 0) < MAX_BATCH) return;
    }
  };

  const countUp = (name: string, note: Omit<PendingCount, "count">, increment: number): void => {
    const pending = pendingCounts.get(name);
    if (pending !== undefined) pending.count += increment;
    else if (pendingCounts.size < MAX_WAITING) pendingCounts.set(name, { ...note, count: increment });
  };

  const flush = async (): Promise<void> => {
    writing ??= write().finally(() => {
      writing = undefined;
    });
    await writing;
  };
  const timer = setInterval(() => void flush().catch(onFault), FLUSH_EVERY_MS);

  return {
    note(call) {
      const nowMs = clock.nowMs();
      const minuteMs = nowMs - (nowMs % MINUTE_MS);
      countUp(
        `${call.keyId} ${minuteMs} ${call.endpoint} ${call.status} ${call.errorCode}`,
        { ...call, minuteMs },
        1,
      );
    },
    async read({ keyId, fromMs, toMs, bucketMs, limit }, searcher): Promise<UsageCount[]> {
      const question = { keyId, fromMs, toMs, bucketMs, limit };
      return await searches.limiter.run(
        searcher,
        async () => await withSearchTimeout(read(searches.sql, question)),
      );
    },
    flush,
    async close() {
      clearInterval(timer);
      await writing?.catch(onFault);
      await flush().catch(onFault);
    },
  };
}
