import { payBy } from "@causeway/domain";
import type { OrderId, RequestId } from "@causeway/domain";
import { and, asc, eq, exists, sql as text } from "drizzle-orm";
import type { RequestRecord } from "../db/records.port.ts";
import type { OverdueRequest, RequestChange, RequestWrites, TraceNote } from "../db/unit-of-work.port.ts";
import { feeReservations } from "../balances/reservations.tables.ts";
import {
  defineQuery,
  nameOf,
  namesOf,
  type Params,
  defineWrite,
  defineSqlWrite,
} from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { originTransactions } from "../deposits/deposits.tables.ts";
import { listRequests } from "./history/history-writes.postgres.ts";
import type { NameMemory } from "./history/name-memory.ts";
import { pruneQuotesAndAddresses } from "./prune-quotes-and-addresses.postgres.ts";
import { saveRequests } from "./request-save.postgres.ts";
import { REQUEST, requestOf, STATE, stateOf } from "./request-rows.postgres.ts";
import { requestEvents, requests, routeTimings } from "./requests.tables.ts";
import type { TraceDetails, TraceEvent } from "./trace.port.ts";
import { termsToJson } from "./terms-json.postgres.ts";
import { isWaiting } from "./waiting-requests.postgres.ts";

type Inserted =
  | "requestId"
  | "orderId"
  | "kind"
  | "state"
  | "originChainId"
  | "destinationChainId"
  | "createdAtMs"
  | "fillDeadlineMs"
  | "keyId"
  | "terms";
const insert = defineWrite("request_insert", (db, p: Params<Pick<typeof requests.$inferInsert, Inserted>>) =>
  db.insert(requests).values({
    requestId: p.requestId,
    orderId: p.orderId,
    kind: p.kind,
    state: p.state,
    originChainId: p.originChainId,
    destinationChainId: p.destinationChainId,
    createdAtMs: p.createdAtMs,
    updatedAtMs: p.createdAtMs,
    fillDeadlineMs: p.fillDeadlineMs,
    keyId: p.keyId,
    terms: p.terms,
  }),
);
const lock = defineQuery("request_lock", (db, { requestId }: Params<{ requestId: RequestId }>) =>
  db.select(REQUEST).from(requests).where(eq(requests.requestId, requestId)).for("update"),
);
const lockAll = defineQuery(
  "request_lock_all",
  (db, { requestIds }: Params<{ requestIds: readonly RequestId[] }>) =>
    db
      .select(REQUEST)
      .from(requests)
      .where(text`${requests.requestId} = any(${requestIds})`)
      .orderBy(asc(requests.requestId))
      .for("update"),
);
const lockByOrders = defineQuery(
  "request_lock_by_orders",
  (db, { orderIds }: Params<{ orderIds: readonly OrderId[] }>) =>
    db
      .select(REQUEST)
      .from(requests)
      .where(text`${requests.orderId} = any(${orderIds})`)
      .orderBy(asc(requests.requestId))
      .for("update"),
);
const lockWaiting = defineQuery(
  "request_lock_waiting",
  (db, { requestId }: Params<{ requestId: RequestId }>) =>
    db
      .select(REQUEST)
      .from(requests)
      .where(and(eq(requests.requestId, requestId), isWaiting()))
      .for("update"),
);

interface Overdue extends Record<string, unknown> {
  readonly chainId: number;
  readonly deadlineBeforeMs: number;
  readonly limit: number;
  /** Requests whose reported transactions were checked. */
  readonly checked: readonly RequestId[];
}
const lockOverdue = defineQuery("request_lock_overdue", (db, p: Params<Overdue>) => {
  const openFees = db
    .select({ one: text`1` })
    .from(feeReservations)
    .where(and(eq(feeReservations.requestId, requests.requestId), text`${feeReservations.state} = 'open'`));
  const reported = db
    .select({ one: text`1` })
    .from(originTransactions)
    .where(eq(originTransactions.requestId, requests.requestId));
  return db
    .select({ ...STATE, hasReservedFees: text`${exists(openFees)}`.mapWith(Boolean) })
    .from(requests)
    .where(
      and(
        isWaiting(),
        eq(requests.originChainId, p.chainId),
        text`${requests.fillDeadlineMs} < ${p.deadlineBeforeMs}`,
        // Expires a request only after its reported transactions were checked.
        text`(${requests.requestId} = any(${p.checked}) or not ${exists(reported)})`,
      ),
    )
    .orderBy(asc(requests.fillDeadlineMs))
    .limit(text.placeholder("limit"))
    .for("update", { skipLocked: true });
});

const insertEvents = defineSqlWrite(
  "request_note",
  (
    p: Params<{
      requestIds: readonly RequestId[];
      events: readonly TraceEvent[];
      details: readonly string[];
      atMs: number;
    }>,
  ) =>
    text`insert into ${requestEvents} (${namesOf(requestEvents.requestId, requestEvents.atMs, requestEvents.event, requestEvents.detail)})
      select request_id, ${p.atMs}::bigint, event, detail
      from unnest(${p.requestIds}::text[], ${p.events}::text[], ${p.details}::text[]) with ordinality as s (request_id, event, detail, n)
      order by s.n`,
);
// An exponential moving average: each new run counts for at least a twentieth. A run is skipped while another
// run of the route is being counted: otherwise, fills that are stored at the same moment would wait for each
// other.
const writeMeasurement = defineSqlWrite(
  "request_measured",
  (p: Params<{ originChainId: number; destinationChainId: number; meanMs: number; runs: number }>) => {
    const { originChainId, destinationChainId, samples, averageMs } = routeTimings;
    const isRoute = text`${originChainId} = ${p.originChainId} and ${destinationChainId} = ${p.destinationChainId}`;
    return text`
      with free as materialized (select ${averageMs} from ${routeTimings} where ${isRoute} for update skip locked),
      counted as (
        update ${routeTimings} set ${nameOf(samples)} = ${samples} + ${p.runs}::integer,
          ${nameOf(averageMs)} = ${averageMs} + (${p.meanMs}::float8 - ${averageMs})
            * least(1, ${p.runs}::float8 / least(${samples} + ${p.runs}::integer, 20))
        where ${isRoute} and exists (select from free))
      insert into ${routeTimings} (${namesOf(originChainId, destinationChainId, samples, averageMs)})
      select ${p.originChainId}::bigint, ${p.destinationChainId}::bigint, ${p.runs}::integer, ${p.meanMs}::float8
      where not exists (select from ${routeTimings} where ${isRoute})
      on conflict do nothing`;
  },
);

/**
 * @param memory names for the history that this process remembers. Absent: names for the history are read
 * from the database
 */
export function requestWrites(sql: Sql, memory?: NameMemory): RequestWrites {
  const insertNotes = async (notes: readonly TraceNote<TraceEvent>[], atMs: number): Promise<void> => {
    await insertEvents(sql, {
      requestIds: notes.map(({ requestId }) => requestId),
      events: notes.map(({ event }) => event),
      details: notes.map(({ detail }) => detailText(detail)),
      atMs,
    });
  };
  return {
    async insert(terms, state): Promise<void> {
      await insert(sql, {
        requestId: terms.requestId,
        orderId: terms.orderId,
        kind: terms.kind,
        state: state.name,
        originChainId: terms.origin.chainId,
        destinationChainId: terms.destination.chainId,
        createdAtMs: terms.createdAtMs,
        fillDeadlineMs: payBy(terms),
        keyId: terms.keyId ?? null,
        terms: termsToJson(terms),
      });
      if (state.name !== "quoted")
        await listRequests(sql, [{ terms, state: state.name, isFastFill: state.front !== "none" }], memory);
    },
    async lock(requestId): Promise<RequestRecord | undefined> {
      const [row] = await lock(sql, { requestId });
      return row && requestOf(row);
    },
    async lockAll(requestIds): Promise<Map<RequestId, RequestRecord>> {
      const rows = await lockAll(sql, { requestIds });
      return new Map(rows.map((row) => [row.requestId, requestOf(row)]));
    },
    async lockByOrders(orderIds): Promise<Map<OrderId, RequestRecord>> {
      if (orderIds.length === 0) return new Map();
      const rows = await lockByOrders(sql, { orderIds });
      return new Map(rows.map((row) => [row.orderId, requestOf(row)]));
    },
    async save(requestId, change: RequestChange, atMs): Promise<void> {
      await saveRequests(sql, [{ requestId, ...change }], atMs, memory);
    },
    async saveAll(saves, atMs): Promise<void> {
      await saveRequests(sql, saves, atMs, memory);
    },
    async note(requestId, atMs, event, detail): Promise<void> {
      await insertNotes([{ requestId, event, detail }], atMs);
    },
    async noteAll(notes, atMs): Promise<void> {
      if (notes.length > 0) await insertNotes(notes, atMs);
    },
    async recordDurations(originChainId, destinationChainId, tookMs): Promise<void> {
      const meanMs = tookMs.reduce((sum, ms) => sum + ms, 0) / tookMs.length;
      await writeMeasurement(sql, { originChainId, destinationChainId, meanMs, runs: tookMs.length });
    },
    prune: async (quotes, beforeMs, limit) => await pruneQuotesAndAddresses(sql, quotes, beforeMs, limit),
    async lockWaiting(requestId): Promise<RequestRecord | undefined> {
      const [row] = await lockWaiting(sql, { requestId });
      return row && requestOf(row);
    },
    async lockOverdue({ chainId, deadlineBeforeMs }, limit, checked): Promise<OverdueRequest[]> {
      const rows = await lockOverdue(sql, { chainId, deadlineBeforeMs, limit, checked });
      return rows.map((row) => ({
        requestId: row.requestId,
        state: stateOf(row),
        hasReservedFees: row.hasReservedFees,
      }));
    },
  };
}

function detailText(detail: TraceDetails[TraceEvent]): string {
  return JSON.stringify(detail, (_key, value: unknown) =>
    typeof value === "bigint" ? value.toString() : value,
  );
}
