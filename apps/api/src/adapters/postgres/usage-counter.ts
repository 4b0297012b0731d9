import type { Clock } from "../../ports/clock.ts";
import type { Usage, UsageCount, UsageNote } from "../../ports/usage.ts";
import { statement } from "./pool.ts";
import type { Sql } from "./pool.ts";

const MINUTE_MS = 60_000;
const FLUSH_EVERY_MS = 5_000;
const PRUNE_EVERY_MS = 3600 * 1000;
const KEPT_MS = 400 * 24 * 3600 * 1000;
const PRUNE_BATCH = 10_000;
/** Different counts that wait while the database is away. */
const MOST_WAITING = 20_000;

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
   group by 1, 2, 3, 4, 5 order by 2, 3, 4, 5`,
);
const prune = statement(
  "usage_prune",
  `delete from api_usage where (key_id, minute_ms, endpoint, status, error_code) in
     (select key_id, minute_ms, endpoint, status, error_code from api_usage where minute_ms < $1 limit ${PRUNE_BATCH})`,
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
  { clock, onFault }: { readonly clock: Clock; readonly onFault: (error: unknown) => void },
): UsageCounter {
  let waiting = new Map<string, Waiting>();
  let writing: Promise<void> | undefined;
  let prunedAtMs = -Infinity;

  const write = async (): Promise<void> => {
    const batch = waiting;
    waiting = new Map();
    if (batch.size > 0) {
      // In one order everywhere: two processes that add to the same rows must not wait for each other in a circle.
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
    if (nowMs - prunedAtMs < PRUNE_EVERY_MS) return;
    prunedAtMs = nowMs;
    await sql.query(prune, [nowMs - KEPT_MS]);
  };

  const countUp = (name: string, note: Omit<Waiting, "count">, by: number): void => {
    const known = waiting.get(name);
    if (known !== undefined) known.count += by;
    else if (waiting.size < MOST_WAITING) waiting.set(name, { ...note, count: by });
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
    async read({ keyId, fromMs, toMs, bucketMs }): Promise<UsageCount[]> {
      const rows = await sql.query<Row>(read, [keyId, fromMs, toMs, bucketMs]);
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
