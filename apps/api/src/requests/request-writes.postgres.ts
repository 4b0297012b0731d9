import { payBy } from "@causeway/domain";
import type { OrderId, RequestId } from "@causeway/domain";
import type { RequestRecord } from "../db/records.port.ts";
import type { PrunableQuotes } from "../db/prunable.port.ts";
import type { OverdueRequest, RequestChange, RequestWrites } from "../db/unit-of-work.port.ts";
import { statement } from "../db/pool.postgres.ts";
import type { Sql, Statement } from "../db/pool.postgres.ts";
import { LARGE, LARGE_ENDED } from "./history/large-requests.postgres.ts";
import { saveRequests } from "./request-save.postgres.ts";
import { REQUEST_COLUMNS, requestOf, STATE_COLUMNS, stateOf } from "./rows.postgres.ts";
import type { RequestRow, StateRow } from "./rows.postgres.ts";
import { termsToJson } from "./terms-json.postgres.ts";
import { WAITING } from "./waiting-requests.postgres.ts";

const insert = statement(
  "request_insert",
  `insert into requests (request_id, order_id, kind, state, origin_chain_id, destination_chain_id, created_at_ms, updated_at_ms,
     fill_deadline_ms, terms)
   values ($1, $2, $3, $4, $5, $6, $7, $7, $8, $9)`,
);
const lock = statement(
  "request_lock",
  `select ${REQUEST_COLUMNS} from requests where request_id = $1 for update`,
);
const lockAll = statement(
  "request_lock_all",
  `select ${REQUEST_COLUMNS} from requests where request_id = any($1::text[]) order by request_id for update`,
);
const lockByOrders = statement(
  "request_lock_by_orders",
  `select ${REQUEST_COLUMNS} from requests where order_id = any($1::text[]) order by request_id for update`,
);
const lockWaiting = statement(
  "request_lock_waiting",
  `select ${REQUEST_COLUMNS} from requests where request_id = $1 and ${WAITING} for update`,
);
const lockOverdue = statement(
  "request_lock_overdue",
  `select ${STATE_COLUMNS}, exists (select from fee_reservations f where f.request_id = requests.request_id and f.state = 'open') as has_reserved_fees
   from requests where ${WAITING} and origin_chain_id = $1 and fill_deadline_ms < $2
     -- Its reported transactions are looked at first.
     and (request_id = any($4::text[]) or not exists (select from origin_transactions o where o.request_id = requests.request_id))
   order by fill_deadline_ms limit $3 for update skip locked`,
);
const note = statement(
  "request_note",
  "insert into request_events (request_id, at_ms, event, detail) values ($1, $2, $3, $4)",
);
const noteAll = statement(
  "request_note_all",
  `insert into request_events (request_id, at_ms, event, detail)
   select request_id, $3, $4, detail from unnest($1::text[], $2::text[]) as n (request_id, detail)`,
);
// A moving average that forgets: each new run counts for at least a twentieth.
const measured = statement(
  "request_measured",
  `insert into route_timings as r (origin_chain_id, destination_chain_id, samples, average_ms) values ($1, $2, 1, $3)
   on conflict (origin_chain_id, destination_chain_id) do update set samples = r.samples + 1,
     average_ms = r.average_ms + (excluded.average_ms - r.average_ms) / least(r.samples + 1, 20)`,
);

// Deliveries that wait to be sent read the request: it is pruned after them. A subquery, so that it is an
// index probe per request.
const AWAITED = `(select true from status_events e join webhook_endpoints w on w.key_id = e.key_id
     join webhook_deliveries d on d.endpoint_id = w.id and d.request_id = e.request_id and d.seq = e.seq
   where e.request_id = requests.request_id and d.state = 'waiting' limit 1)`;

/**
 * Deletes the requests that `due` selects in the order of `ended`, unless anything refers to them: a deposit,
 * a payment, or a deposit address that anything came to or that was given out to a secret API key
 * (publishable keys are public). Those are kept, because users may look them up, and are never judged again.
 */
const pruneOf = (name: string, due: string, ended: string): Statement =>
  statement(
    name,
    // The batch is selected first; otherwise the conditions hash whole tables.
    `with due as materialized (
       select request_id, deposit_address from requests
       where state = 'expired' and not kept and ${due} and ${ended} < $1 and ${AWAITED} is null
       order by ${ended} limit $2 for update skip locked),
     seen as materialized (
       select request_id,
         (deposit_address is not null and not exists (select from deposit_addresses a where a.request_id = r.request_id
           and (a.key_id is null or exists (select from api_keys k where k.id = a.key_id and k.origins <> '{}'))
           and not exists (select from deposit_address_funds f where f.address = a.address)
           and not exists (select from deposit_sweeps s where s.address = a.address)))
         or exists (select from deposits d where d.request_id = r.request_id)
         or exists (select from sends s where s.request_id = r.request_id)
         or exists (select from send_reports s where s.request_id = r.request_id)
         or exists (select from executions e where e.request_id = r.request_id)
         or exists (select from fast_fills f where f.request_id = r.request_id)
         or exists (select from fill_burns b where b.request_id = r.request_id) as is_kept
       from due r),
     kept as (update requests set kept = true where request_id in (select request_id from seen where is_kept)),
     gone as (delete from requests where request_id in (select request_id from seen where not is_kept) returning request_id),
     addresses as (delete from deposit_addresses where request_id in (select request_id from gone)),
     events as (delete from request_events where request_id in (select request_id from gone)),
     statuses as (delete from status_events where request_id in (select request_id from gone))
     select count(*) filter (where not is_kept) as deleted, count(*) as seen from seen`,
  );
const prunings: Readonly<Record<PrunableQuotes, Statement>> = {
  requests: pruneOf("request_prune", "true", "fill_deadline_ms"),
  large_requests: pruneOf("request_prune_large", LARGE, LARGE_ENDED),
};

/** Requests inside one transaction. */
export function requestWrites(sql: Sql): RequestWrites {
  return {
    async insert(terms, state): Promise<void> {
      await sql.query(insert, [
        terms.requestId,
        terms.orderId,
        terms.kind,
        state.name,
        terms.origin.chainId,
        terms.destination.chainId,
        terms.createdAtMs,
        payBy(terms),
        termsToJson(terms),
      ]);
    },
    async lock(requestId: RequestId): Promise<RequestRecord | undefined> {
      const [row] = await sql.query<RequestRow>(lock, [requestId]);
      return row && requestOf(row);
    },
    async lockAll(requestIds): Promise<Map<RequestId, RequestRecord>> {
      const rows = await sql.query<RequestRow>(lockAll, [requestIds]);
      return new Map(rows.map((row) => [row.request_id as RequestId, requestOf(row)]));
    },
    async lockByOrders(orderIds: readonly OrderId[]): Promise<Map<OrderId, RequestRecord>> {
      if (orderIds.length === 0) return new Map();
      const rows = await sql.query<RequestRow>(lockByOrders, [orderIds]);
      return new Map(rows.map((row) => [row.order_id as OrderId, requestOf(row)]));
    },
    async save(requestId: RequestId, change: RequestChange, atMs: number): Promise<void> {
      await saveRequests(sql, [requestId], change, atMs);
    },
    async saveAll(requestIds, change, atMs): Promise<void> {
      await saveRequests(sql, requestIds, change, atMs);
    },
    async note(requestId, atMs, event, detail): Promise<void> {
      await sql.query(note, [requestId, atMs, event, detailText(detail)]);
    },
    async noteAll(atMs, event, details): Promise<void> {
      await sql.query(noteAll, [[...details.keys()], [...details.values()].map(detailText), atMs, event]);
    },
    async measured(originChainId, destinationChainId, tookMs): Promise<void> {
      await sql.query(measured, [originChainId, destinationChainId, tookMs]);
    },
    async prune(quotes, beforeMs, limit) {
      const [row] = await sql.query<{ deleted: number; seen: number }>(prunings[quotes], [beforeMs, limit]);
      return row ?? { deleted: 0, seen: 0 };
    },
    async lockWaiting(requestId): Promise<RequestRecord | undefined> {
      const [row] = await sql.query<RequestRow>(lockWaiting, [requestId]);
      return row && requestOf(row);
    },
    async lockOverdue({ chainId, deadlineBeforeMs }, limit, looked): Promise<OverdueRequest[]> {
      const rows = await sql.query<StateRow & { request_id: string; has_reserved_fees: boolean }>(
        lockOverdue,
        [chainId, deadlineBeforeMs, limit, looked],
      );
      return rows.map((row) => ({
        requestId: row.request_id as RequestId,
        state: stateOf(row),
        hasReservedFees: row.has_reserved_fees,
      }));
    },
  };
}

function detailText(detail: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(detail, (_key, value: unknown) =>
    typeof value === "bigint" ? value.toString() : value,
  );
}
