import { statement } from "../db/pool.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";

const balances = statement(
  "operator_balances",
  `select a.wallet, a.chain_id, a.currency,
     coalesce(sum(e.balance_after) filter (where a.account = 'balance'), 0) as balance,
     coalesce(sum(e.balance_after) filter (where a.account = 'pending'), 0) as pending,
     -coalesce(sum(e.balance_after) filter (where a.account = 'owed'), 0) as owed,
     (select trunc(coalesce(sum(h.usd), 0) / 1e18, 6)::text from holds h where h.wallet = a.wallet and h.state = 'active') as held_usd
   from ledger_accounts a cross join lateral (
     select balance_after from ledger_entries e
     where e.wallet = a.wallet and e.account = a.account and e.chain_id = a.chain_id and e.currency = a.currency
     order by seq desc limit 1
   ) e
   where $1::text is null or a.wallet = $1
   group by 1, 2, 3 order by 1, 2, 3`,
);
const house = statement(
  "operator_house",
  `select 'house' as wallet, chain_id, currency,
     -coalesce(sum(amount) filter (where account = 'custody'), 0) as held_on_chain,
     coalesce(sum(amount) filter (where account = 'fees'), 0) as fees,
     coalesce(sum(amount) filter (where account = 'fronted'), 0) as fronted
   from ledger_entries where wallet is null group by 2, 3 order by 2, 3`,
);
const holds = statement(
  "operator_holds",
  `select request_id, wallet, key_id, state, trunc(usd / 1e18, 6)::text as usd, chain_id, currency, amount,
     to_timestamp(placed_at_ms / 1000) as placed, to_timestamp(resolved_at_ms / 1000) as resolved
   from holds where state <> 'released' order by state, placed_at_ms`,
);
const claims = statement(
  "operator_claims",
  `select c.claim_id, c.wallet, c.chain_id, c.currency, c.amount, c.fee_amount, c.recipient, c.state, c.tries, c.tx_hash, c.fail_reason,
     s.nonce, s.state as slot, to_timestamp(c.created_at_ms / 1000) as since
   from claims c left join slots s on s.leg_kind = 'claim' and s.leg_id = c.claim_id and s.state <> 'dead'
   where c.state <> 'offered' order by c.state <> 'paying', c.created_at_ms desc limit 100`,
);
const unattributed = statement(
  "operator_unattributed_top_ups",
  `select 'top-up' as about, id, chain_id, tx_hash, currency, amount, sender, wallet, canonical,
     case when wallet is null then 'the marker does not identify a wallet' else 'the top-up is worth less than the minimum' end as reason,
     seen_at_ms
   from app_top_ups where state = 'unattributed' order by id`,
);

/**
 * Balances, reservations and debts of one or all wallets, in base units; for all wallets also the house
 * accounts.
 */
export async function balanceReport(sql: Sql, wallet?: string): Promise<object[]> {
  const rows = await sql.query<object>(balances, [wallet ?? null]);
  return wallet === undefined ? [...rows, ...(await sql.query<object>(house, []))] : rows;
}

/** Active holds and those that apps had to pay; oldest first. */
export function holdReport(sql: Sql): Promise<object[]> {
  return sql.query(holds, []);
}

/** Open claims, then the newest others. */
export function claimReport(sql: Sql): Promise<object[]> {
  return sql.query(claims, []);
}

/** Transfers meant for an app balance that are not credited to any wallet. */
export function unattributedTopUps(sql: Sql): Promise<object[]> {
  return sql.query(unattributed, []);
}
