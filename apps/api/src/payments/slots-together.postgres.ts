import type { Address } from "@causeway/domain";
import { sql as text } from "drizzle-orm";
import type { Attempt, Slot, SlotPlan } from "../db/records.port.ts";
import {
  columnsOf,
  defineSql,
  nameOf,
  namesOf,
  recordset,
  rowsJson,
  type Params,
  defineSqlWrite,
} from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { attempts, lanes, slots } from "./payments.tables.ts";
import { SLOT, slotOf } from "./slot-rows.postgres.ts";

const PLANNED = {
  nonce: slots.nonce,
  legKind: slots.legKind,
  legId: slots.legId,
  requestId: slots.requestId,
  callTo: slots.callTo,
  callData: slots.callData,
  callValue: slots.callValue,
  gasLimit: slots.gasLimit,
  maxFeePerGas: slots.maxFeePerGas,
  maxPriorityFeePerGas: slots.maxPriorityFeePerGas,
  outflowCurrency: slots.outflowCurrency,
  outflowAmount: slots.outflowAmount,
  deliveredAmount: slots.deliveredAmount,
  cancelAfterMs: slots.cancelAfterMs,
  callAuthorizations: slots.callAuthorizations,
};
interface Planned extends Record<string, unknown> {
  readonly planned: string;
  readonly kind: string;
  readonly legIds: readonly string[];
  readonly chainId: number;
  readonly sender: Address;
  readonly atMs: number;
}
// Reserves nonces for the legs without a live slot. The `nonce` passed in is only the plan's position in the
// list.
const insertSlots = defineSql("slots_insert", SLOT, (p: Params<Planned>) => {
  const { chainId, sender, state, createdAtMs, settlementNoted, nonce, legKind, legId: id } = slots;
  const otherColumns = Object.values(PLANNED).filter((column) => column !== nonce);
  return text`
    with free as materialized (
      select given.*, row_number() over (order by given.nonce) as place from ${recordset(p.planned, PLANNED)}
      where given.leg_id not in (select ${id} from ${slots}
        where ${legKind} = ${p.kind} and ${id} = any(${p.legIds}::text[]) and ${state} <> 'dead')),
    counted as materialized (select count(*) as slots from free),
    taken as (
      update ${lanes} set ${nameOf(lanes.nextNonce)} = ${lanes.nextNonce} + counted.slots from counted
      where ${lanes.chainId} = ${p.chainId} and ${lanes.sender} = ${p.sender} and counted.slots > 0
      returning ${lanes.nextNonce} - counted.slots as first)
    insert into ${slots} (${namesOf(nonce, ...otherColumns)}, ${namesOf(chainId, sender, createdAtMs, state, settlementNoted)})
    select taken.first + free.place - 1, ${namesOf(...otherColumns)}, ${p.chainId}::bigint, ${p.sender}::text, ${p.atMs}::bigint,
      'open', ${nameOf(legKind)} not in ('fill', 'refund')
    from free cross join taken order by free.place
    returning ${columnsOf(SLOT)}`;
});
interface Restored extends Record<string, unknown> {
  readonly planned: string;
  readonly chainId: number;
  readonly sender: Address;
  readonly atMs: number;
}
// Inserts the slot of a payment that the database has lost, unless another slot has its nonce.
const insertLost = defineSql("slot_restore", SLOT, (p: Params<Restored>) => {
  const { chainId, sender, state, createdAtMs, settlementNoted, legKind } = slots;
  const planned = Object.values(PLANNED);
  return text`
    insert into ${slots} (${namesOf(...planned)}, ${namesOf(chainId, sender, createdAtMs, state, settlementNoted)})
    select ${namesOf(...planned)}, ${p.chainId}::bigint, ${p.sender}::text, ${p.atMs}::bigint,
      'open', ${nameOf(legKind)} not in ('fill', 'refund')
    from ${recordset(p.planned, PLANNED)}
    on conflict (chain_id, sender, nonce) do nothing
    returning ${columnsOf(SLOT)}`;
});
const NEW_ATTEMPT = {
  slotId: attempts.slotId,
  n: attempts.n,
  kind: attempts.kind,
  raw: attempts.raw,
  txHash: attempts.txHash,
  maxFeePerGas: attempts.maxFeePerGas,
  maxPriorityFeePerGas: attempts.maxPriorityFeePerGas,
  createdAtMs: attempts.createdAtMs,
};
const insertAttempts = defineSql(
  "attempts_insert",
  { slotId: attempts.slotId },
  ({ signed, isRestored }: Params<{ signed: string; isRestored: boolean }>) => {
    const names = namesOf(...Object.values(NEW_ATTEMPT));
    // Locked: a slot that is ending must not get bytes that could still pay. The slot has the highest fee of
    // its attempts: that much gas is reserved for it.
    return text`
      with payable as materialized (
        select ${slots.id} from ${recordset(signed, NEW_ATTEMPT)} join ${slots} on ${slots.id} = given.slot_id
        where ${slots.state} = 'open' and (${isRestored}::boolean or given.kind = 'noop' or ${slots.cancelReason} is null)
        order by ${slots.id} for update of ${slots}),
      stored as (
        insert into ${attempts} (${names}) select ${names} from ${recordset(signed, NEW_ATTEMPT)}
        where given.slot_id in (select id from payable)
        on conflict do nothing returning ${attempts.slotId} as slot_id, ${attempts.maxFeePerGas} as fee),
      raised as (
        update ${slots} set ${nameOf(slots.maxFeePerGas)} = stored.fee from stored
        where ${slots.id} = stored.slot_id and ${slots.maxFeePerGas} < stored.fee)
      select slot_id from stored`;
  },
);
const setBroadcasts = defineSqlWrite(
  "attempts_broadcast",
  (p: Params<{ slotIds: readonly string[]; ns: readonly number[]; atMs: number }>) => text`
    update ${attempts} set ${nameOf(attempts.broadcastAtMs)} = ${p.atMs},
      ${nameOf(attempts.firstBroadcastAtMs)} = coalesce(${attempts.firstBroadcastAtMs}, ${p.atMs}),
      ${nameOf(attempts.offeredSinceMs)} = coalesce(${attempts.offeredSinceMs}, ${p.atMs})
    from unnest(${p.slotIds}::bigint[], ${p.ns}::integer[]) as b (slot_id, n)
    where ${attempts.slotId} = b.slot_id and ${attempts.n} = b.n`,
);

/**
 * Reserves nonces of one locked lane for plans of one leg kind. A leg with a live slot gets no other nonce.
 * If several plans are for one leg, as when a job runs twice, only the first gets a nonce.
 */
export async function reserveSlots(sql: Sql, plans: readonly SlotPlan[], atMs: number): Promise<Slot[]> {
  const [first] = plans;
  if (first === undefined) return [];
  const { chainId, sender, leg } = first;
  const planByLeg = new Map<string, SlotPlan>();
  for (const plan of plans) {
    const id = plan.leg.id;
    if (!planByLeg.has(id)) planByLeg.set(id, plan);
  }
  const legIds = [...planByLeg.keys()];
  const rows = [...planByLeg.values()].map(plannedRow);
  const planned = rowsJson(PLANNED, rows);
  const stored = await insertSlots(sql, { planned, kind: leg.kind, legIds, chainId, sender, atMs });
  return stored.map((row) => slotOf(row, []));
}

function plannedRow(plan: SlotPlan, nonce: number) {
  return {
    nonce,
    legKind: plan.leg.kind,
    legId: plan.leg.id,
    requestId: plan.leg.requestId ?? null,
    callTo: plan.call.to,
    callData: plan.call.data,
    callValue: plan.call.value,
    gasLimit: Number(plan.gasLimit),
    maxFeePerGas: plan.maxFeePerGas,
    maxPriorityFeePerGas: plan.maxPriorityFeePerGas,
    outflowCurrency: plan.outflow.currency,
    outflowAmount: plan.outflow.amount,
    deliveredAmount: plan.delivers ?? null,
    cancelAfterMs: plan.cancelAfterMs,
    callAuthorizations: plan.call.authorizationList ?? null,
  };
}

/** Stores the slot of a lost payment. @returns undefined if another slot has its nonce */
export async function restoreSlot(
  sql: Sql,
  plan: SlotPlan,
  nonce: number,
  atMs: number,
): Promise<Slot | undefined> {
  const { chainId, sender } = plan;
  const planned = rowsJson(PLANNED, [plannedRow(plan, nonce)]);
  const [row] = await insertLost(sql, { planned, chainId, sender, atMs });
  return row && slotOf(row, []);
}

/**
 * Stores signed attempts of open slots; payments only of slots that are not canceled.
 * @param options.isRestored the attempts were broadcast before the database lost them, so a canceled slot
 * gets them, too
 * @returns the slots whose attempt was stored; others have ended, or another process stored an attempt with
 * the same `n`
 */
export async function insertNewAttempts(
  sql: Sql,
  signed: ReadonlyArray<{ readonly slotId: string; readonly attempt: Attempt }>,
  options: { readonly isRestored: boolean },
): Promise<Set<string>> {
  const rows = signed.map(({ slotId, attempt }) => ({
    slotId: Number(slotId),
    n: attempt.n,
    kind: attempt.kind,
    raw: attempt.raw,
    txHash: attempt.txHash,
    maxFeePerGas: attempt.maxFeePerGas,
    maxPriorityFeePerGas: attempt.maxPriorityFeePerGas,
    createdAtMs: attempt.createdAtMs,
  }));
  const stored = await insertAttempts(sql, { signed: rowsJson(NEW_ATTEMPT, rows), ...options });
  return new Set(stored.map(({ slotId }) => String(slotId)));
}

export async function noteBroadcasts(
  sql: Sql,
  sent: ReadonlyArray<{ readonly slotId: string; readonly n: number }>,
  atMs: number,
): Promise<void> {
  // All processes lock these rows in the same order.
  const ordered = sent.toSorted((a, b) => Number(a.slotId) - Number(b.slotId));
  const [slotIds, ns] = [ordered.map(({ slotId }) => slotId), ordered.map(({ n }) => n)];
  await setBroadcasts(sql, { slotIds, ns, atMs });
}
