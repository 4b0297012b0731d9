import { publicStatus, requestStates } from "@causeway/domain";
import type { RequestId, StateName } from "@causeway/domain";
import { sql as text, type SQL } from "drizzle-orm";
import type { RequestSave } from "../db/unit-of-work.port.ts";
import { storeAnnouncements } from "../db/announcements.postgres.ts";
import {
  defineSql,
  nameOf,
  namesOf,
  recordset,
  rowsJson,
  untilWritten,
  defineSqlWrite,
  type GivenRow,
  type Params,
} from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { sentTogether } from "../db/sent-together.ts";
import { apiKeys } from "../callers/callers.tables.ts";
import { executions } from "../payments/executions.tables.ts";
import { webhookDeliveries, webhookEndpoints } from "../push/webhooks.tables.ts";
import {
  listRemembered,
  listRequests,
  toNewlyListed,
  type NewlyListed,
  selectUnlisted,
  UNLISTED,
  updateListed,
  updateTransactions,
} from "./history/history-writes.postgres.ts";
import type { NameMemory } from "./history/name-memory.ts";
import { requests, statusEvents } from "./requests.tables.ts";

/** Channel for commits that changed a client-visible status: `<request id> <sequence> <key id or empty>`. */
export const STATUS_CHANNEL = "causeway_status";
/** Channel for commits with something to deliver to webhooks. */
export const WEBHOOK_CHANNEL = "causeway_webhooks";

/** The columns that a save without hashes writes. */
const SAVED_STATE = {
  requestId: requests.requestId,
  state: requests.state,
  failReason: requests.failReason,
  refundFailReason: requests.refundFailReason,
  final: requests.final,
  depositId: requests.depositId,
  front: requests.front,
};
/** The columns that a save writes. Missing hashes stay unchanged. */
const SAVED = {
  ...SAVED_STATE,
  inTxHashes: requests.inTxHashes,
  txHashes: requests.txHashes,
  refundTxHashes: requests.refundTxHashes,
};

type Hashes = "inTxHashes" | "txHashes" | "refundTxHashes";

/** The client-visible status of a state, apart from funds at deposit addresses. */
function statusOf(state: SQL): SQL {
  const cases = requestStates.map((name) => text.raw(`when '${name}' then '${publicStatus({ name })}'`));
  return text`case ${state} ${text.join(cases, text` `)} end`;
}

/** Whether clients see other hashes. */
const areHashesChanged = text`
  (coalesce(input.in_tx_hashes <> ${requests.inTxHashes}, false) or coalesce(input.tx_hashes <> ${requests.txHashes}, false)
  or coalesce(input.refund_tx_hashes <> ${requests.refundTxHashes}, false))`;

/** Whether clients see a new status, apart from hashes. */
const isStateChanged = text`
  ${statusOf(text`${requests.state}`)} <> ${statusOf(text`input.state`)} or ${requests.failReason} is distinct from input.fail_reason
  or ${requests.refundFailReason} is distinct from input.refund_fail_reason`;

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

interface SaveParams extends Record<string, unknown> {
  readonly requestIds: readonly RequestId[];
  readonly rows: string;
  readonly atMs: number;
}

/**
 * Saves states and, in the same statement, the client-visible statuses that changed. Returns the requests
 * that enter history with this change. The sequence counts under the lock of the request, so it follows the
 * order of commits.
 * @param hasHashes false: omits the parts for hashes, because each part costs time even if it changes nothing
 */
const defineSave = (name: string, hasHashes: boolean) => {
  const ifHashes = (withHashes: SQL, withoutHashes: SQL): SQL => (hasHashes ? withHashes : withoutHashes);
  return defineSql(
    name,
    UNLISTED,
    (p: Params<SaveParams>) => text`
    with input as materialized (select * from ${recordset(p.rows, hasHashes ? SAVED : SAVED_STATE)}),
    before as materialized (
      select input.*, ${requests.statusSeq}, ${isStateChanged}${ifHashes(text` or ${areHashesChanged}`, text``)} as status_changed,
        ${ifHashes(text`${areHashesChanged} as hashes_changed,`, text``)} ${requests.final} <> input.final as final_changed
      from ${requests} join input on input.request_id = ${requests.requestId}
      -- The planner knows how few ids an array has, and uses the index however small the table was.
      where ${requests.requestId} = any(${p.requestIds}::text[])),
    saved as (
      update ${requests} set ${nameOf(requests.state)} = b.state, ${nameOf(requests.failReason)} = b.fail_reason,
        ${nameOf(requests.refundFailReason)} = b.refund_fail_reason, ${nameOf(requests.final)} = b.final,
        ${ifHashes(
          text`${nameOf(requests.inTxHashes)} = coalesce(b.in_tx_hashes, ${requests.inTxHashes}),
        ${nameOf(requests.txHashes)} = coalesce(b.tx_hashes, ${requests.txHashes}),
        ${nameOf(requests.refundTxHashes)} = coalesce(b.refund_tx_hashes, ${requests.refundTxHashes}),`,
          text``,
        )}
        ${nameOf(requests.updatedAtMs)} = greatest(${requests.updatedAtMs}, ${p.atMs}),
        ${nameOf(requests.depositId)} = b.deposit_id, ${nameOf(requests.front)} = b.front,
        ${nameOf(requests.stateSinceMs)} = case when ${requests.state} = b.state then ${requests.stateSinceMs}
          else greatest(${requests.updatedAtMs}, ${p.atMs}) end,
        ${nameOf(requests.statusSeq)} = ${requests.statusSeq} + (b.status_changed or b.final_changed)::integer
      from before b
      where ${requests.requestId} = b.request_id and ${requests.requestId} = any(${p.requestIds}::text[])
      returning ${requests}.*, b.status_seq as seq_before, b.status_changed${ifHashes(text`, b.hashes_changed`, text``)}),
    event as (
      ${insertStatusEvents(text`saved as ${requests} where ${requests.statusSeq} > ${requests}.seq_before`, {
        atMs: text`${requests.updatedAtMs}`,
        onlyFinal: text`not ${requests}.status_changed`,
      })}),
    delivered as (
      ${deliveriesOfEvent(p.atMs)}),
    announced as (
      ${storeAnnouncements(text`
      select ${text.raw(`'${STATUS_CHANNEL}'`)}, concat(request_id, ' ', seq, ' ', key_id) from event
      union all select ${text.raw(`'${WEBHOOK_CHANNEL}'`)}, '' where exists (select from delivered)`)}),
    ${updateListed(text`saved`)}${ifHashes(
      text`,
    moved as (select * from saved where hashes_changed),
    ${updateTransactions(text`moved`)}`,
      text``,
    )}
    ${selectUnlisted(text`saved`)}`,
    { announces: true },
  );
};
const saveHashes = defineSave("request_save", true);
const saveStates = defineSave("request_save_state", false);
/** Saves states whose change no client sees. */
const saveInternal = defineSqlWrite(
  "request_save_internal",
  (p: Params<{ requestIds: readonly RequestId[]; states: readonly StateName[]; atMs: number }>) => text`
    update ${requests} set ${nameOf(requests.state)} = input.state,
      ${nameOf(requests.updatedAtMs)} = greatest(${requests.updatedAtMs}, ${p.atMs}),
      ${nameOf(requests.stateSinceMs)} = case when ${requests.state} = input.state then ${requests.stateSinceMs}
        else greatest(${requests.updatedAtMs}, ${p.atMs}) end
    from unnest(${p.requestIds}::text[], ${p.states}::text[]) as input (request_id, state)
    where ${requests.requestId} = input.request_id and ${requests.requestId} = any(${p.requestIds}::text[])`,
);

/**
 * Saves locked requests, each at most once, and announces the changes to followers. In a transaction it waits
 * like {@link defineWrite}.
 * @param memory of this process, for requests that enter history. Absent: names are read from the database
 */
export async function saveRequests(
  sql: Sql,
  saves: readonly RequestSave[],
  atMs: number,
  memory?: NameMemory,
): Promise<void> {
  const internal = saves.filter(isInternalOnly);
  const visible = saves.filter((save) => !isInternalOnly(save));
  await sentTogether([
    ...(internal.length > 0 ? [saveStateNames(sql, internal, atMs)] : []),
    ...(visible.length > 0 ? [untilWritten(sql, saveAndList(sql, visible, atMs, memory))] : []),
  ]);
}

/** A change of hashes may be visible. */
function isInternalOnly({ isInternal, inTxHashes, txHashes, refundTxHashes }: RequestSave): boolean {
  return isInternal === true && (inTxHashes ?? txHashes ?? refundTxHashes) === undefined;
}

async function saveStateNames(sql: Sql, saves: readonly RequestSave[], atMs: number): Promise<void> {
  await saveInternal(sql, {
    requestIds: saves.map(({ requestId }) => requestId),
    states: saves.map(({ state }) => state.name),
    atMs,
  });
}

async function saveAndList(
  { query, db }: Sql,
  saves: readonly RequestSave[],
  atMs: number,
  memory: NameMemory | undefined,
): Promise<void> {
  // Waits for each answer, because the transaction waits for this function as a whole.
  const sql: Sql = { query, db };
  const hasHashes = saves.some(
    ({ inTxHashes, txHashes, refundTxHashes }) => (inTxHashes ?? txHashes ?? refundTxHashes) !== undefined,
  );
  const saved = (hasHashes ? saveHashes : saveStates)(sql, {
    requestIds: saves.map(({ requestId }) => requestId),
    rows: hasHashes
      ? rowsJson<typeof SAVED, Hashes>(SAVED, saves.map(savedRow))
      : rowsJson(SAVED_STATE, saves.map(savedState)),
    atMs,
  });
  const entering = saves.flatMap(newlyListedOf);
  const listing = listRemembered(sql, entering, memory);
  const [unlisted] = await sentTogether([saved, listing ?? Promise.resolve()]);
  const listedIds = new Set(listing && entering.map(({ terms }) => terms.requestId));
  const remaining = unlisted.map(toNewlyListed).filter(({ terms }) => !listedIds.has(terms.requestId));
  await listRequests(sql, remaining, memory);
}

function newlyListedOf({ enters, state }: RequestSave): NewlyListed[] {
  return enters === undefined
    ? []
    : [{ terms: enters, state: state.name, isFastFill: state.front !== "none" }];
}

function savedRow(save: RequestSave): GivenRow<typeof SAVED, Hashes> {
  const { inTxHashes = null, txHashes = null, refundTxHashes = null } = save;
  return { ...savedState(save), inTxHashes, txHashes, refundTxHashes };
}

function savedState({ requestId, state }: RequestSave): GivenRow<typeof SAVED_STATE> {
  const { name, failReason = null, refundFailReason = null, final, depositId, front } = state;
  return {
    requestId,
    state: name,
    failReason,
    refundFailReason,
    final,
    depositId: depositId === undefined ? null : Number(depositId),
    front,
  };
}
