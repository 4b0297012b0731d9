import type { RequestTerms } from "@causeway/domain";
import { randomUUID } from "node:crypto";
import type { DueDelivery, WebhookHeaders, WebhookQueue } from "./webhooks.port.ts";
import { statement } from "../db/pool.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { EVENT_COLUMNS, changeOf } from "../requests/rows.postgres.ts";
import type { EventRow } from "../requests/rows.postgres.ts";

/**
 * Deliveries of an endpoint whose turn it is: an earlier one of the same request is sent first. That is an
 * index probe per delivery: `not exists` would become a join that reads the whole queue of the endpoint. The
 * planner assumes that `nullif (…) is not null` is nearly always true, so it expects a match at the start of
 * the index; otherwise it may read the whole queue and sort it.
 */
const dueOf = (endpoint: string): string =>
  `select d.id, d.next_at_ms from webhook_deliveries d
   where d.endpoint_id = ${endpoint}.id and d.state = 'waiting' and d.next_at_ms <= $1
     and nullif(d.lease_until_ms <= $1 and not coalesce((select true from webhook_deliveries p
       where p.endpoint_id = d.endpoint_id and p.request_id = d.request_id and p.seq < d.seq and p.state = 'waiting' limit 1), false), false) is not null
   order by d.next_at_ms`;

/**
 * A key has so many places, however many endpoints it has, and endpoints that fail come after those that do
 * not: a receiver that lets every attempt hang delays its own deliveries. `asking` steps through the index
 * from endpoint to endpoint. So a claim costs as much as there are endpoints with something to deliver;
 * removed endpoints and long queues add nothing.
 */
const claim = statement(
  "webhook_claim",
  `with recursive held as (
     select endpoint_id, count(*) as places from webhook_deliveries
     where state = 'waiting' and lease_until_ms > 0 and lease_until_ms > $1 group by endpoint_id),
   held_by_key as materialized (
     select w.key_id, sum(held.places)::bigint as places from held join webhook_endpoints w on w.id = held.endpoint_id group by w.key_id),
   asking (id, first_at_ms) as (
     (select endpoint_id, next_at_ms from webhook_deliveries where state = 'waiting' order by endpoint_id, next_at_ms limit 1)
     union all
     select next.* from asking cross join lateral (
       select d.endpoint_id, d.next_at_ms from webhook_deliveries d where d.state = 'waiting' and d.endpoint_id > asking.id
       order by d.endpoint_id, d.next_at_ms limit 1) next),
   -- Ordered by their first deliveries, which may be under way already; failing endpoints come last.
   asked as (
     select id, first_at_ms,
       id in (select w.id from webhook_endpoints w where w.failing_since_ms is not null and w.deleted_at_ms is null) as is_failing
     from asking where first_at_ms <= $1 and id not in (select endpoint_id from held where places >= $2)
     order by is_failing, first_at_ms, id),
   -- Checks one endpoint after the other until enough of them have something to claim. The inner limits prevent joins of whole tables.
   nearest as (
     select asked.id, asked.first_at_ms, asked.is_failing, living.key_id, living.free_of_key,
       $2 - coalesce((select places from held where endpoint_id = asked.id), 0) as free
     from asked
       cross join lateral (
         select w.key_id, $6 - coalesce((select places from held_by_key h where h.key_id = w.key_id), 0) as free_of_key
         from webhook_endpoints w where w.id = asked.id and w.deleted_at_ms is null limit 1) living
       cross join lateral (${dueOf("asked")} limit 1) head
     where living.free_of_key > 0 and (select k.revoked_at_ms is null from api_keys k where k.id = living.key_id)
     order by is_failing, first_at_ms, id limit $3),
   due as (
     select d.id, d.next_at_ms, nearest.is_failing, nearest.free_of_key,
       row_number() over (partition by nearest.key_id order by nearest.is_failing, d.next_at_ms, d.id) as n
     from nearest cross join lateral (${dueOf("nearest")} limit nearest.free) d),
   chosen as (select id from due where n <= free_of_key order by is_failing, next_at_ms, id limit $3),
   -- Another worker may have chosen the same: its lease is seen under the lock.
   locked as (
     select id from webhook_deliveries
     where id in (select id from chosen) and state = 'waiting' and lease_until_ms <= $1 for update skip locked)
   update webhook_deliveries d set lease_token = $4, lease_until_ms = $5 from locked where d.id = locked.id returning d.id`,
);

const read = statement(
  "webhook_claimed",
  `select ${EVENT_COLUMNS}, d.id, d.tries, d.endpoint_id, w.url, w.headers, w.secret, w.previous_secret, w.previous_until_ms,
     r.terms
   from webhook_deliveries d join webhook_endpoints w on w.id = d.endpoint_id
   join status_events e on e.request_id = d.request_id and e.seq = d.seq join requests r on r.request_id = d.request_id
   where d.id = any($1::bigint[]) order by d.next_at_ms, d.id`,
);

/**
 * $3: the state it has now; $4: when it is tried again, if it is; $6: when this attempt began. What comes
 * after it does so at that time, or now.
 */
const finish = statement(
  "webhook_finish",
  `with ended as (
     update webhook_deliveries set state = $3, tries = tries + 1, attempts = attempts + 1, next_at_ms = coalesce($4::bigint, next_at_ms),
       lease_token = null, lease_until_ms = 0, ended_at_ms = case when $3 = 'waiting' then null else $6::bigint end
     where id = $1 and lease_token = $2 and state = 'waiting' returning id, endpoint_id, request_id, seq, attempts),
   logged as (
     insert into webhook_attempts (delivery_id, n, at_ms, took_ms, status, error, response)
     select id, attempts, $6, $7, $8::integer, $5::text, $9::text from ended),
   after_it as (
     update webhook_deliveries f set next_at_ms = coalesce($4::bigint, least(f.next_at_ms, $6::bigint)) from ended
     where f.endpoint_id = ended.endpoint_id and f.request_id = ended.request_id and f.seq > ended.seq and f.state = 'waiting'),
   judged as (
     update webhook_endpoints w set
       failing_since_ms = case when $5::text is null then null else coalesce(w.failing_since_ms, $6::bigint) end,
       last_error = $5, last_delivered_at_ms = case when $5::text is null then $6::bigint else w.last_delivered_at_ms end
     from ended where w.id = ended.endpoint_id
       -- Deliveries that succeed side by side need not queue for this row.
       and ($5::text is not null or w.failing_since_ms is not null or coalesce(w.last_delivered_at_ms, 0) < $6::bigint - 1000))
   select id from ended`,
);

const pruneDeliveries = statement(
  "webhook_prune",
  `delete from webhook_deliveries where id in (
     select id from webhook_deliveries where ended_at_ms < $1 order by ended_at_ms limit $2) returning id`,
);
const pruneEvents = statement(
  "status_events_prune",
  `delete from status_events where (request_id, seq) in (
     select e.request_id, e.seq from status_events e where e.at_ms < $1
       and not exists (select from webhook_deliveries d where d.request_id = e.request_id and d.seq = e.seq)
     order by e.at_ms limit $2) returning seq`,
);
/**
 * What was not delivered in so long a time will not be: nothing is sent to a removed endpoint or for a
 * revoked key.
 */
const pruneUnsent = statement(
  "webhook_unsent_prune",
  `delete from webhook_deliveries where id in (
     select d.id from (
       select id from webhook_endpoints where deleted_at_ms < $1
       union all
       select w.id from api_keys k join webhook_endpoints w on w.key_id = k.id where k.revoked_at_ms < $1) gone
     join webhook_deliveries d on d.endpoint_id = gone.id limit $2) returning id`,
);
const pruneEndpoints = statement(
  "webhook_endpoints_prune",
  `delete from webhook_endpoints where id in (
     select id from (
       (select id from webhook_endpoints where deleted_at_ms < $1 order by deleted_at_ms limit $2)
       union all
       (select w.id from api_keys k join webhook_endpoints w on w.key_id = k.id where k.revoked_at_ms < $1 limit $2)) gone
     where not exists (select from webhook_deliveries d where d.endpoint_id = gone.id) limit $2) returning id`,
);

interface DueRow extends EventRow {
  id: number;
  tries: number;
  endpoint_id: string;
  url: string;
  headers: string;
  secret: string;
  previous_secret: string | null;
  previous_until_ms: number | null;
  terms: string;
}

/**
 * What a message says of the terms. Read here: the database would refuse to, for one odd character in them,
 * and with them all that was claimed at once.
 */
function saidOf(terms: string): Pick<DueDelivery, "referrer" | "depositAddress"> {
  const { referrer, depositAddress, user } = JSON.parse(terms) as Pick<
    RequestTerms,
    "referrer" | "depositAddress" | "user"
  >;
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

/** Deliveries in Postgres: each is a row that was written in the commit of its event. */
export function webhookQueue(sql: Sql): WebhookQueue {
  return {
    async claim({ nowMs, leaseMs, perEndpoint, perKey, limit }): Promise<readonly DueDelivery[]> {
      const lease = randomUUID();
      const claimed = await sql.query<{ id: number }>(claim, [
        nowMs,
        perEndpoint,
        limit,
        lease,
        nowMs + leaseMs,
        perKey,
      ]);
      if (claimed.length === 0) return [];
      const rows = await sql.query<DueRow>(read, [claimed.map(({ id }) => id)]);
      return rows.map((row) => ({
        id: row.id,
        lease,
        endpoint: {
          id: row.endpoint_id,
          url: row.url,
          headers: JSON.parse(row.headers) as WebhookHeaders,
          secret: row.secret,
          previous:
            row.previous_secret === null || row.previous_until_ms === null
              ? undefined
              : { secret: row.previous_secret, untilMs: row.previous_until_ms },
        },
        tries: row.tries,
        change: changeOf(row),
        ...saidOf(row.terms),
      }));
    },
    async finish({ id, lease }, outcome, end, atMs): Promise<boolean> {
      const isAgain = typeof end === "object";
      const ended = await sql.query(finish, [
        id,
        lease,
        isAgain ? "waiting" : end,
        isAgain ? end.againAtMs : null,
        outcome.error ?? null,
        atMs,
        outcome.tookMs,
        outcome.status ?? null,
        outcome.response ?? null,
      ]);
      return ended.length > 0;
    },
    async prune(beforeMs, limit): Promise<number> {
      const deliveries = await sql.query(pruneDeliveries, [beforeMs, limit]);
      const events = await sql.query(pruneEvents, [beforeMs, limit]);
      const unsent = await sql.query(pruneUnsent, [beforeMs, limit]);
      const endpoints = await sql.query(pruneEndpoints, [beforeMs, limit]);
      return Math.max(deliveries.length, events.length, unsent.length, endpoints.length);
    },
  };
}
