import { statement } from "../../db/pool.postgres.ts";
import type { Sql } from "../../db/pool.postgres.ts";

const unswept = statement(
  "operator_addresses_unswept",
  `select case when f.held_reason is null then 'deciding' else 'held' end as state, f.held_reason as reason, f.address, f.chain_id as "chainId",
     f.currency, f.amount::text as amount, to_char(to_timestamp(f.seen_at_ms / 1000.0) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since,
     a.request_id as "requestId", a.recovery, a.refund_to as "refundTo"
   from deposit_address_funds f join deposit_addresses a using (address) order by f.held_reason is null, f.seen_at_ms limit 1000`,
);
const sweeping = statement(
  "operator_addresses_sweeping",
  `select s.state, s.address, s.chain_id as "chainId", s.currency, (s.amount + s.excess)::text as amount,
     to_char(to_timestamp(s.created_at_ms / 1000.0) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since, s.request_id as "requestId"
   from deposit_sweeps s where s.state in ('planned', 'sent', 'mined') order by s.id limit 1000`,
);

/** Reports funds at deposit addresses and why they are there, then the sweeps in progress. */
export async function addressReport(sql: Sql): Promise<object[]> {
  return [...(await sql.query<object>(unswept, [])), ...(await sql.query<object>(sweeping, []))];
}
