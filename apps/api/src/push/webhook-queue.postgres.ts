import { randomUUID } from "node:crypto";
import { and, asc, eq, sql as text, type SQL } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { DeliveryState, DueDelivery, WebhookQueue } from "./webhooks.port.ts";
import { apiKeys } from "../callers/callers.tables.ts";
import { defineQuery, defineSql, nameOf, namesOf, type Params } from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { requests, statusEvents } from "../requests/requests.tables.ts";
import { changeOf, EVENT } from "../requests/status-event-reads.postgres.ts";
import {
  webhookAttempts,
  webhookDeliveries as deliveries,
  webhookEndpoints as endpoints,
} from "./webhooks.tables.ts";
import { termsFromJson } from "../requests/terms-json.postgres.ts";

interface Claim extends Record<string, unknown> {
  readonly nowMs: number;
  readonly perEndpoint: number;
  readonly perKey: number;
  readonly limit: number;
  readonly lease: string;
  readonly leaseUntilMs: number;
}
const earlier = alias(deliveries, "earlier");
/**
 * Due deliveries of an endpoint without earlier pending deliveries of the same request. `nullif (…) is not
 * null` makes this one index probe per delivery and lets the planner expect a match at the start of the
 * index; `not exists` would read the whole queue of the endpoint.
 */
const dueOf = (endpointId: SQL, { nowMs }: Params<Claim>): SQL => text`
  select ${deliveries.id}, ${deliveries.nextAtMs} from ${deliveries}
  where ${deliveries.endpointId} = ${endpointId} and ${deliveries.state} = 'waiting' and ${deliveries.nextAtMs} <= ${nowMs}
    and nullif(${deliveries.leaseUntilMs} <= ${nowMs} and not coalesce((select true from ${deliveries} ${earlier}
      where ${earlier.endpointId} = ${deliveries.endpointId} and ${earlier.requestId} = ${deliveries.requestId}
        and ${earlier.seq} < ${deliveries.seq} and ${earlier.state} = 'waiting' limit 1), false), false) is not null
  order by ${deliveries.nextAtMs}`;
const isWaiting = text`${deliveries.state} = 'waiting'`;
const isNotDeleted = text`${endpoints.deletedAtMs} is null`;

/**
 * Limits concurrent deliveries per key and per endpoint, and claims failing endpoints last: a hanging
 * receiver delays only its own deliveries. `asking` skips through the index from endpoint to endpoint, so the
 * cost of a claim grows only with the endpoints that have pending deliveries.
 */
const claim = defineSql(
  "webhook_claim",
  { id: deliveries.id },
  (p: Params<Claim>) => text`
    with recursive held as (
      select ${deliveries.endpointId}, count(*) as places from ${deliveries}
      where ${isWaiting} and ${deliveries.leaseUntilMs} > 0 and ${deliveries.leaseUntilMs} > ${p.nowMs} group by ${deliveries.endpointId}),
    held_by_key as materialized (
      select ${endpoints.keyId}, sum(held.places)::bigint as places from held join ${endpoints} on ${endpoints.id} = held.endpoint_id
      group by ${endpoints.keyId}),
    asking (id, first_at_ms) as (
      (select ${deliveries.endpointId}, ${deliveries.nextAtMs} from ${deliveries} where ${isWaiting}
        order by ${deliveries.endpointId}, ${deliveries.nextAtMs} limit 1)
      union all
      select next.* from asking cross join lateral (
        select ${deliveries.endpointId}, ${deliveries.nextAtMs} from ${deliveries}
        where ${isWaiting} and ${deliveries.endpointId} > asking.id
        order by ${deliveries.endpointId}, ${deliveries.nextAtMs} limit 1) next),
    -- Ordered by their first deliveries, which may be under way already; failing endpoints come last.
    asked as (
      select id, first_at_ms, id in (
        select ${endpoints.id} from ${endpoints} where ${endpoints.failingSinceMs} is not null and ${isNotDeleted}) as is_failing
      from asking where first_at_ms <= ${p.nowMs} and id not in (select endpoint_id from held where places >= ${p.perEndpoint})
      order by is_failing, first_at_ms, id),
    -- Checks one endpoint after the other until enough of them have something to claim. The inner limits prevent joins of whole tables.
    nearest as (
      select asked.id, asked.first_at_ms, asked.is_failing, living.key_id, living.free_of_key,
        ${p.perEndpoint} - coalesce((select places from held where endpoint_id = asked.id), 0) as free
      from asked
        cross join lateral (
          select ${endpoints.keyId}, ${p.perKey} - coalesce((select places from held_by_key h where h.key_id = ${endpoints.keyId}), 0) as free_of_key
          from ${endpoints} where ${endpoints.id} = asked.id and ${isNotDeleted} limit 1) living
        cross join lateral (${dueOf(text`asked.id`, p)} limit 1) head
      where living.free_of_key > 0 and (select ${apiKeys.revokedAtMs} is null from ${apiKeys} where ${apiKeys.id} = living.key_id)
      order by is_failing, first_at_ms, id limit ${p.limit}),
    due as (
      select d.id, d.next_at_ms, nearest.is_failing, nearest.free_of_key,
        row_number() over (partition by nearest.key_id order by nearest.is_failing, d.next_at_ms, d.id) as n
      from nearest cross join lateral (${dueOf(text`nearest.id`, p)} limit nearest.free) d),
    chosen as (select id from due where n <= free_of_key order by is_failing, next_at_ms, id limit ${p.limit}),
    -- Another worker may have chosen the same: its lease is seen under the lock.
    locked as (
      select ${deliveries.id} from ${deliveries}
      where ${deliveries.id} in (select id from chosen) and ${isWaiting} and ${deliveries.leaseUntilMs} <= ${p.nowMs} for update skip locked)
    update ${deliveries} set ${nameOf(deliveries.leaseToken)} = ${p.lease}, ${nameOf(deliveries.leaseUntilMs)} = ${p.leaseUntilMs}
    from locked where ${deliveries.id} = locked.id returning ${deliveries.id}`,
);

const read = defineQuery("webhook_claimed", (db, { ids }: Params<{ ids: readonly number[] }>) =>
  db
    .select({
      ...EVENT,
      id: deliveries.id,
      tries: deliveries.tries,
      endpointId: deliveries.endpointId,
      url: endpoints.url,
      headers: endpoints.headers,
      secret: endpoints.secret,
      previousSecret: endpoints.previousSecret,
      previousUntilMs: endpoints.previousUntilMs,
      terms: requests.terms,
    })
    .from(deliveries)
    .innerJoin(endpoints, eq(endpoints.id, deliveries.endpointId))
    .innerJoin(
      statusEvents,
      and(eq(statusEvents.requestId, deliveries.requestId), eq(statusEvents.seq, deliveries.seq)),
    )
    .innerJoin(requests, eq(requests.requestId, deliveries.requestId))
    .where(text`${deliveries.id} = any(${ids}::bigint[])`)
    .orderBy(asc(deliveries.nextAtMs), asc(deliveries.id)),
);

interface FinishParams extends Record<string, unknown> {
  readonly id: number;
  readonly lease: string;
  /** The new state. */
  readonly state: DeliveryState;
  /** When the delivery is retried. Null: it is not retried. */
  readonly againAtMs: number | null;
  /** When this attempt began. */
  readonly atMs: number;
  readonly tookMs: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly response: string | null;
}
const later = alias(deliveries, "later");
// Reschedules later deliveries of the same request: to the time of this delivery's retry, or to now if it has
// ended.
const finish = defineSql("webhook_finish", { id: deliveries.id }, (p: Params<FinishParams>) => {
  const [at, again, error] = [text`${p.atMs}::bigint`, text`${p.againAtMs}::bigint`, text`${p.error}::text`];
  const { deliveryId, n, atMs, tookMs, status, error: failure, response } = webhookAttempts;
  return text`
    with ended as (
      update ${deliveries} set ${nameOf(deliveries.state)} = ${p.state}::text, ${nameOf(deliveries.tries)} = ${deliveries.tries} + 1,
        ${nameOf(deliveries.attempts)} = ${deliveries.attempts} + 1,
        ${nameOf(deliveries.nextAtMs)} = coalesce(${again}, ${deliveries.nextAtMs}),
        ${nameOf(deliveries.leaseToken)} = null, ${nameOf(deliveries.leaseUntilMs)} = 0,
        ${nameOf(deliveries.endedAtMs)} = case when ${p.state}::text <> 'waiting' then ${at} end
      where ${deliveries.id} = ${p.id} and ${deliveries.leaseToken} = ${p.lease} and ${isWaiting}
      returning ${deliveries.id}, ${deliveries.endpointId}, ${deliveries.requestId}, ${deliveries.seq}, ${deliveries.attempts}),
    logged as (
      insert into ${webhookAttempts} (${namesOf(deliveryId, n, atMs, tookMs, status, failure, response)})
      select id, attempts, ${at}, ${p.tookMs}::bigint, ${p.status}::integer, ${error}, ${p.response}::text from ended),
    after_it as (
      update ${deliveries} ${later} set ${nameOf(deliveries.nextAtMs)} = coalesce(${again}, least(${later.nextAtMs}, ${at})) from ended
      where ${later.endpointId} = ended.endpoint_id and ${later.requestId} = ended.request_id and ${later.seq} > ended.seq
        and ${later.state} = 'waiting'),
    judged as (
      update ${endpoints} set
        ${nameOf(endpoints.failingSinceMs)} = case when ${error} is not null then coalesce(${endpoints.failingSinceMs}, ${at}) end,
        ${nameOf(endpoints.lastError)} = ${error},
        ${nameOf(endpoints.lastDeliveredAtMs)} = case when ${error} is null then ${at} else ${endpoints.lastDeliveredAtMs} end
      from ended where ${endpoints.id} = ended.endpoint_id
        -- Concurrent deliveries that succeed need not wait for the lock of this row.
        and (${error} is not null or ${endpoints.failingSinceMs} is not null
          or coalesce(${endpoints.lastDeliveredAtMs}, 0) < ${at} - 1000))
    select id from ended`;
});

interface PruneParams extends Record<string, unknown> {
  readonly beforeMs: number;
  readonly limit: number;
}
const pruneDeliveries = defineSql(
  "webhook_prune",
  { id: deliveries.id },
  (p: Params<PruneParams>) => text`delete from ${deliveries} where ${deliveries.id} = any(array(
    select ${deliveries.id} from ${deliveries} where ${deliveries.endedAtMs} < ${p.beforeMs}
    order by ${deliveries.endedAtMs} limit ${p.limit})) returning ${deliveries.id}`,
);
const pruneEvents = defineSql(
  "status_events_prune",
  { seq: statusEvents.seq },
  (
    p: Params<PruneParams>,
  ) => text`delete from ${statusEvents} where (${statusEvents.requestId}, ${statusEvents.seq}) in (
    select ${statusEvents.requestId}, ${statusEvents.seq} from ${statusEvents} where ${statusEvents.atMs} < ${p.beforeMs}
      and not exists (select from ${deliveries}
        where ${deliveries.requestId} = ${statusEvents.requestId} and ${deliveries.seq} = ${statusEvents.seq})
    order by ${statusEvents.atMs} limit ${p.limit}) returning ${statusEvents.seq}`,
);
const ofRevokedKeys = ({ beforeMs }: Params<PruneParams>): SQL => text`
  select ${endpoints.id} from ${apiKeys} join ${endpoints} on ${endpoints.keyId} = ${apiKeys.id} where ${apiKeys.revokedAtMs} < ${beforeMs}`;
// Deletes deliveries that will never be sent: to removed endpoints and of revoked keys.
const pruneUnsent = defineSql(
  "webhook_unsent_prune",
  { id: deliveries.id },
  (p: Params<PruneParams>) => text`delete from ${deliveries} where ${deliveries.id} in (
    select ${deliveries.id} from (
      select ${endpoints.id} from ${endpoints} where ${endpoints.deletedAtMs} < ${p.beforeMs}
      union all ${ofRevokedKeys(p)}) gone
    join ${deliveries} on ${deliveries.endpointId} = gone.id limit ${p.limit}) returning ${deliveries.id}`,
);
const pruneEndpoints = defineSql(
  "webhook_endpoints_prune",
  { id: endpoints.id },
  (p: Params<PruneParams>) => text`delete from ${endpoints} where ${endpoints.id} in (
    select gone.id from (
      (select ${endpoints.id} from ${endpoints} where ${endpoints.deletedAtMs} < ${p.beforeMs} order by ${endpoints.deletedAtMs} limit ${p.limit})
      union all (${ofRevokedKeys(p)} limit ${p.limit})) gone
    where not exists (select from ${deliveries} where ${deliveries.endpointId} = gone.id) limit ${p.limit}) returning ${endpoints.id}`,
);

/**
 * The parts of the terms that a message contains. Parsed here: Postgres refuses some characters in JSON, and
 * one such message would fail the whole claim.
 */
function messageTerms(terms: string): Pick<DueDelivery, "referrer" | "depositAddress"> {
  const { referrer, depositAddress, user } = termsFromJson(terms);
  return {
    referrer,
    ...(depositAddress && {
      depositAddress: {
        address: depositAddress.address,
        strict: depositAddress.strict,
        depositor: user,
      },
    }),
  };
}

/** The webhook deliveries in Postgres: each row is written in the commit of its event. */
export function webhookQueue(sql: Sql): WebhookQueue {
  return {
    async claim({ nowMs, leaseMs, perEndpoint, perKey, limit }): Promise<readonly DueDelivery[]> {
      const lease = randomUUID();
      const bounds = { nowMs, perEndpoint, perKey, limit };
      const claimed = await claim(sql, { ...bounds, lease, leaseUntilMs: nowMs + leaseMs });
      if (claimed.length === 0) return [];
      const rows = await read(sql, { ids: claimed.map(({ id }) => id) });
      return rows.map((row) => ({
        id: row.id,
        lease,
        endpoint: {
          id: row.endpointId,
          url: row.url,
          headers: row.headers,
          secret: row.secret,
          previous:
            row.previousSecret === null || row.previousUntilMs === null
              ? undefined
              : { secret: row.previousSecret, untilMs: row.previousUntilMs },
        },
        tries: row.tries,
        change: changeOf(row),
        ...messageTerms(row.terms),
      }));
    },
    async finish({ id, lease }, outcome, end, atMs): Promise<boolean> {
      const isRetried = typeof end === "object";
      const ended = await finish(sql, {
        id,
        lease,
        state: isRetried ? "waiting" : end,
        againAtMs: isRetried ? end.againAtMs : null,
        atMs,
        tookMs: outcome.tookMs,
        status: outcome.status ?? null,
        error: outcome.error ?? null,
        response: outcome.response ?? null,
      });
      return ended.length > 0;
    },
    async prune(beforeMs, limit): Promise<number> {
      const deliveries = await pruneDeliveries(sql, { beforeMs, limit });
      const events = await pruneEvents(sql, { beforeMs, limit });
      const unsent = await pruneUnsent(sql, { beforeMs, limit });
      const endpoints = await pruneEndpoints(sql, { beforeMs, limit });
      return Math.max(deliveries.length, events.length, unsent.length, endpoints.length);
    },
  };
}
