import { and, asc, desc, eq, sql as text, type SQL } from "drizzle-orm";
import type { DeliveryState, WebhookDelivery, WebhookEndpoint, WebhookRegister } from "./webhooks.port.ts";
import { apiKeys } from "../callers/callers.tables.ts";
import { storeAnnouncements } from "../db/announcements.postgres.ts";
import {
  columnsOf,
  defineQuery,
  defineSql,
  nameOf,
  namesOf,
  type Params,
  type Row,
  defineSqlWrite,
} from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { WEBHOOK_CHANNEL } from "../requests/request-save.postgres.ts";
import { statusEvents } from "../requests/requests.tables.ts";
import {
  webhookAttempts,
  webhookDeliveries as deliveries,
  webhookEndpoints as endpoints,
} from "./webhooks.tables.ts";

const DAY_MS = 24 * 3600 * 1000;
const STORED = {
  id: endpoints.id,
  url: endpoints.url,
  label: endpoints.label,
  headers: endpoints.headers,
  createdAtMs: endpoints.createdAtMs,
  updatedAtMs: endpoints.updatedAtMs,
  previousUntilMs: endpoints.previousUntilMs,
  failingSinceMs: endpoints.failingSinceMs,
  lastError: endpoints.lastError,
  lastDeliveredAtMs: endpoints.lastDeliveredAtMs,
};
const ENDPOINT = { ...STORED, waiting: Number, failed: Number };
const countOf = (state: "waiting" | "failed"): SQL => text`(select count(*) from ${deliveries}
  where ${deliveries.endpointId} = ${endpoints.id} and ${deliveries.state} = ${text.raw(`'${state}'`)})`;
const selectEndpoint = text`select ${columnsOf(STORED)}, ${countOf("waiting")} as waiting, ${countOf("failed")} as failed`;

interface OfKey extends Record<string, unknown> {
  readonly keyId: string;
}
interface OfEndpoint extends OfKey {
  readonly id: string;
}
const isOfKey = ({ keyId }: Params<OfKey>): SQL =>
  text`${endpoints.keyId} = ${keyId} and ${endpoints.deletedAtMs} is null`;
const isEndpoint = (p: Params<OfEndpoint>): SQL => text`${isOfKey(p)} and ${endpoints.id} = ${p.id}`;
const countOfKey = (owner: SQL): SQL => text`(select count(*) from ${endpoints}
  where ${endpoints.keyId} = ${owner} and ${endpoints.deletedAtMs} is null)`;

interface NewEndpoint extends OfEndpoint {
  readonly url: string;
  readonly label: string;
  readonly headers: string;
  readonly secret: string;
  readonly atMs: number;
  readonly max: number;
}
const create = defineSql("webhook_create", ENDPOINT, (p: Params<NewEndpoint>) => {
  const { id, keyId, url, label, headers, secret, createdAtMs, updatedAtMs } = endpoints;
  return text`
    with owner as materialized (select ${apiKeys.id} from ${apiKeys} where ${apiKeys.id} = ${p.keyId}),
    made as (
      insert into ${endpoints} (${namesOf(id, keyId, url, label, headers, secret, createdAtMs, updatedAtMs)})
      select ${p.id}, owner.id, ${p.url}, ${p.label}, ${p.headers}, ${p.secret}, ${p.atMs}::bigint, ${p.atMs}::bigint
      from owner where ${countOfKey(text`owner.id`)} < ${p.max} returning ${endpoints}.*)
    ${selectEndpoint} from made as ${endpoints}`;
});
// Counts removed endpoints too, because they are kept for longer than a day.
const creationBefore = defineSql(
  "webhook_creation_before",
  { createdAtMs: endpoints.createdAtMs },
  (p: Params<OfKey & { readonly sinceMs: number; readonly offset: number }>) => text`
    select ${endpoints.createdAtMs} from ${endpoints} where ${endpoints.keyId} = ${p.keyId} and ${endpoints.createdAtMs} > ${p.sinceMs}
    order by ${endpoints.createdAtMs} desc offset ${p.offset} limit 1`,
);
const withdraw = defineSql(
  "webhook_withdraw",
  { id: endpoints.id },
  (p: Params<OfEndpoint & { readonly max: number }>) => text`
    delete from ${endpoints} where ${endpoints.id} = ${p.id} and ${countOfKey(p.keyId)} > ${p.max} returning ${endpoints.id}`,
);
const list = defineSql(
  "webhook_list",
  ENDPOINT,
  (p: Params<OfKey>) =>
    text`${selectEndpoint} from ${endpoints} where ${isOfKey(p)} order by ${endpoints.createdAtMs}, ${endpoints.id}`,
);
const find = defineQuery("webhook_find", (db, p: Params<OfEndpoint>) =>
  db.select({ id: endpoints.id }).from(endpoints).where(isEndpoint(p)),
);
interface Rotation extends OfEndpoint {
  readonly secret: string;
  readonly previousUntilMs: number;
  readonly atMs: number;
}
const rotate = defineSql(
  "webhook_rotate",
  ENDPOINT,
  (p: Params<Rotation>) => text`
    with rotated as (
      update ${endpoints} set ${nameOf(endpoints.previousSecret)} = ${endpoints.secret},
        ${nameOf(endpoints.previousUntilMs)} = ${p.previousUntilMs}, ${nameOf(endpoints.secret)} = ${p.secret},
        ${nameOf(endpoints.updatedAtMs)} = ${p.atMs}
      where ${isEndpoint(p)} returning ${endpoints}.*)
    ${selectEndpoint} from rotated as ${endpoints}`,
);
const remove = defineSql(
  "webhook_remove",
  { id: endpoints.id },
  (p: Params<OfEndpoint & { readonly atMs: number }>) => text`
    with gone as (
      update ${endpoints} set ${nameOf(endpoints.deletedAtMs)} = ${p.atMs}, ${nameOf(endpoints.updatedAtMs)} = ${p.atMs}
      where ${isEndpoint(p)} returning ${endpoints.id}),
    dropped as (
      update ${deliveries} set ${nameOf(deliveries.state)} = 'failed', ${nameOf(deliveries.endedAtMs)} = ${p.atMs}
      where ${deliveries.state} = 'waiting' and ${deliveries.endpointId} in (select id from gone))
    select id from gone`,
);

const DELIVERY = {
  id: deliveries.id,
  requestId: deliveries.requestId,
  sequence: deliveries.seq,
  state: deliveries.state,
  attempts: deliveries.attempts,
  nextAtMs: deliveries.nextAtMs,
  createdAtMs: deliveries.createdAtMs,
  endedAtMs: deliveries.endedAtMs,
};
interface PageParams extends Record<string, unknown> {
  readonly id: string;
  readonly state: DeliveryState | null;
  readonly before: number | null;
  readonly requestId: string | null;
  readonly limit: number;
}
const listDeliveries = defineQuery("webhook_deliveries_list", (db, p: Params<PageParams>) =>
  db
    .select(DELIVERY)
    .from(deliveries)
    .where(
      text`${deliveries.endpointId} = ${p.id} and (${p.state}::text is null or ${deliveries.state} = ${p.state})
        and (${p.before}::bigint is null or ${deliveries.id} < ${p.before})
        and (${p.requestId}::text is null or ${deliveries.requestId} = ${p.requestId})`,
    )
    .orderBy(desc(deliveries.id))
    .limit(text.placeholder("limit")),
);
const findDelivery = defineQuery(
  "webhook_delivery",
  (db, p: Params<OfEndpoint & { readonly deliveryId: number }>) =>
    db
      .select(DELIVERY)
      .from(deliveries)
      .innerJoin(endpoints, eq(endpoints.id, deliveries.endpointId))
      .where(and(isEndpoint(p), eq(deliveries.id, p.deliveryId))),
);
const attemptsOf = defineQuery("webhook_attempts_list", (db, p: Params<{ deliveryId: number }>) =>
  db
    .select()
    .from(webhookAttempts)
    .where(eq(webhookAttempts.deliveryId, p.deliveryId))
    .orderBy(asc(webhookAttempts.n)),
);
// Clears the lease of a running attempt, so that its outcome does not end the replay. A delivery whose event
// was pruned stays unchanged, because there is nothing left to send.
const replay = defineSqlWrite(
  "webhook_replay",
  (p: Params<OfEndpoint & { readonly deliveryId: number; readonly atMs: number }>) => text`
    with again as (
      update ${deliveries} set ${nameOf(deliveries.state)} = 'waiting', ${nameOf(deliveries.tries)} = 0,
        ${nameOf(deliveries.nextAtMs)} = ${p.atMs}, ${nameOf(deliveries.endedAtMs)} = null,
        ${nameOf(deliveries.leaseToken)} = null, ${nameOf(deliveries.leaseUntilMs)} = 0
      from ${endpoints} where ${endpoints.id} = ${deliveries.endpointId} and ${isEndpoint(p)} and ${deliveries.id} = ${p.deliveryId}
        and ${deliveries.state} <> 'waiting' and exists (select from ${statusEvents}
          where ${statusEvents.requestId} = ${deliveries.requestId} and ${statusEvents.seq} = ${deliveries.seq})
      returning ${deliveries.id})
    ${storeAnnouncements(text`select ${text.raw(`'${WEBHOOK_CHANNEL}'`)}, '' from again`)}`,
  { announces: true },
);

export function webhookRegister(sql: Sql): WebhookRegister {
  const readDelivery = async (
    keyId: string,
    id: string,
    deliveryId: number,
  ): Promise<WebhookDelivery | undefined> => {
    const [row] = await findDelivery(sql, { keyId, id, deliveryId });
    return row && deliveryOf(row);
  };
  return {
    async nextCreationAtMs(keyId, maxPerDay, nowMs) {
      const day = { keyId, sinceMs: nowMs - DAY_MS, offset: maxPerDay - 1 };
      const [row] = await creationBefore(sql, day);
      return row === undefined ? nowMs : row.createdAtMs + DAY_MS;
    },
    async create({ headers, ...endpoint }, max) {
      const [row] = await create(sql, { ...endpoint, headers: JSON.stringify(headers), max });
      // The lock makes concurrently created endpoints visible to each other.
      const { id, keyId } = endpoint;
      const isWithdrawn = (await withdraw(sql, { id, keyId, max })).length > 0;
      return row === undefined || isWithdrawn ? undefined : endpointOf(row);
    },
    list: async (keyId) => (await list(sql, { keyId })).map(endpointOf),
    async rotate(keyId, id, { secret, previousUntilMs, atMs }) {
      const [row] = await rotate(sql, { keyId, id, secret, previousUntilMs, atMs });
      return row && endpointOf(row);
    },
    remove: async (keyId, id, atMs) => (await remove(sql, { keyId, id, atMs })).length > 0,
    async deliveries(keyId, id, { state, before, requestId, limit }) {
      if ((await find(sql, { keyId, id })).length === 0) return undefined;
      const page = { id, state: state ?? null, before: before ?? null, requestId: requestId ?? null, limit };
      return (await listDeliveries(sql, page)).map(deliveryOf);
    },
    async delivery(keyId, id, deliveryId) {
      const delivery = await readDelivery(keyId, id, deliveryId);
      if (delivery === undefined) return undefined;
      const log = (await attemptsOf(sql, { deliveryId })).map(({ deliveryId: _, ...row }) => ({
        ...row,
        status: row.status ?? undefined,
        error: row.error ?? undefined,
        response: row.response ?? undefined,
      }));
      return { ...delivery, log };
    },
    async replay(keyId, id, deliveryId, atMs) {
      await replay(sql, { keyId, id, deliveryId, atMs });
      return await readDelivery(keyId, id, deliveryId);
    },
  };
}

function endpointOf({ headers, ...row }: Row<typeof ENDPOINT>): WebhookEndpoint {
  return {
    ...row,
    headerNames: Object.keys(headers),
    previousUntilMs: row.previousUntilMs ?? undefined,
    failingSinceMs: row.failingSinceMs ?? undefined,
    lastError: row.lastError ?? undefined,
    lastDeliveredAtMs: row.lastDeliveredAtMs ?? undefined,
  };
}

function deliveryOf(row: Row<typeof DELIVERY>): WebhookDelivery {
  return {
    ...row,
    nextAtMs: row.state === "waiting" ? row.nextAtMs : undefined,
    endedAtMs: row.endedAtMs ?? undefined,
  };
}
