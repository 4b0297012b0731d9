import { publicStatus, requestStates } from "@causeway/domain";
import type { RequestId, StateName } from "@causeway/domain";
import type { RequestChange } from "../db/unit-of-work.port.ts";
import { announcing } from "../db/announcements.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";

/**
 * Channel on which a commit that changed what clients see of a request is announced: `<request id> <sequence>
 * <key id or nothing>`. A change that is no event, because clients know it by the same words, is announced as
 * `<request id>`: nobody is told of it, but whoever keeps an answer has an old one.
 */
export const STATUS_CHANNEL = "causeway_status";
/** Channel on which a commit with something to deliver to webhooks is announced. */
export const WEBHOOK_CHANNEL = "causeway_webhooks";

/** $12: the states whom clients know by the same word as the new one. */
const WORDS_CHANGED = `not state = any($12::text[]) or fail_reason is distinct from $3 or refund_fail_reason is distinct from $4
  or coalesce($6 <> in_tx_hashes, false) or coalesce($7 <> tx_hashes, false) or coalesce($8 <> refund_tx_hashes, false)`;

/**
 * Inserts a delivery of each row of `event` for every endpoint of its key, and returns their ids. $n of
 * `atMs`: now, ms.
 */
export function webhookDeliveries(atMs: string): string {
  return `insert into webhook_deliveries (endpoint_id, request_id, seq, next_at_ms, created_at_ms)
     select w.id, e.request_id, e.seq, ${atMs}, ${atMs} from event e join webhook_endpoints w on w.key_id = e.key_id join api_keys k on k.id = w.key_id
     where w.deleted_at_ms is null and k.revoked_at_ms is null and not e.only_final returning id`;
}

/** Whether a row of `requests` that is saved tells anything else than before in an answer. */
const ANSWER_CHANGED = `state <> $2 or deposit_id is distinct from $10 or front <> $11 or updated_at_ms < $9`;

/**
 * Saves the state and, in the same statement, writes down what a client sees of it when that is not what it
 * saw before, for whoever wants to be told. The sequence counts under the lock of the request, so its order
 * is that of the commits.
 */
const save = announcing(
  "request_save",
  `with before as materialized (
     select request_id, status_seq, ${WORDS_CHANGED} as words_changed, ${ANSWER_CHANGED} as answer_changed
     from requests where request_id = any($1::text[])),
   saved as (
     update requests set state = $2, fail_reason = $3, refund_fail_reason = $4, final = $5,
       in_tx_hashes = coalesce($6, in_tx_hashes), tx_hashes = coalesce($7, tx_hashes),
       refund_tx_hashes = coalesce($8, refund_tx_hashes), updated_at_ms = greatest(updated_at_ms, $9), deposit_id = $10, front = $11,
       status_seq = status_seq + case when ${WORDS_CHANGED} or final <> $5 then 1 else 0 end
     where request_id = any($1::text[]) returning *),
   event as (
     insert into status_events (request_id, seq, key_id, at_ms, only_final, state, deposit_id, fail_reason, refund_fail_reason, final,
       front, in_tx_hashes, tx_hashes, refund_tx_hashes, funds_seen, funds_held)
     select s.request_id, s.status_seq,
       coalesce(substring(s.terms from '"keyId":"([^"]+)"'), (select e.key_id from executions e where e.request_id = s.request_id)),
       s.updated_at_ms, not b.words_changed, s.state, s.deposit_id, s.fail_reason, s.refund_fail_reason, s.final, s.front,
       s.in_tx_hashes, s.tx_hashes, s.refund_tx_hashes, s.funds_seen, s.funds_held
     from saved s join before b on b.request_id = s.request_id where s.status_seq > b.status_seq
     returning request_id, seq, key_id, at_ms, only_final),
   told as (
     ${webhookDeliveries("$9")})`,
  `select '${STATUS_CHANNEL}', concat(request_id, ' ', seq, ' ', key_id) from event
   union all select '${STATUS_CHANNEL}', s.request_id from saved s join before b on b.request_id = s.request_id
     where s.status_seq = b.status_seq and b.answer_changed
   union all select '${WEBHOOK_CHANNEL}', '' where exists (select from told)`,
);

const sameWord = new Map<StateName, readonly StateName[]>(
  requestStates.map((name) => [
    name,
    requestStates.filter((other) => publicStatus({ name: other }) === publicStatus({ name })),
  ]),
);

/** Saves requests that are locked, all with the same change, and announces it to clients who follow them. */
export async function saveRequests(
  sql: Sql,
  requestIds: readonly RequestId[],
  { state, inTxHashes, txHashes, refundTxHashes }: RequestChange,
  atMs: number,
): Promise<void> {
  await sql.query(save, [
    requestIds,
    state.name,
    state.failReason ?? null,
    state.refundFailReason ?? null,
    state.final,
    inTxHashes ?? null,
    txHashes ?? null,
    refundTxHashes ?? null,
    atMs,
    state.depositId ?? null,
    state.front,
    sameWord.get(state.name),
  ]);
}
