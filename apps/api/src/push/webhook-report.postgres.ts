import { sql as text } from "drizzle-orm";
import { defineSql, nullable } from "../db/define-query.postgres.ts";
import { webhookDeliveries as deliveries, webhookEndpoints as endpoints } from "./webhooks.tables.ts";
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
const waiting = defineSql(
  "webhook_waiting",
  { waiting: Number, oldestMs: nullable(Number), failing: Number },
  () => text`select count(*) as waiting, min(${deliveries.createdAtMs}) as oldest_ms,
      (select count(*) from ${endpoints} where ${endpoints.failingSinceMs} is not null and ${endpoints.deletedAtMs} is null) as failing
    from ${deliveries} where ${deliveries.state} = 'waiting'`,
);

/** Pending deliveries. */
export interface WaitingDeliveries {
  readonly waiting: number;
  /** When the oldest of these happened; undefined if there is none. */
  readonly oldestMs: number | undefined;
  /** Endpoints whose last attempt failed. */
  readonly failing: number;
}

/** All webhook endpoints, failing ones first. */
export async function webhookReport(sql: Sql): Promise<readonly object[]> {
  return await sql.query(report, []);
}

export async function waitingDeliveries(sql: Sql): Promise<WaitingDeliveries> {
  const [row] = await waiting(sql, {});
  return { waiting: row?.waiting ?? 0, oldestMs: row?.oldestMs ?? undefined, failing: row?.failing ?? 0 };
}
