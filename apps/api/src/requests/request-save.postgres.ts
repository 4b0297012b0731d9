import { publicStatus, requestStates } from "@causeway/domain";
import type {
  FailReason,
  FrontState,
  RefundFailReason,
  RequestId,
  StateName,
  TxHash,
} from "@causeway/domain";
import { sql as text, type SQL } from "drizzle-orm";
import type { RequestChange } from "../db/unit-of-work.port.ts";
import { storeAnnouncements } from "../db/announcements.postgres.ts";
import { defineSql, nameOf, namesOf, type Params } from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { apiKeys } from "../callers/callers.tables.ts";
import { executions } from "../payments/executions.tables.ts";
import { webhookDeliveries, webhookEndpoints } from "../push/webhooks.tables.ts";
import {
  listRequests,
  newlyListed,
  selectUnlisted,
  UNLISTED,
  updateListed,
  updateTransactions,
} from "./history/history-writes.postgres.ts";
import { requests, statusEvents } from "./requests.tables.ts";

/** Channel for commits that changed a client-visible status: `<request id> <sequence> <key id or empty>`. */
export const STATUS_CHANNEL = "causeway_status";
/** Channel for commits with something to deliver to webhooks. */
export const WEBHOOK_CHANNEL = "causeway_webhooks";

interface Change extends Record<string, unknown> {
  readonly requestIds: readonly RequestId[];
  readonly state: StateName;
  readonly failReason: FailReason | null;
  readonly refundFailReason: RefundFailReason | null;
  readonly final: boolean;
  /** Null keeps the hashes. */
  readonly inTxHashes: readonly TxHash[] | null;
  readonly txHashes: readonly TxHash[] | null;
  readonly refundTxHashes: readonly TxHash[] | null;
  readonly atMs: number;
  readonly depositId: string | null;
  readonly front: FrontState;
  /** All states with the same public status as the new one. */
  readonly statesOfSameStatus: readonly StateName[];
}

const areHashesChanged = (p: Params<Change>): SQL => text`
  (coalesce(${p.inTxHashes} <> ${requests.inTxHashes}, false) or coalesce(${p.txHashes} <> ${requests.txHashes}, false)
  or coalesce(${p.refundTxHashes} <> ${requests.refundTxHashes}, false))`;

/** Whether clients see a new status. */
const isStatusChanged = (p: Params<Change>): SQL => text`
  not ${requests.state} = any(${p.statesOfSameStatus}::text[]) or ${requests.failReason} is distinct from ${p.failReason}
  or ${requests.refundFailReason} is distinct from ${p.refundFailReason} or ${areHashesChanged(p)}`;

/** API key of a request: that of its quote, or the one that submitted its call. */
const keyOfRequest = text`coalesce(${requests.keyId},
  (select ${executions.keyId} from ${executions} where ${executions.requestId} = ${requests.requestId}))`;

/**
 * Inserts the status of each row of `from` as an event, and returns the events.
 * @param from rows of requests as just saved, under the name of that table
 */
export function insertStatusEvents(
  from: SQL,
  { atMs, onlyFinal }: Readonly<Record<"atMs" | "onlyFinal", SQL>>,
): SQL {
  const { requestId, seq, keyId, state, depositId, failReason, refundFailReason } = statusEvents;
  const { final, front, inTxHashes, txHashes, refundTxHashes, fundsSeen, fundsHeld } = statusEvents;
  return text`
    insert into ${statusEvents} (${namesOf(
      requestId,
      seq,
      keyId,
      statusEvents.atMs,
      statusEvents.onlyFinal,
      state,
      depositId,
      failReason,
      refundFailReason,
      final,
      front,
      inTxHashes,
      txHashes,
      refundTxHashes,
      fundsSeen,
      fundsHeld,
    )})
    select ${requests.requestId}, ${requests.statusSeq}, ${keyOfRequest}, ${atMs}, ${onlyFinal}, ${requests.state},
      ${requests.depositId}, ${requests.failReason}, ${requests.refundFailReason}, ${requests.final}, ${requests.front},
      ${requests.inTxHashes}, ${requests.txHashes}, ${requests.refundTxHashes}, ${requests.fundsSeen}, ${requests.fundsHeld}
    from ${from}
    returning ${requestId}, ${seq}, ${keyId}, ${statusEvents.atMs}, ${statusEvents.onlyFinal}`;
}

/**
 * Inserts a delivery of each row of `event` for every endpoint of its key, and returns their ids.
 * @param atMs now, ms
 */
export function deliveriesOfEvent(atMs: SQL): SQL {
  const { endpointId, requestId, seq, nextAtMs, createdAtMs, id } = webhookDeliveries;
  return text`insert into ${webhookDeliveries} (${namesOf(endpointId, requestId, seq, nextAtMs, createdAtMs)})
    select ${webhookEndpoints.id}, e.request_id, e.seq, ${atMs}, ${atMs}
    from event e join ${webhookEndpoints} on ${webhookEndpoints.keyId} = e.key_id
      join ${apiKeys} on ${apiKeys.id} = ${webhookEndpoints.keyId}
    where ${webhookEndpoints.deletedAtMs} is null and ${apiKeys.revokedAtMs} is null and not e.only_final returning ${id}`;
}

/**
 * Saves the state and, in the same statement, the client-visible status if it changed. Returns the requests
 * that enter history with this change. The sequence counts under the lock of the request, so it follows the
 * order of commits.
 */
const save = defineSql(
  "request_save",
  UNLISTED,
  (p: Params<Change>) => text`
    with before as materialized (
      select ${requests.requestId}, ${requests.statusSeq}, ${isStatusChanged(p)} as status_changed,
        ${areHashesChanged(p)} as hashes_changed
      from ${requests} where ${requests.requestId} = any(${p.requestIds}::text[])),
    saved as (
      update ${requests} set ${nameOf(requests.state)} = ${p.state}, ${nameOf(requests.failReason)} = ${p.failReason},
        ${nameOf(requests.refundFailReason)} = ${p.refundFailReason}, ${nameOf(requests.final)} = ${p.final},
        ${nameOf(requests.inTxHashes)} = coalesce(${p.inTxHashes}, ${requests.inTxHashes}),
        ${nameOf(requests.txHashes)} = coalesce(${p.txHashes}, ${requests.txHashes}),
        ${nameOf(requests.refundTxHashes)} = coalesce(${p.refundTxHashes}, ${requests.refundTxHashes}),
        ${nameOf(requests.updatedAtMs)} = greatest(${requests.updatedAtMs}, ${p.atMs}),
        ${nameOf(requests.depositId)} = ${p.depositId}, ${nameOf(requests.front)} = ${p.front},
        ${nameOf(requests.stateSinceMs)} = case when ${requests.state} = ${p.state} then ${requests.stateSinceMs}
          else greatest(${requests.updatedAtMs}, ${p.atMs}) end,
        ${nameOf(requests.statusSeq)} = ${requests.statusSeq}
          + case when ${isStatusChanged(p)} or ${requests.final} <> ${p.final} then 1 else 0 end
      where ${requests.requestId} = any(${p.requestIds}::text[]) returning ${requests}.*),
    event as (
      ${insertStatusEvents(
        text`saved as ${requests} join before b on b.request_id = ${requests.requestId} where ${requests.statusSeq} > b.status_seq`,
        { atMs: text`${requests.updatedAtMs}`, onlyFinal: text`not b.status_changed` },
      )}),
    delivered as (
      ${deliveriesOfEvent(p.atMs)}),
    announced as (
      ${storeAnnouncements(text`
      select ${text.raw(`'${STATUS_CHANNEL}'`)}, concat(request_id, ' ', seq, ' ', key_id) from event
      union all select ${text.raw(`'${WEBHOOK_CHANNEL}'`)}, '' where exists (select from delivered)`)}),
    moved as (select saved.* from saved join before b on b.request_id = saved.request_id where b.hashes_changed),
    ${updateListed(text`saved`)}, ${updateTransactions(text`moved`)}
    ${selectUnlisted(text`saved`)}`,
  { announces: true },
);

const statesOfSameStatus = new Map<StateName, readonly StateName[]>(
  requestStates.map((name) => [
    name,
    requestStates.filter((other) => publicStatus({ name: other }) === publicStatus({ name })),
  ]),
);

/** Saves locked requests with the same change, and announces it to followers. */
export async function saveRequests(
  sql: Sql,
  requestIds: readonly RequestId[],
  { state, inTxHashes, txHashes, refundTxHashes }: RequestChange,
  atMs: number,
): Promise<void> {
  const unlisted = await save(sql, {
    requestIds,
    state: state.name,
    failReason: state.failReason ?? null,
    refundFailReason: state.refundFailReason ?? null,
    final: state.final,
    inTxHashes: inTxHashes ?? null,
    txHashes: txHashes ?? null,
    refundTxHashes: refundTxHashes ?? null,
    atMs,
    depositId: state.depositId ?? null,
    front: state.front,
    statesOfSameStatus: statesOfSameStatus.get(state.name) ?? [],
  });
  await listRequests(sql, unlisted.map(newlyListed));
}
