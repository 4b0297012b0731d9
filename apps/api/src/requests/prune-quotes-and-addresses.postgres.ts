import { sql as text, type Column, type SQL } from "drizzle-orm";
import type { PrunableQuotes } from "../db/prunable.port.ts";
import { apiKeys } from "../callers/callers.tables.ts";
import { defineSql, nameOf, type Params } from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import {
  depositAddresses,
  depositAddressFunds,
  depositSweeps,
} from "../deposits/addresses/deposit-addresses.tables.ts";
import { deposits } from "../deposits/deposits.tables.ts";
import { fastFills } from "../executions/fast-fills.tables.ts";
import { executions } from "../payments/executions.tables.ts";
import { fillBurns } from "../payments/payments.tables.ts";
import { sendReports, sends } from "../payments/sends.tables.ts";
import { webhookDeliveries, webhookEndpoints } from "../push/webhooks.tables.ts";
import { isLarge, largeEndedMs } from "./history/large-requests.postgres.ts";
import { requestEvents, requests, statusEvents } from "./requests.tables.ts";

// Undelivered webhooks still need the request, so it is pruned after them. A subquery, so that this is an
// index probe per request.
const waitingDelivery = text`(select true from ${statusEvents}
    join ${webhookEndpoints} on ${webhookEndpoints.keyId} = ${statusEvents.keyId}
    join ${webhookDeliveries} on ${webhookDeliveries.endpointId} = ${webhookEndpoints.id}
      and ${webhookDeliveries.requestId} = ${statusEvents.requestId} and ${webhookDeliveries.seq} = ${statusEvents.seq}
  where ${statusEvents.requestId} = ${requests.requestId} and ${webhookDeliveries.state} = 'waiting' limit 1)`;

const refersTo = (column: Column): SQL =>
  text`exists (select from ${column.table} where ${column} = due.request_id)`;

/**
 * Whether a deposit address is never deleted: it received funds, or was issued to a secret API key.
 * Publishable keys do not count, because they are public.
 */
const isAddressKept = text`(due.deposit_address is not null and not exists (
            select from ${depositAddresses} where ${depositAddresses.requestId} = due.request_id
              and (${depositAddresses.keyId} is null
                or exists (select from ${apiKeys} where ${apiKeys.id} = ${depositAddresses.keyId} and ${apiKeys.origins} <> '{}'))
              and not exists (select from ${depositAddressFunds} where ${depositAddressFunds.address} = ${depositAddresses.address})
              and not exists (select from ${depositSweeps} where ${depositSweeps.address} = ${depositAddresses.address})))`;

/**
 * Deletes the requests that `isDue` selects in the order of `endedMs`, with their deposit addresses, unless
 * anything refers to them: a deposit, a payment, or an address that is kept. Such requests are kept, because
 * users may look them up; they are never checked again.
 */
const prune = (name: string, isDue: SQL, endedMs: SQL) =>
  defineSql(
    name,
    { deleted: Number, seen: Number },
    // The batch is selected first; otherwise the conditions hash whole tables.
    (p: Params<{ beforeMs: number; limit: number }>) => text`
      with due as materialized (
        select ${requests.requestId}, ${requests.depositAddress} from ${requests}
        where ${requests.state} = 'expired' and not ${requests.kept} and ${isDue} and ${endedMs} < ${p.beforeMs} and ${waitingDelivery} is null
        order by ${endedMs} limit ${p.limit} for update skip locked),
      seen as materialized (
        select due.request_id,
          ${isAddressKept}
          or ${refersTo(deposits.requestId)}
          or ${refersTo(sends.requestId)}
          or ${refersTo(sendReports.requestId)}
          or ${refersTo(executions.requestId)}
          or ${refersTo(fastFills.requestId)}
          or ${refersTo(fillBurns.requestId)} as is_kept
        from due),
      kept as (update ${requests} set ${nameOf(requests.kept)} = true
        where ${requests.requestId} in (select request_id from seen where is_kept)),
      gone as (delete from ${requests} where ${requests.requestId} in (select request_id from seen where not is_kept)
        returning ${requests.requestId}),
      addresses as (delete from ${depositAddresses} where ${depositAddresses.requestId} in (select request_id from gone)),
      events as (delete from ${requestEvents} where ${requestEvents.requestId} in (select request_id from gone)),
      statuses as (delete from ${statusEvents} where ${statusEvents.requestId} in (select request_id from gone))
      select count(*) filter (where not is_kept) as deleted, count(*) as seen from seen`,
  );

const prunings = {
  requests: prune("request_prune", text`true`, text`${requests.fillDeadlineMs}`),
  large_requests: prune("request_prune_large", isLarge, largeEndedMs),
};

/** Deletes up to `limit` quotes of this kind that ended before `beforeMs`. */
export async function pruneQuotesAndAddresses(
  sql: Sql,
  quotes: PrunableQuotes,
  beforeMs: number,
  limit: number,
): Promise<{ readonly deleted: number; readonly seen: number }> {
  const [row] = await prunings[quotes](sql, { beforeMs, limit });
  return row ?? { deleted: 0, seen: 0 };
}
