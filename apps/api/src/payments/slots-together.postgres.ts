import { legId } from "../db/leg.port.ts";
import type { Attempt, Slot, SlotPlan } from "../db/records.port.ts";
import { statement } from "../db/pool.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { SLOT_COLUMNS, slotOf } from "../requests/rows.postgres.ts";
import type { SlotRow } from "../requests/rows.postgres.ts";

const liveOfLegs = statement(
  "slots_live_of_legs",
  "select leg_id from slots where leg_kind = $1 and leg_id = any($2::text[]) and state <> 'dead'",
);
const takeNonces = statement(
  "lane_take_nonces",
  `update lanes set next_nonce = next_nonce + $3 where chain_id = $1 and sender = $2 returning next_nonce - $3 as nonce`,
);
const insertSlots = statement(
  "slots_insert",
  `insert into slots (chain_id, sender, nonce, leg_kind, leg_id, request_id, call_to, call_data, call_value, gas_limit,
     max_fee_per_gas, max_priority_fee_per_gas, outflow_currency, outflow_amount, state, cancel_after_ms, created_at_ms,
     call_authorizations, settlement_noted)
   select $2, $3, nonce, leg_kind, leg_id, request_id, call_to, call_data, call_value, gas_limit, max_fee_per_gas,
     max_priority_fee_per_gas, outflow_currency, outflow_amount, 'open', cancel_after_ms, $4, call_authorizations,
     leg_kind not in ('fill', 'refund')
   from json_to_recordset($1::json) as s (nonce bigint, leg_kind text, leg_id text, request_id text, call_to text, call_data text,
     call_value numeric, gas_limit bigint, max_fee_per_gas numeric, max_priority_fee_per_gas numeric, outflow_currency text,
     outflow_amount numeric, cancel_after_ms bigint, call_authorizations text)
   returning ${SLOT_COLUMNS}`,
);
const insertAttempts = statement(
  "attempts_insert",
  `insert into attempts (slot_id, n, kind, raw, tx_hash, max_fee_per_gas, max_priority_fee_per_gas, created_at_ms)
   select slot_id, n, kind, raw, tx_hash, max_fee_per_gas, max_priority_fee_per_gas, created_at_ms
   from json_to_recordset($1::json) as a (slot_id bigint, n integer, kind text, raw text, tx_hash text, max_fee_per_gas numeric,
     max_priority_fee_per_gas numeric, created_at_ms bigint)
   on conflict do nothing returning slot_id`,
);
const setBroadcasts = statement(
  "attempts_broadcast",
  `update attempts a set broadcast_at_ms = $3, first_broadcast_at_ms = coalesce(first_broadcast_at_ms, $3),
     offered_since_ms = coalesce(offered_since_ms, $3)
   from unnest($1::bigint[], $2::integer[]) as b (slot_id, n) where a.slot_id = b.slot_id and a.n = b.n`,
);

/**
 * Plans of one lane and one kind of leg, whose lane is locked: those whose leg has no live nonce get theirs,
 * in order; of several for one leg the first (a job may come twice).
 */
export async function reserveSlots(sql: Sql, plans: readonly SlotPlan[], atMs: number): Promise<Slot[]> {
  const [first] = plans;
  if (first === undefined) return [];
  const { chainId, sender, leg } = first;
  const live = await sql.query<{ leg_id: string }>(liveOfLegs, [
    leg.kind,
    plans.map((plan) => legId(plan.leg)),
  ]);
  const taken = new Set(live.map(({ leg_id }) => leg_id));
  const free = plans.filter((plan) => {
    const id = legId(plan.leg);
    if (taken.has(id)) return false;
    taken.add(id);
    return true;
  });
  if (free.length === 0) return [];
  const [lane] = await sql.query<{ nonce: number }>(takeNonces, [chainId, sender, free.length]);
  if (lane === undefined) throw new Error(`invariant violated: lane not opened on chain ${chainId}`);
  const rows = free.map((plan, at) => ({
    nonce: lane.nonce + at,
    leg_kind: plan.leg.kind,
    leg_id: legId(plan.leg),
    request_id: plan.leg.requestId ?? null,
    call_to: plan.call.to,
    call_data: plan.call.data,
    call_value: plan.call.value,
    gas_limit: plan.gasLimit,
    max_fee_per_gas: plan.maxFeePerGas,
    max_priority_fee_per_gas: plan.maxPriorityFeePerGas,
    outflow_currency: plan.outflow.currency,
    outflow_amount: plan.outflow.amount,
    cancel_after_ms: plan.cancelAfterMs,
    call_authorizations:
      plan.call.authorizationList === undefined ? null : JSON.stringify(plan.call.authorizationList),
  }));
  const stored = await sql.query<SlotRow>(insertSlots, [
    JSON.stringify(rows, plainAmounts),
    chainId,
    sender,
    atMs,
  ]);
  return stored.map((row) => slotOf(row, []));
}

/** The slots whose attempt was stored; of the others somebody else has stored the same number first. */
export async function insertNewAttempts(
  sql: Sql,
  attempts: ReadonlyArray<{ readonly slotId: string; readonly attempt: Attempt }>,
): Promise<Set<string>> {
  const rows = attempts.map(({ slotId, attempt }) => ({
    slot_id: slotId,
    n: attempt.n,
    kind: attempt.kind,
    raw: attempt.raw,
    tx_hash: attempt.txHash,
    max_fee_per_gas: attempt.maxFeePerGas,
    max_priority_fee_per_gas: attempt.maxPriorityFeePerGas,
    created_at_ms: attempt.createdAtMs,
  }));
  const stored = await sql.query<{ slot_id: number }>(insertAttempts, [JSON.stringify(rows, plainAmounts)]);
  return new Set(stored.map(({ slot_id }) => String(slot_id)));
}

export async function noteBroadcasts(
  sql: Sql,
  sent: ReadonlyArray<{ readonly slotId: string; readonly n: number }>,
  atMs: number,
): Promise<void> {
  // Always in the same order, whoever else notes them.
  const ordered = sent.toSorted((a, b) => Number(a.slotId) - Number(b.slotId));
  await sql.query(setBroadcasts, [ordered.map(({ slotId }) => slotId), ordered.map(({ n }) => n), atMs]);
}

function plainAmounts(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}
