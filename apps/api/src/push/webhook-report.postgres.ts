import { sql as text, type SQL } from "drizzle-orm";
import { apiKeys } from "../callers/callers.tables.ts";
import { defineReport, defineSql, nullable, outputsOf } from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { webhookDeliveries as deliveries, webhookEndpoints as endpoints } from "./webhooks.tables.ts";

const isOfEndpoint = (state: SQL): SQL =>
  text`${deliveries.endpointId} = ${endpoints.id} and ${deliveries.state} = ${state}`;
const report = defineReport(
  "operator_webhooks",
  () => text`select ${outputsOf({
    id: endpoints.id,
    key_id: endpoints.keyId,
    key: apiKeys.label,
    url: endpoints.url,
    failing_since_ms: endpoints.failingSinceMs,
    last_error: endpoints.lastError,
    last_delivered_at_ms: endpoints.lastDeliveredAtMs,
    waiting: text`(select count(*) from ${deliveries} where ${isOfEndpoint(text`'waiting'`)})`,
    waiting_since_ms: text`(select min(${deliveries.createdAtMs}) from ${deliveries} where ${isOfEndpoint(text`'waiting'`)})`,
    failed: text`(select count(*) from ${deliveries} where ${isOfEndpoint(text`'failed'`)})`,
  })}
    from ${endpoints} join ${apiKeys} on ${apiKeys.id} = ${endpoints.keyId} where ${endpoints.deletedAtMs} is null
    order by ${endpoints.failingSinceMs} nulls last, ${endpoints.id}`,
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
  /** When the oldest pending delivery was created; undefined if there is none. */
  readonly oldestMs: number | undefined;
  /** Endpoints whose last attempt failed. */
  readonly failing: number;
}

/** All webhook endpoints, failing ones first. */
export async function webhookReport(sql: Sql): Promise<readonly object[]> {
  return await report(sql, {});
}

export async function waitingDeliveries(sql: Sql): Promise<WaitingDeliveries> {
  const [row] = await waiting(sql, {});
  return { waiting: row?.waiting ?? 0, oldestMs: row?.oldestMs ?? undefined, failing: row?.failing ?? 0 };
}
