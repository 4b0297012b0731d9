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
  awaitWrite,
  defineSqlWrite,
  type InputRow,
  type Params,
} from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { awaitTogether } from "../db/await-together.ts";
import { apiKeys } from "../callers/callers.tables.ts";
import { executions } from "../payments/executions.tables.ts";
import { webhookDeliveries, webhookEndpoints } from "../push/webhooks.tables.ts";
import {
  listRemembered,
  listRequests,
  IS_LISTED,
  toNewlyListed,
  type NewlyListed,
  selectUnlisted,
  UNLISTED,
  updateHistory,
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
  (coalesce(given.in_tx_hashes <> ${requests.inTxHashes}, false) or coalesce(given.tx_hashes <> ${requests.txHashes}, false)
  or coalesce(given.refund_tx_hashes <> ${requests.refundTxHashes}, false))`;

/** Whether clients see a new status, apart from hashes. */
const isStateChanged = text`
  ${statusOf(text`${requests.state}`)} <> ${statusOf(text`given.state`)} or ${requests.failReason} is distinct from given.fail_reason
  or ${requests.refundFailReason} is distinct from given.refund_fail_reason`;

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

/** Whether the history has an entry of a saved request. */
const isListed = text`${requests}.is_listed`;

/**
 * Saves states and, in the same statement, the client-visible statuses that changed. The sequence counts
 * under the lock of the request, so it follows the order of commits.
 * @param hasHashes false: no hash is given. Each part of a statement costs time even if it changes nothing
 * @param end what follows for the history, from `saved`
 */
const saveStatement = (p: Params<SaveParams>, hasHashes: boolean, end: SQL): SQL => {
  const ifHashes = (withHashes: SQL, withoutHashes: SQL): SQL => (hasHashes ? withHashes : withoutHashes);
  return text`
    with given as materialized (select * from ${recordset(p.rows, hasHashes ? SAVED : SAVED_STATE)}),
    before as materialized (
      select given.*, ${requests.statusSeq}, ${IS_LISTED} as is_listed, ${isStateChanged}${ifHashes(text` or ${areHashesChanged}`, text``)} as status_changed,
        ${ifHashes(text`${areHashesChanged} as hashes_changed,`, text``)} ${requests.final} <> given.final as final_changed
      from ${requests} join given on given.request_id = ${requests.requestId}
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
      returning ${requests}.*, b.status_seq as seq_before, b.is_listed, b.status_changed${ifHashes(text`, b.hashes_changed`, text``)}),
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
      union all select ${text.raw(`'${WEBHOOK_CHANNEL}'`)}, '' where exists (select from delivered)`)})${end}`;
};
const announces = { announces: true };
const updateAndSelect = (hashes: SQL): SQL =>
  text`, ${updateListed(text`saved`)}${hashes} ${selectUnlisted(text`saved`, isListed)}`;
const moved = text`,
    moved as (select * from saved where hashes_changed), ${updateTransactions(text`moved`, isListed)}`;
// These two update the history, and return the requests that it lacks and must list.
const saveHashes = defineSql(
  "request_save",
  UNLISTED,
  (p: Params<SaveParams>) => saveStatement(p, true, updateAndSelect(moved)),
  announces,
);
const saveStates = defineSql(
  "request_save_state",
  UNLISTED,
  (p: Params<SaveParams>) => saveStatement(p, false, updateAndSelect(text``)),
  announces,
);
// Few requests that enter the history have an entry: updating it would cost more than the rest.
const saveEntering = defineSql(
  "request_save_entering",
  { requestId: requests.requestId, isListed: Boolean },
  (p: Params<SaveParams>) =>
    saveStatement(p, true, text` select ${requests.requestId}, ${isListed} from saved as ${requests}`),
  announces,
);
/** Saves states whose change no client sees. */
const saveInternal = defineSqlWrite(
  "request_save_internal",
  (p: Params<{ requestIds: readonly RequestId[]; states: readonly StateName[]; atMs: number }>) => text`
    update ${requests} set ${nameOf(requests.state)} = given.state,
      ${nameOf(requests.updatedAtMs)} = greatest(${requests.updatedAtMs}, ${p.atMs}),
      ${nameOf(requests.stateSinceMs)} = case when ${requests.state} = given.state then ${requests.stateSinceMs}
        else greatest(${requests.updatedAtMs}, ${p.atMs}) end
    from unnest(${p.requestIds}::text[], ${p.states}::text[]) as given (request_id, state)
    where ${requests.requestId} = given.request_id and ${requests.requestId} = any(${p.requestIds}::text[])`,
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
  await awaitTogether([
    ...(internal.length > 0 ? [saveStateNames(sql, internal, atMs)] : []),
    ...(visible.length > 0 ? [awaitWrite(sql, saveAndList(sql, visible, atMs, memory))] : []),
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
  const entering = saves.filter(({ enters }) => enters !== undefined);
  const others = saves.filter(({ enters }) => enters === undefined);
  await awaitTogether([
    ...(entering.length > 0 ? [saveAndEnter(sql, entering, atMs, memory)] : []),
    ...(others.length > 0 ? [saveAndUpdate(sql, others, atMs, memory)] : []),
  ]);
}

async function saveAndEnter(
  sql: Sql,
  saves: readonly RequestSave[],
  atMs: number,
  memory: NameMemory | undefined,
): Promise<void> {
  const entries = saves.flatMap(newlyListedOf);
  const saving = saveEntering(sql, savedWithHashes(saves, atMs));
  const listing = listRemembered(sql, entries, memory);
  const [saved] = await awaitTogether([saving, listing ?? Promise.resolve()]);
  // Listed before a reorg undid its deposit.
  const known = new Set(saved.filter((row) => row.isListed).map(({ requestId }) => requestId));
  if (listing === undefined) {
    const missing = entries.filter(({ terms }) => !known.has(terms.requestId));
    await listRequests(sql, missing, memory);
  }
  if (known.size > 0) await updateHistory(sql, { requestIds: [...known] });
}

async function saveAndUpdate(
  sql: Sql,
  saves: readonly RequestSave[],
  atMs: number,
  memory: NameMemory | undefined,
): Promise<void> {
  const hasHashes = saves.some(
    ({ inTxHashes, txHashes, refundTxHashes }) => (inTxHashes ?? txHashes ?? refundTxHashes) !== undefined,
  );
  const unlisted = hasHashes
    ? await saveHashes(sql, savedWithHashes(saves, atMs))
    : await saveStates(sql, {
        requestIds: saves.map(({ requestId }) => requestId),
        rows: rowsJson(SAVED_STATE, saves.map(savedState)),
        atMs,
      });
  await listRequests(sql, unlisted.map(toNewlyListed), memory);
}

function savedWithHashes(saves: readonly RequestSave[], atMs: number): SaveParams {
  return {
    requestIds: saves.map(({ requestId }) => requestId),
    rows: rowsJson<typeof SAVED, Hashes>(SAVED, saves.map(savedRow)),
    atMs,
  };
}

function newlyListedOf({ enters, state }: RequestSave): NewlyListed[] {
  return enters === undefined
    ? []
    : [{ terms: enters, state: state.name, isFastFill: state.front !== "none" }];
}

function savedRow(save: RequestSave): InputRow<typeof SAVED, Hashes> {
  const { inTxHashes = null, txHashes = null, refundTxHashes = null } = save;
  return { ...savedState(save), inTxHashes, txHashes, refundTxHashes };
}

function savedState({ requestId, state }: RequestSave): InputRow<typeof SAVED_STATE> {
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
