import type { DepositId, Hex } from "@causeway/domain";
import { unattributedTopUps } from "../balances/operator-balance-reads.postgres.ts";
import { statement } from "../db/pool.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";

const stranded = statement(
  "operator_stranded",
  // Groups deposits of one depositor and transaction that have no request or are too small to refund: anyone
  // can make hundreds of them for one unit each.
  `select min(id) as id, chain_id, tx_hash, currency, sum(amount) as amount, depositor, sender,
     case when count(*) = 1 or request_id is not null then min(order_id) end as order_id, request_id, disposition, reason,
     refund_state, refund_fail_reason, refund_waits, canonical, min(seen_at_ms) as seen_at_ms, wallet_nonce, mapping_until_ms,
     count(*) as deposits
   from deposits where disposition = 'unattributed' or refund_state = 'impossible' or refund_waits is not null
   group by chain_id, tx_hash, currency, depositor, sender, request_id, disposition, reason, refund_state, refund_fail_reason,
     refund_waits, canonical, wallet_nonce, mapping_until_ms,
     case when (request_id is not null or disposition <> 'unattributed')
       and refund_fail_reason is distinct from 'AMOUNT_TOO_LOW_TO_REFUND' then id end
   order by 1`,
);
const named = statement(
  "operator_deposits_named",
  "select id from deposits where id = $1 or tx_hash = $2 or request_id = $2 order by id limit 100",
);
const trace = statement(
  "operator_trace",
  `select at_ms, 'request' as about, event, detail from request_events where request_id = $1
   union all
   select a.created_at_ms, 'transaction', 'signed ' || a.kind,
     json_build_object('chainId', s.chain_id, 'nonce', s.nonce, 'leg', s.leg_kind, 'attempt', a.n, 'txHash', a.tx_hash,
       'maxFeePerGas', a.max_fee_per_gas::text, 'firstBroadcastAtMs', a.first_broadcast_at_ms, 'slot', s.state,
       'minedBlock', s.mined_block_number, 'gasUsed', s.gas_used::text, 'deadReason', s.dead_reason)::text
   from slots s join attempts a on a.slot_id = s.id where s.request_id = $1
   union all
   select seen_at_ms, 'deposit', disposition,
     json_build_object('chainId', chain_id, 'txHash', tx_hash, 'currency', currency, 'amount', amount::text, 'depositor', depositor,
       'sender', sender, 'block', block_number, 'canonical', canonical, 'reason', reason, 'refund', refund_state)::text
   from deposits where request_id = $1
   union all
   select e.created_at_ms, 'hub', 'execution of the ' || e.kind || ' ' || e.state,
     json_build_object('idempotencyKey', e.idempotency_key, 'settledAtMs', e.settled_at_ms, 'reason', e.reason,
       'txHash', (select a.tx_hash from attempts a where a.slot_id = e.slot_id order by a.n desc limit 1))::text
   from settlements s join hub_executions e on e.idempotency_key in (s.deposit_key, s.payment_key) where s.request_id = $1
   union all
   select (extract(epoch from (m.month || '-01')::timestamp + interval '1 month') * 1000)::bigint - 1, 'archive',
     'events of ' || m.month || ' were archived',
     json_build_object('folders', (select json_agg(folder order by part) from archives where month = m.month and folder is not null))::text
   from (
     select unnest(archived_months) as month from requests where request_id = $1
     -- The archive removes the events of a month at once, and marks its requests afterwards.
     union select month from archives join archive_requests on request_id = $1 and has_events where state = 'exported' and not exists (
       select from request_events where request_id = $1
         and to_char(to_timestamp(at_ms / 1000) at time zone 'utc', 'YYYY-MM') = month)) m
   order by 1`,
);
const settlement = statement(
  "operator_settlement",
  `select s.state as settlement, s.rejected, s.reason, count(*) as payments,
     to_timestamp(min(s.created_at_ms) / 1000) as oldest, min(s.request_id) as example
   from settlements s where s.state <> 'settled' group by 1, 2, 3
   union all
   select 'due', false, 'not processed yet', count(*), to_timestamp(min(created_at_ms) / 1000), min(request_id)
   from slots where state = 'final' and not settlement_noted having count(*) > 0
   order by 5`,
);
const settlementOfRequest = statement(
  "operator_settlement_of",
  `select p.id as payment, p.leg_kind as leg, coalesce(s.state, 'due') as settlement,
     coalesce(s.reason, e.reason) as reason, coalesce(s.rejected, false) as rejected, s.tries, s.next_try_ms,
     s.deposit_key, s.payment_key, e.state as execution
   from slots p left join settlements s on s.slot_id = p.id left join hub_executions e on e.idempotency_key = s.payment_key
   where p.request_id = $1 and p.state = 'final' order by p.id`,
);
const knownRequest = statement("operator_known_request", "select 1 from requests where request_id = $1");
const withdrawals = statement(
  "operator_withdrawals",
  `select withdrawal_address, chain_name, currency, amount, recipient, nonce, coalesce(outcome, 'under way') as state,
     to_timestamp(created_at_ms / 1000) as since
   from hub_withdrawals order by created_at_ms desc limit 100`,
);
const lanes = statement(
  "operator_lanes",
  `select l.chain_id, l.sender, l.next_nonce, count(s.id) filter (where s.state = 'open') as open,
     min(s.nonce) filter (where s.state = 'open') as first_open_nonce, min(s.created_at_ms) filter (where s.state = 'open') as oldest_open_ms,
     count(s.id) filter (where s.state = 'mined') as mined_not_final, count(s.id) filter (where s.unexplained_since is not null) as unexplained
   from lanes l left join slots s on s.chain_id = l.chain_id and s.sender = l.sender and s.state in ('open', 'mined')
   group by 1, 2, 3 order by 1`,
);
// Settlement's lane: transactions that are not final, and executions without a transaction.
const hubLane = statement(
  "operator_hub_lane",
  `select 'hub' as chain_id, t.sender, t.next_nonce, t.open, t.first_open_nonce, t.oldest_open_ms, t.cancel_transactions,
     e.waiting, e.oldest_waiting_ms, e.postponed, e.postponed_since_ms, e.postponed_reason
   from (select count(*) filter (where slot_id is null and set_aside_since_ms is null) as waiting,
       min(created_at_ms) filter (where slot_id is null and set_aside_since_ms is null) as oldest_waiting_ms,
       count(*) filter (where set_aside_since_ms is not null) as postponed,
       min(set_aside_since_ms) as postponed_since_ms,
       max(reason) filter (where set_aside_since_ms is not null) as postponed_reason
     from hub_executions where state = 'attested') e
   left join (select chain_id, sender,
       (select l.next_nonce from lanes l where l.chain_id = slots.chain_id and l.sender = slots.sender) as next_nonce, count(*) filter (where state = 'open') as open,
       min(nonce) filter (where state = 'open') as first_open_nonce,
       min(created_at_ms) filter (where state = 'open') as oldest_open_ms,
       count(*) filter (where state = 'open' and cancel_reason is not null) as cancel_transactions
     from slots where leg_kind = 'hub' and state <> 'dead' group by chain_id, sender) t on true
   where t.sender is not null or e.waiting > 0 or e.postponed > 0 order by t.chain_id, t.sender`,
);

/**
 * Funds in depositories that are unattributed, cannot be refunded automatically or wait for the daily limit,
 * and top-ups that credit no wallet.
 */
export async function strandedFunds(sql: Sql): Promise<object[]> {
  return [...(await sql.query<object>(stranded, [])), ...(await unattributedTopUps(sql))];
}

/** Finds deposits by row id, transaction hash or request id (32 or 64 bytes of lower-case hex). */
export async function depositsNamed(
  sql: Sql,
  by: { readonly id: DepositId } | { readonly hash: Hex },
): Promise<readonly DepositId[]> {
  const values = "id" in by ? [by.id, null] : [null, by.hash];
  return (await sql.query<{ id: number }>(named, values)).map((row) => String(row.id));
}

/** The history of one request: observations, decisions and signed transactions, in time order. */
export async function traceOf(sql: Sql, requestId: string): Promise<object[] | undefined> {
  const rows = await sql.query<{ at_ms: number; about: string; event: string; detail: string }>(trace, [
    requestId,
  ]);
  if (rows.length === 0 && (await sql.query(knownRequest, [requestId])).length === 0) return undefined;
  return rows.map(({ at_ms: atMs, about, event, detail }) => ({
    at: new Date(atMs).toISOString(),
    about,
    event,
    ...(JSON.parse(detail) as object),
  }));
}

/** The state of the lanes: those of payments by chain, then that of the hub. */
export async function laneReport(sql: Sql): Promise<object[]> {
  return [...(await sql.query<object>(lanes, [])), ...(await sql.query<object>(hubLane, []))];
}

/** Pending settlements by state and reason, longest waiting first. */
export function settlementReport(sql: Sql): Promise<object[]> {
  return sql.query(settlement, []);
}

/** Settlement of each final payment of one request; undefined if there is no such request. */
export async function settlementOf(sql: Sql, requestId: string): Promise<object[] | undefined> {
  const rows = await sql.query<object>(settlementOfRequest, [requestId]);
  if (rows.length > 0) return rows;
  const known = await sql.query(knownRequest, [requestId]);
  return known.length > 0 ? rows : undefined;
}

/** Withdrawals from the hub, newest first. */
export function withdrawalReport(sql: Sql): Promise<object[]> {
  return sql.query(withdrawals, []);
}
