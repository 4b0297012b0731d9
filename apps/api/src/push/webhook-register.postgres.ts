import type {
  DeliveryState,
  WebhookAttempt,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookHeaders,
  WebhookRegister,
} from "./webhooks.port.ts";
import { announcing } from "../db/announcements.postgres.ts";
import { statement } from "../db/pool.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { WEBHOOK_CHANNEL } from "../requests/request-save.postgres.ts";

const DAY_MS = 24 * 3600 * 1000;
const ENDPOINT = `w.id, w.url, w.label, w.headers, w.created_at_ms, w.updated_at_ms, w.previous_until_ms, w.failing_since_ms, w.last_error,
  w.last_delivered_at_ms, (select count(*) from webhook_deliveries d where d.endpoint_id = w.id and d.state = 'waiting') as waiting,
  (select count(*) from webhook_deliveries d where d.endpoint_id = w.id and d.state = 'failed') as failed`;
const OWN = "w.key_id = $1 and w.deleted_at_ms is null";

const create = statement(
  "webhook_create",
  `with owner as materialized (select id from api_keys where id = $2),
   w as (insert into webhook_endpoints (id, key_id, url, label, headers, secret, created_at_ms, updated_at_ms)
     select $1, owner.id, $3, $4, $5, $6, $7, $7 from owner
     where (select count(*) from webhook_endpoints where key_id = owner.id and deleted_at_ms is null) < $8 returning *)
   select ${ENDPOINT} from w`,
);
/** The creation that must be a day old first: removed endpoints count, and are kept for longer. */
const creationBefore = statement(
  "webhook_creation_before",
  `select created_at_ms from webhook_endpoints where key_id = $1 and created_at_ms > $2 order by created_at_ms desc offset $3 limit 1`,
);
const withdraw = statement(
  "webhook_withdraw",
  `delete from webhook_endpoints where id = $1
     and (select count(*) from webhook_endpoints where key_id = $2 and deleted_at_ms is null) > $3 returning id`,
);
const list = statement(
  "webhook_list",
  `select ${ENDPOINT} from webhook_endpoints w where ${OWN} order by w.created_at_ms, w.id`,
);
const find = statement("webhook_find", `select 1 as one from webhook_endpoints w where ${OWN} and w.id = $2`);
const rotate = statement(
  "webhook_rotate",
  `with w as (update webhook_endpoints w set previous_secret = w.secret, previous_until_ms = $4, secret = $3, updated_at_ms = $5
     where ${OWN} and w.id = $2 returning *)
   select ${ENDPOINT} from w`,
);
const remove = statement(
  "webhook_remove",
  `with gone as (update webhook_endpoints w set deleted_at_ms = $3, updated_at_ms = $3 where ${OWN} and w.id = $2 returning w.id),
   dropped as (update webhook_deliveries set state = 'failed', ended_at_ms = $3 where state = 'waiting'
     and endpoint_id in (select id from gone))
   select id from gone`,
);
const DELIVERY = `d.id, d.request_id, d.seq, d.state, d.attempts, d.next_at_ms, d.created_at_ms, d.ended_at_ms`;
const deliveries = statement(
  "webhook_deliveries_list",
  `select ${DELIVERY} from webhook_deliveries d where d.endpoint_id = $1 and ($2::text is null or d.state = $2)
     and ($3::bigint is null or d.id < $3) and ($4::text is null or d.request_id = $4) order by d.id desc limit $5`,
);
const delivery = statement(
  "webhook_delivery",
  `select ${DELIVERY} from webhook_deliveries d join webhook_endpoints w on w.id = d.endpoint_id
   where ${OWN} and w.id = $2 and d.id = $3`,
);
const attempts = statement(
  "webhook_attempts_list",
  "select n, at_ms, took_ms, status, error, response from webhook_attempts where delivery_id = $1 order by n",
);
/**
 * An attempt under way loses its lease, so its outcome does not end the replay. A delivery whose event was
 * pruned with its request stays as it is: there is nothing left to send.
 */
const replay = announcing(
  "webhook_replay",
  `with d as (update webhook_deliveries d set state = 'waiting', tries = 0, next_at_ms = $4, ended_at_ms = null, lease_token = null, lease_until_ms = 0
     from webhook_endpoints w where w.id = d.endpoint_id and ${OWN} and w.id = $2 and d.id = $3 and d.state <> 'waiting'
       and exists (select from status_events e where e.request_id = d.request_id and e.seq = d.seq) returning d.id)`,
  `select '${WEBHOOK_CHANNEL}', '' from d`,
);

interface EndpointRow {
  id: string;
  url: string;
  label: string;
  headers: string;
  created_at_ms: number;
  updated_at_ms: number;
  previous_until_ms: number | null;
  failing_since_ms: number | null;
  last_error: string | null;
  last_delivered_at_ms: number | null;
  waiting: number;
  failed: number;
}

interface DeliveryRow {
  id: number;
  request_id: string;
  seq: number;
  state: string;
  attempts: number;
  next_at_ms: number;
  created_at_ms: number;
  ended_at_ms: number | null;
}

interface AttemptRow {
  n: number;
  at_ms: number;
  took_ms: number;
  status: number | null;
  error: string | null;
  response: string | null;
}

export function webhookRegister(sql: Sql): WebhookRegister {
  const one = async (keyId: string, id: string, deliveryId: number): Promise<WebhookDelivery | undefined> => {
    const [row] = await sql.query<DeliveryRow>(delivery, [keyId, id, deliveryId]);
    return row && deliveryOf(row);
  };
  return {
    async mayCreateAtMs(keyId, maxPerDay, nowMs) {
      const [row] = await sql.query<{ created_at_ms: number }>(creationBefore, [
        keyId,
        nowMs - DAY_MS,
        maxPerDay - 1,
      ]);
      return row === undefined ? nowMs : row.created_at_ms + DAY_MS;
    },
    async create({ id, keyId, url, label, headers, secret, atMs }, most) {
      const values = [id, keyId, url, label, JSON.stringify(headers), secret, atMs, most];
      const [row] = await sql.query<EndpointRow>(create, values);
      // Of several made at one moment each counts the others only now.
      const isOneTooMany = (await sql.query(withdraw, [id, keyId, most])).length > 0;
      return row === undefined || isOneTooMany ? undefined : endpointOf(row);
    },
    list: async (keyId) => (await sql.query<EndpointRow>(list, [keyId])).map(endpointOf),
    async rotate(keyId, id, { secret, previousUntilMs, atMs }) {
      const [row] = await sql.query<EndpointRow>(rotate, [keyId, id, secret, previousUntilMs, atMs]);
      return row && endpointOf(row);
    },
    remove: async (keyId, id, atMs) => (await sql.query(remove, [keyId, id, atMs])).length > 0,
    async deliveries(keyId, id, { state, before, requestId, limit }) {
      if ((await sql.query(find, [keyId, id])).length === 0) return undefined;
      const values = [id, state ?? null, before ?? null, requestId ?? null, limit];
      return (await sql.query<DeliveryRow>(deliveries, values)).map(deliveryOf);
    },
    async delivery(keyId, id, deliveryId) {
      const found = await one(keyId, id, deliveryId);
      if (found === undefined) return undefined;
      return { ...found, log: (await sql.query<AttemptRow>(attempts, [deliveryId])).map(attemptOf) };
    },
    async replay(keyId, id, deliveryId, atMs) {
      await sql.query(replay, [keyId, id, deliveryId, atMs]);
      return await one(keyId, id, deliveryId);
    },
  };
}

function endpointOf(row: EndpointRow): WebhookEndpoint {
  return {
    id: row.id,
    url: row.url,
    label: row.label,
    headerNames: Object.keys(JSON.parse(row.headers) as WebhookHeaders),
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
    previousUntilMs: row.previous_until_ms ?? undefined,
    failingSinceMs: row.failing_since_ms ?? undefined,
    lastError: row.last_error ?? undefined,
    lastDeliveredAtMs: row.last_delivered_at_ms ?? undefined,
    waiting: row.waiting,
    failed: row.failed,
  };
}

function deliveryOf(row: DeliveryRow): WebhookDelivery {
  return {
    id: row.id,
    requestId: row.request_id,
    sequence: row.seq,
    state: row.state as DeliveryState,
    attempts: row.attempts,
    nextAtMs: row.state === "waiting" ? row.next_at_ms : undefined,
    createdAtMs: row.created_at_ms,
    endedAtMs: row.ended_at_ms ?? undefined,
  };
}

function attemptOf(row: AttemptRow): WebhookAttempt {
  return {
    n: row.n,
    atMs: row.at_ms,
    tookMs: row.took_ms,
    status: row.status ?? undefined,
    error: row.error ?? undefined,
    response: row.response ?? undefined,
  };
}
