import pg from "pg";

const CHUNK = 50_000;
const DAY_MS = 86_400_000;

/**
 * The state of request `i` of the generator: of twenty quotes, twelve expired unpaid, five were filled, one
 * was refunded, and two are still waiting.
 */
const STATE =
  "(array['quoted','filled','filled','expired','refunded','expired','filled','expired','expired','filled','quoted','expired','expired','filled','expired','expired','expired','expired','expired','expired'])[i % 20 + 1]";
const hash = (salt: string): string => `'0x' || md5('${salt}' || i) || md5(i || '${salt}')`;

/**
 * Requests as a busy instance would keep them: random ids, the terms of real quotes, all states that need
 * no work, and deposit and payment of the paid ones. $1 to $2: the range; $3: now, in ms; $4, $5:
 * the terms of quotes and their requestId/orderId, which are replaced.
 */
const requests = `
  insert into requests (request_id, order_id, kind, state, deposit_id, fail_reason, final, origin_chain_id, destination_chain_id,
    created_at_ms, updated_at_ms, fill_deadline_ms, in_tx_hashes, tx_hashes, refund_tx_hashes, terms)
  select stored.request_id, stored.order_id, template.kind, state,
    case when paid then 1000000000 + i end,
    case state when 'expired' then 'TTL_EXPIRED' when 'refunded' then 'SLIPPAGE' end,
    state <> 'quoted', template.origin_chain_id, template.destination_chain_id,
    created_at_ms, created_at_ms + 3000, created_at_ms + $4::bigint,
    case when paid then array[${hash("in")}] else '{}' end,
    case state when 'filled' then array[${hash("out")}] else '{}' end,
    case state when 'refunded' then array[${hash("back")}] else '{}' end,
    replace(replace(template.terms, template.request_id, stored.request_id), template.order_id, stored.order_id)
  from (
    select i, ${hash("request")} as request_id, ${hash("order")} as order_id, ${STATE} as state,
      ${STATE} in ('filled', 'refunded') as paid,
      -- Waiting requests are new: the worker would expire old ones during the measurement.
      $3::bigint - case when ${STATE} = 'quoted' then 0 else 2 * $4::bigint + i % 1000 * 1000 end as created_at_ms,
      i % (select count(*) from bench_templates) as place
    from generate_series($1::bigint, $2::bigint) i) stored
  join bench_templates template using (place)`;

const deposits = `
  insert into deposits (chain_id, tx_hash, ordinal, block_number, block_hash, canonical, confirm_at_block, depositor, sender,
    currency, amount, value_usd, order_id, request_id, disposition, reason, refund_state, seen_at_ms)
  select origin_chain_id, in_tx_hashes[1], 0, 1, request_id, true, 1, bench_address, bench_address, bench_address, 1, 1, order_id,
    request_id, case state when 'filled' then 'accepted' else 'refund' end, fail_reason,
    case state when 'filled' then 'none' else 'final' end, created_at_ms
  from requests, lateral (select '0x' || substr(request_id, 3, 40) as bench_address) address
  where request_id in (select ${hash("request")} from generate_series($1::bigint, $2::bigint) i)
    and state in ('filled', 'refunded')`;

const slots = `
  insert into slots (chain_id, sender, nonce, leg_kind, leg_id, request_id, call_to, call_data, call_value, gas_limit,
    max_fee_per_gas, max_priority_fee_per_gas, outflow_currency, outflow_amount, state, cancel_after_ms, mined_attempt,
    mined_block_number, mined_block_hash, mined_status, created_at_ms)
  select destination_chain_id, '0x' || repeat('be', 20), deposit_id, 'fill', request_id, request_id, '0x' || repeat('ca', 20),
    '0x' || repeat('ab', 200), 0, 200000, 2000000000, 100000000, '0x' || repeat('cc', 20), 1, 'final', 0, 0, 1, tx_hashes[1],
    'success', created_at_ms
  from requests
  where request_id in (select ${hash("request")} from generate_series($1::bigint, $2::bigint) i) and state = 'filled'`;

/**
 * Adds requests numbered `from` to `from + count - 1` directly to the tables, then analyzes the tables and
 * writes them to disk.
 */
export async function storeRequests(
  databaseUrl: string,
  { from, count }: { readonly from: number; readonly count: number },
  signal: AbortSignal,
): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query("set synchronous_commit = off");
    await client.query(`
      create temporary table bench_templates as
      select row_number() over () - 1 as place, request_id, order_id, kind, origin_chain_id, destination_chain_id, terms
      from (select * from requests where state = 'quoted' order by created_at_ms limit 100) fresh`);
    for (let first = from; first < from + count; first += CHUNK) {
      signal.throwIfAborted();
      const range = [first, Math.min(first + CHUNK, from + count) - 1];
      await client.query("begin");
      await client.query(requests, [...range, Date.now(), DAY_MS]);
      await client.query(deposits, range);
      await client.query(slots, range);
      await client.query("commit");
    }
    // Otherwise the server would do both by itself during the measurement.
    await client.query("vacuum (analyze) requests, deposits, slots");
    await client.query("checkpoint").catch((error: unknown) => {
      if (!(error instanceof pg.DatabaseError && error.code === "42501")) throw error;
    });
  } finally {
    await client.end();
  }
}

/** Distinct ids of `count` requests among those numbered 0 to `stored - 1`, spread over all of them. */
export async function someRequestIds(databaseUrl: string, stored: number, count: number): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ request_id: string }>(
      `select request_id from (
         select distinct on (i) i, ${hash("request")} as request_id
         from (select k * $1::bigint / $2::bigint as i from generate_series(0, $2::bigint - 1) k) numbers) chosen
       order by md5(request_id)`,
      [stored, Math.min(count, stored)],
    );
    return rows.map((row) => row.request_id);
  } finally {
    await client.end();
  }
}

/** The current number of rows in the requests table. */
export async function countRequests(databaseUrl: string): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ count: string }>("select count(*) from requests");
    return Number(rows[0]?.count);
  } finally {
    await client.end();
  }
}
