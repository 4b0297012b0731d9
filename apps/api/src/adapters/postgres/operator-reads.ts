import { statement } from "./pool.ts";
import type { Sql } from "./pool.ts";

const stranded = statement(
  "operator_stranded",
  `select id, chain_id, tx_hash, currency, amount, depositor, sender, order_id, request_id, disposition, reason,
     refund_state, refund_fail_reason, canonical, seen_at_ms
   from deposits where disposition = 'unattributed' or refund_state = 'impossible' order by id`,
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
   order by 1`,
);
const lanes = statement(
  "operator_lanes",
  `select l.chain_id, l.sender, l.next_nonce, count(s.id) filter (where s.state = 'open') as open,
     min(s.nonce) filter (where s.state = 'open') as first_open_nonce, min(s.created_at_ms) filter (where s.state = 'open') as oldest_open_ms,
     count(s.id) filter (where s.state = 'mined') as mined_not_final, count(s.id) filter (where s.unexplained_since is not null) as unexplained
   from lanes l left join slots s on s.chain_id = l.chain_id and s.sender = l.sender and s.state in ('open', 'mined')
   group by 1, 2, 3 order by 1`,
);

/** Money in the depositories that nobody could place, or that cannot be sent back by itself. */
export function strandedFunds(sql: Sql): Promise<object[]> {
  return sql.query(stranded, []);
}

/** The story of one request: observations, decisions, signed transactions, in order of time. */
export async function traceOf(sql: Sql, requestId: string): Promise<object[]> {
  const rows = await sql.query<{ at_ms: number; about: string; event: string; detail: string }>(trace, [
    requestId,
  ]);
  return rows.map(({ at_ms: atMs, about, event, detail }) => ({
    at: new Date(atMs).toISOString(),
    about,
    event,
    ...(JSON.parse(detail) as object),
  }));
}

/** How the lanes stand. */
export function laneReport(sql: Sql): Promise<object[]> {
  return sql.query(lanes, []);
}
