import type pg from "pg";

const CHUNK = 50_000;

/** Unpaid quotes as an instance stores them. */
export interface StoredQuotes {
  readonly chainId: number;
  readonly count: number;
  readonly state: "quoted" | "expired";
  /** Deadline of the first one, ms; each further one ends a ms later. */
  readonly fillDeadlineMs: number;
  /** Given out with a deposit address that money once came to: such a request is kept. */
  readonly isKept?: boolean;
}

/** Stores them chunk by chunk, and brings the statistics of the planner up to date. */
export async function storeQuotes(pool: pg.Pool, quotes: StoredQuotes): Promise<void> {
  const { chainId, count, state, fillDeadlineMs, isKept = false } = quotes;
  for (let from = 0; from < count; from += CHUNK) {
    const to = Math.min(from + CHUNK, count) - 1;
    await pool.query(
      `insert into requests (request_id, order_id, kind, state, fail_reason, origin_chain_id, destination_chain_id, created_at_ms, updated_at_ms,
         fill_deadline_ms, deposit_address, terms)
       select id, '0x' || md5('order' || id) || md5(id || 'order'), 'bridge', $4::text, case when $4::text = 'expired' then 'TTL_EXPIRED' end, $3::bigint, 2,
         $5::bigint - 3600000, $5::bigint - 3600000, $5::bigint + i, case when $6::boolean then substr(id, 1, 42) end,
         '{"requestId":"' || id || '","orderId":"' || id || '","kind":"bridge","filler":"' || repeat(md5(id), 4) || '"}'
       from (select i, '0x' || md5($3::bigint || $4::text || 'id' || i) || md5(i || 'id' || $3::bigint) as id from generate_series($1::bigint, $2::bigint) i) made`,
      [from, to, chainId, state, fillDeadlineMs, isKept],
    );
    if (isKept)
      await pool.query(
        `with given as (
           insert into deposit_addresses (address, request_id, order_id, depositor, recovery, strict, question, created_at_ms, active_at_ms)
           select deposit_address, request_id, order_id, '0x', '0x', false, '{}', 1, 1 from requests
           where origin_chain_id = $1 and fill_deadline_ms between $2 and $3 and deposit_address is not null
           on conflict do nothing returning address)
         insert into deposit_address_funds (address, chain_id, currency, amount, seen_block, seen_at_ms) select address, $1, '0x', 1, 1, 1 from given`,
        [chainId, fillDeadlineMs + from, fillDeadlineMs + to],
      );
  }
  await pool.query("vacuum analyze requests");
}
