import type { Clock } from "../db/clock.port.ts";
import type { Usage, UsageCount, UsageNote } from "../http/usage.port.ts";
import type { SearchTurns } from "../http/usage.port.ts";
import { inTime } from "../db/in-time.postgres.ts";
import { statement } from "../db/pool.postgres.ts";
import type { Sql, Statement } from "../db/pool.postgres.ts";

const MINUTE_MS = 60_000;
const FLUSH_EVERY_MS = 5_000;
const TIDY_EVERY_MS = 3600 * 1000;
const DAY_MS = 24 * 3600 * 1000;
const MINUTES_KEPT_MS = 2 * DAY_MS;
const HOURS_KEPT_MS = 60 * DAY_MS;
const KEPT_MS = 400 * DAY_MS;
const BATCH = 10_000;
/** Of one kind in one go: the rest comes an hour later. */
const MAX_BATCHES = 100;
/** Different counts that wait while the database is away. */
const MAX_WAITING = 20_000;

const add = statement(
  "usage_add",
  `insert into api_usage as known (key_id, minute_ms, endpoint, status, error_code, count)
   select * from unnest($1::text[], $2::bigint[], $3::text[], $4::integer[], $5::text[], $6::bigint[])
   on conflict (key_id, minute_ms, endpoint, status, error_code) do update set count = known.count + excluded.count`,
);
const read = statement(
  "usage_read",
  `select key_id, minute_ms - minute_ms % $4::bigint as start_ms, endpoint, status, error_code, sum(count)::bigint as count
   from api_usage where key_id = $1 and minute_ms >= $2 - $2 % $4::bigint and minute_ms < $3
   group by 1, 2, 3, 4, 5 order by 2, 3, 4, 5 limit $5`,
);

const KEY = "key_id, minute_ms, endpoint, status, error_code";

/**
 * Adds counts of before $1 up to those of the hours or days that they belong to; what is older than $2 is to
 * be deleted, maybe by another process just now.
 */
const sumUp = (name: string, widthMs: number): Statement =>
  statement(
    name,
    `with taken as (
       delete from api_usage where (${KEY}) in (
         select ${KEY} from api_usage where minute_ms < $1 and minute_ms >= $2 and minute_ms % ${widthMs} <> 0
         order by minute_ms limit ${BATCH} for update skip locked)
       returning *),
     summed as (
       insert into api_usage as known (${KEY}, count)
       select key_id, minute_ms - minute_ms % ${widthMs}, endpoint, status, error_code, sum(count)::bigint from taken
       -- In one order everywhere: two processes must not wait for each other in a circle.
       group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
       on conflict (${KEY}) do update set count = known.count + excluded.count)
     select count(*) as done from taken`,
  );
const sumUpHours = sumUp("usage_sum_up_hours", 3600 * 1000);
const sumUpDays = sumUp("usage_sum_up_days", DAY_MS);
const prune = statement(
  "usage_prune",
  `with gone as (
     delete from api_usage where (${KEY}) in (select ${KEY} from api_usage where minute_ms < $1 limit ${BATCH} for update skip locked) returning 1)
   select count(*) as done from gone`,
);

interface Row {
  key_id: string;
  start_ms: number;
  endpoint: string;
  status: number;
  error_code: string;
  count: number;
}

interface Waiting extends UsageNote {
  readonly minuteMs: number;
  count: number;
}

export interface UsageCounter extends Usage {
  /** Writes what was counted since the last time. What cannot be written is tried again. */
  flush(): Promise<void>;
  /** Stops the clock and writes the rest. */
  close(): Promise<void>;
}

/** Counts in memory, and adds them to the table every few seconds. */
export function usageCounter(
  sql: Sql,
  {
    searches,
    clock,
    mayDeleteByAge,
    onFault,
  }: {
    /** Where counts are read. */
    readonly searches: { readonly sql: Sql; readonly turns: SearchTurns };
    readonly clock: Clock;
    /** Whether the clock can be trusted with the age of what is deleted or summed up. */
    readonly mayDeleteByAge: () => Promise<boolean>;
    readonly onFault: (error: unknown) => void;
  },
): UsageCounter {
  let waiting = new Map<string, Waiting>();
  let writing: Promise<void> | undefined;
  let tidiedAtMs = -Infinity;

  const write = async (): Promise<void> => {
    const batch = waiting;
    waiting = new Map();
    if (batch.size > 0) {
      // In one order everywhere: two processes that add to the same rows must not wait for each other in a
      // circle.
      const counts = [...batch].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, count]) => count);
      try {
        await sql.query(add, [
          counts.map(({ keyId }) => keyId),
          counts.map(({ minuteMs }) => minuteMs),
          counts.map(({ endpoint }) => endpoint),
          counts.map(({ status }) => status),
          counts.map(({ errorCode }) => errorCode),
          counts.map(({ count }) => count),
        ]);
      } catch (error) {
        for (const [name, count] of batch) countUp(name, count, count.count);
        throw error;
      }
    }
    const nowMs = clock.nowMs();
    if (nowMs - tidiedAtMs < TIDY_EVERY_MS) return;
    tidiedAtMs = nowMs;
    if (!(await mayDeleteByAge())) return;
    const keptSinceMs = nowMs - KEPT_MS;
    await inBatches(prune, [keptSinceMs]);
    await inBatches(sumUpHours, [nowMs - MINUTES_KEPT_MS, keptSinceMs]);
    await inBatches(sumUpDays, [nowMs - HOURS_KEPT_MS, keptSinceMs]);
  };

  const inBatches = async (removal: Statement, bounds: readonly number[]): Promise<void> => {
    for (let batch = 0; batch < MAX_BATCHES; batch++) {
      const [row] = await sql.query<{ done: number }>(removal, bounds);
      if ((row?.done ?? 0) < BATCH) return;
    }
  };

  const countUp = (name: string, note: Omit<Waiting, "count">, by: number): void => {
    const known = waiting.get(name);
    if (known !== undefined) known.count += by;
    else if (waiting.size < MAX_WAITING) waiting.set(name, { ...note, count: by });
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
      const { keyId, endpoint, status, errorCode } = call;
      countUp(`${keyId} ${minuteMs} ${endpoint} ${status} ${errorCode}`, { ...call, minuteMs }, 1);
    },
    async read({ keyId, fromMs, toMs, bucketMs, limit }, searcher): Promise<UsageCount[]> {
      const values = [keyId, fromMs, toMs, bucketMs, limit];
      const rows = await searches.turns.run(
        searcher,
        async () => await inTime(searches.sql.query<Row>(read, values)),
      );
      return rows.map((row) => ({
        keyId: row.key_id,
        startMs: row.start_ms,
        endpoint: row.endpoint,
        status: row.status,
        errorCode: row.error_code,
        count: row.count,
      }));
    },
    flush,
    async close() {
      clearInterval(timer);
      await writing?.catch(onFault);
      await flush().catch(onFault);
    },
  };
}
