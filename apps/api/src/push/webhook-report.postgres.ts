import { statement } from "../db/pool.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";

const report = statement(
  "operator_webhooks",
  `select w.id, w.key_id, k.label as key, w.url, w.failing_since_ms, w.last_error, w.last_delivered_at_ms,
     (select count(*) from webhook_deliveries d where d.endpoint_id = w.id and d.state = 'waiting') as waiting,
     (select min(d.created_at_ms) from webhook_deliveries d where d.endpoint_id = w.id and d.state = 'waiting') as waiting_since_ms,
     (select count(*) from webhook_deliveries d where d.endpoint_id = w.id and d.state = 'failed') as failed
   from webhook_endpoints w join api_keys k on k.id = w.key_id where w.deleted_at_ms is null order by w.failing_since_ms nulls last, w.id`,
);
const waiting = statement(
  "webhook_waiting",
  `select count(*) as waiting, min(created_at_ms) as oldest_ms,
     (select count(*) from webhook_endpoints where failing_since_ms is not null and deleted_at_ms is null) as failing
   from webhook_deliveries where state = 'waiting'`,
);

/** What waits to be delivered. */
export interface WaitingDeliveries {
  readonly waiting: number;
  /** When the oldest of these happened; undefined: nothing waits. */
  readonly oldestMs: number | undefined;
  /** Endpoints whose last attempt failed. */
  readonly failing: number;
}

/** Where the owners of keys are told of changes, those that fail first. */
export async function webhookReport(sql: Sql): Promise<readonly object[]> {
  return await sql.query(report, []);
}

export async function waitingDeliveries(sql: Sql): Promise<WaitingDeliveries> {
  const [row] = await sql.query<{ waiting: number; oldest_ms: number | null; failing: number }>(waiting, []);
  return {
    waiting: row?.waiting ?? 0,
    oldestMs: row?.oldest_ms ?? undefined,
    failing: row?.failing ?? 0,
  };
}
