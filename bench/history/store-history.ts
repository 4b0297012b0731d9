import { sql } from "drizzle-orm";
import pg from "pg";
import { runSql } from "../../apps/api/src/db/define-query.postgres.ts";
import { sqlOn } from "../../apps/api/src/db/pool.postgres.ts";
import {
  listRequests,
  toNewlyListed,
  selectUnlisted,
  UNLISTED,
} from "../../apps/api/src/requests/history/history-writes.postgres.ts";
import { withoutIndexes } from "../own-database.ts";

const CHUNK = 20_000;
/** As in the product, whose statements compare every row with every id passed to them. */
const LISTED_AT_ONCE = 250;

/** When the newest generated request was quoted, in ms; each older one was quoted a second earlier. */
export const NEWEST_MS = 1_790_000_000_000;
const SPACING_MS = 1_000;

const hash = (salt: string): string => `'0x' || md5('${salt}' || i) || md5(i || '${salt}')`;
const address = (seed: string): string => `'0x' || substr(md5(${seed}) || md5('a' || ${seed}), 1, 40)`;

/**
 * Names of the currencies in the generated requests: two that most requests use, and one that few do.
 */
const names = `
  insert into currency_names (chain_id, address, asset, symbol, wraps_native)
  select chain_id, '0x' || repeat(byte, 20), asset, symbol, asset = 'eth' and byte <> '00'
  from unnest(array[1, 10, 8453, 42161]) chain_id,
    (values ('00', 'eth', 'ETH'), ('e0', 'eth', 'WETH'), ('c0', 'usdc', 'USDC'), ('4a', 'rare', 'RARE')) known (byte, asset, symbol)
  on conflict do nothing`;

/**
 * Fills `stored` with paid requests as a busy instance would keep them, numbered $1 to $2 of $3: one user
 * made every twentieth, another the oldest fiftieth, most chains and currencies are common and some rare,
 * one request in forty was refunded, one in two hundred failed, and few have unusual features.
 */
const requests = `
  insert into stored (request_id, order_id, kind, state, deposit_id, fail_reason, refund_fail_reason, final, front, origin_chain_id,
    destination_chain_id, created_at_ms, updated_at_ms, fill_deadline_ms, in_tx_hashes, tx_hashes, refund_tx_hashes, terms)
  select request_id, order_id, kind, state, 1000000000 + i,
    case when state in ('refunded', 'failed') then case when i % 4000 = 0 then 'SOLVER_BALANCE_TOO_LOW' else 'SLIPPAGE' end end,
    case when state = 'failed' then 'AMOUNT_TOO_LOW_TO_REFUND' end,
    true, case when i % 300 = 7 then 'covered' else 'none' end, origin, destination, created, created + 4000 + i % 60 * 1000,
    created + 3600000,
    array[${hash("in")}], case state when 'filled' then array[${hash("out")}] else '{}' end,
    case state when 'refunded' then array[${hash("back")}] else '{}' end,
    '{"requestId":"' || request_id || '","orderId":"' || order_id || '","kind":"' || kind || '","tradeType":"EXACT_INPUT","user":"' || user_address
      || '","recipient":"' || recipient || '","refundTo":"' || user_address || '","origin":{"chainId":' || origin || ',"currency":"' || paid
      || '","amount":{"$n":"1000000"}},"destination":{"chainId":' || destination || ',"currency":"' || got
      || '","expectedAmount":{"$n":"990000"},"minimumAmount":{"$n":"980000"}},"inputUsd":{"$n":"' || (i::bigint * 7919 % 1000003) || '000000000000000"}'
      || ',"explicitDeposit":true,"createdAtMs":' || created || ',"firmUntilMs":' || created + 30000 || ',"fillDeadlineMs":' || created + 3600000
      || ',"forceRefund":false'
      || case when i % 1000 = 3 then ',"input":{"currency":"0x' || repeat('5a', 20) || '","amount":{"$n":"77"}}' else '' end
      || case when i % 10 = 1 then ',"keyId":"key-' || i % 7 || '","referrer":"app-' || i % 3 || '"' else '' end
      || ',"appFeesUsd":{"$n":"' || case when i % 50 = 9 then i % 977 || '0000000000000000' else '0' end || '"}'
      || ',"order":{"version":"v1","solverChainId":"one","solver":"0x' || repeat('be', 20) || '","salt":"' || request_id
      || '","inputs":[],"output":{"chainId":"two","payments":[],"calls":[],"deadline":1,"extraData":"0x"},"fees":[]}}'
  from (
    select i, ${hash("request")} as request_id, ${hash("order")} as order_id, $4::bigint - ($3::bigint - i) * $5::bigint as created,
      case when i % 40 = 4 then 'refunded' when i % 200 = 5 then 'failed' else 'filled' end as state,
      case when i % 5000 = 11 then 'call' when i % 100 = 12 then 'send' else 'bridge' end as kind,
      (array[1, 10, 8453, 10, 8453])[i % 5 + 1] as origin,
      case when i % 997 = 0 then 42161 when i % 100 = 12 or i % 30 = 1 then (array[1, 10, 8453, 10, 8453])[i % 5 + 1] else (array[8453, 1, 10])[i % 3 + 1] end as destination,
      '0x' || repeat(case when i % 20011 = 1 then '4a' when i % 3 = 0 then '00' else 'c0' end, 20) as paid,
      '0x' || repeat(case when i % 10007 = 2 then '4a' when i % 500 = 1 then 'e0' when i % 3 = 0 then '00' else 'c0' end, 20) as got,
      case when i % 20 = 0 then '0x' || repeat('aa', 20) when i <= $3::bigint / 50 then '0x' || repeat('ab', 20) else ${address("(i * 7919 % 200000)::text")} end as user_address,
      case when i % 20 = 0 then '0x' || repeat('aa', 20) when i <= $3::bigint / 50 then '0x' || repeat('ab', 20) else ${address("(i * 104729 % 200000)::text")} end as recipient
    from generate_series($1::bigint, $2::bigint) i) made`;

/** Copies `stored` into the tables, in this order. */
const copies = [
  `insert into requests select * from stored`,
  `insert into deposits (id, chain_id, tx_hash, ordinal, block_number, block_hash, canonical, confirm_at_block, depositor, sender,
     currency, amount, value_usd, order_id, request_id, disposition, reason, refund_state, seen_at_ms)
   overriding system value
   select deposit_id, origin_chain_id, in_tx_hashes[1], 0, (created_at_ms - 1700000000000) / case origin_chain_id when 1 then 12000 else 2000 end,
     request_id, true, 1, '0x' || repeat('dd', 20), '0x' || repeat('dd', 20), '0x' || repeat('c0', 20), 1000000, 1, order_id, request_id,
     case state when 'filled' then 'accepted' else 'refund' end, fail_reason, case state when 'filled' then 'none' else 'final' end,
     created_at_ms + 2000
   from stored`,
  `with paid as (
     insert into slots (chain_id, sender, nonce, leg_kind, leg_id, request_id, call_to, call_data, call_value, gas_limit,
       max_fee_per_gas, max_priority_fee_per_gas, outflow_currency, outflow_amount, delivered_amount, state, cancel_after_ms, mined_attempt,
       mined_block_number, mined_block_hash, mined_status, mined_at_ms, gas_used, effective_gas_price, created_at_ms, settlement_noted)
     select destination_chain_id, '0x' || repeat('be', 20), deposit_id, 'fill', request_id, request_id, '0x' || repeat('ca', 20),
       '0x' || repeat('ab', 200), 0, 200000, 2000000000, 100000000, '0x' || repeat('c0', 20), 985000, 985000, 'final', 0, 0, 1, tx_hashes[1],
       'success', updated_at_ms, 60000, 1000000000, created_at_ms + 3000, true
     from stored where state = 'filled'
     returning id, created_at_ms, mined_block_hash as tx_hash)
   insert into attempts (slot_id, n, kind, raw, tx_hash, max_fee_per_gas, max_priority_fee_per_gas, created_at_ms, broadcast_at_ms, first_broadcast_at_ms)
   select id, 0, 'pay', '0x' || repeat('ab', 300), tx_hash, 2000000000, 100000000, created_at_ms, created_at_ms, created_at_ms from paid`,
  `insert into request_events (request_id, at_ms, event, detail)
   select request_id, created_at_ms + at, event, '{"from":"a","to":"b"}'
   from stored, (values (2000, 'depositSeen'), (2100, 'depositConfirmed'), (3000, 'fillPlanned'), (3100, 'fillBroadcast')) happened (at, event)
   union all
   select request_id, updated_at_ms, 'fillMined', '{"from":"submitted","to":"filled"}' from stored where state = 'filled'`,
];

const LISTED =
  "request_id, created_at_ms, updated_at_ms, status, fail_reason, refund_fail_reason, request_type, user_address, recipient, origin_chain_id, destination_chain_id, currency_in, currency_out, symbol_in, symbol_out, amount_usd, app_fees_usd, features, key_id, referrer, in_block, in_seen_at_ms, fill_ms";
/** Lists the requests in `stored` as the service would, in a tenth of its time. */
const listed = `
  select request_id, created_at_ms, updated_at_ms, case state when 'filled' then 'success' when 'refunded' then 'refund' else 'failure' end as status,
    fail_reason, refund_fail_reason,
    case when kind = 'call' then 'Call' when kind = 'send' then 'Send'
      when origin_chain_id <> destination_chain_id then case when paid.asset = got.asset then 'Bridge' else 'Crosschain Swap' end
      when paid.asset = got.asset and got.wraps_native then 'Wrap' when paid.asset = got.asset and paid.wraps_native then 'Unwrap'
      else 'Same-chain Swap' end as request_type,
    t->>'user' as user_address, t->>'recipient' as recipient, origin_chain_id, destination_chain_id,
    currency_in, currency_out, lower(paid.symbol) as symbol_in, lower(got.symbol) as symbol_out,
    ((t#>>'{inputUsd,$n}')::numeric / 1e12)::bigint as amount_usd, ((t#>>'{appFeesUsd,$n}')::numeric / 1e12)::bigint as app_fees_usd,
    case when front <> 'none' then '{fast-fill}'::text[] else '{}' end || case when kind = 'call' then '{execution}'::text[] else '{}' end
      || case when t ? 'input' then '{origin-swap}'::text[] else '{}' end as features,
    t->>'keyId' as key_id, t->>'referrer' as referrer, in_block, in_seen_at_ms,
    case when state = 'filled' and front = 'none' then updated_at_ms - in_seen_at_ms end as fill_ms
  -- Without the offset, the terms would be parsed for each field.
  from (select *, terms::jsonb as t from stored offset 0) parsed
  cross join lateral (select coalesce(t#>>'{input,currency}', t#>>'{origin,currency}') as currency_in, t#>>'{destination,currency}' as currency_out) currencies
  join (select id, block_number as in_block, seen_at_ms as in_seen_at_ms from deposits) d on d.id = deposit_id
  left join currency_names paid on paid.chain_id = origin_chain_id and paid.address = currency_in
  left join currency_names got on got.chain_id = destination_chain_id and got.address = currency_out`;
const list = [
  `insert into request_history (${LISTED}) ${listed}`,
  `insert into request_transactions (tx_hash, request_id, kind)
   select in_tx_hashes[1], request_id, 'deposit' from stored
   union all select tx_hashes[1], request_id, 'fill' from stored where state = 'filled'
   union all select refund_tx_hashes[1], request_id, 'refund' from stored where state = 'refunded'`,
];

/** Their indexes are built at the end: maintaining them row by row would take most of the time. */
const TABLES = [
  "requests",
  "deposits",
  "slots",
  "attempts",
  "request_events",
  "request_history",
  "request_transactions",
];

/**
 * Stores paid requests and analyzes the tables. The first ones are listed by the service's own statements, to
 * check the generator against.
 */
export async function storeHistory(
  databaseUrl: string,
  count: number,
  {
    newestMs = NEWEST_MS,
    spacingMs = SPACING_MS,
    onProgress,
    signal,
  }: {
    /** When the newest one was quoted, and the interval between two. */
    readonly newestMs?: number;
    readonly spacingMs?: number;
    readonly onProgress?: (stored: number) => void;
    readonly signal?: AbortSignal;
  } = {},
): Promise<void> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  const client = await pool.connect();
  try {
    await client.query("set synchronous_commit = off");
    await client.query("set maintenance_work_mem = '512MB'");
    await client.query(names);
    // Plans for tables that are still empty would last for the first thousands of rows.
    await client.query("set plan_cache_mode = force_custom_plan");
    await client.query("create temporary table stored (like requests including defaults)");
    await withoutForeignKeys(client);
    const load = async (): Promise<void> => {
      for (let first = 0; first < count; first += CHUNK) {
        signal?.throwIfAborted();
        const last = Math.min(first + CHUNK, count) - 1;
        await client.query("begin");
        await client.query("truncate stored");
        await client.query(requests, [first, last, count, newestMs, spacingMs]);
        for (const statement of copies) await client.query(statement);
        if (first === 0) await listByService(client);
        else for (const statement of list) await client.query(statement);
        await client.query("commit");
        onProgress?.(last + 1);
      }
    };
    await withoutIndexes(client, TABLES, load, signal);
    await client.query(
      "vacuum (analyze) requests, deposits, slots, attempts, request_events, request_history, request_transactions, currency_names",
    );
  } finally {
    client.release();
    await pool.end();
  }
}

/** Lists the requests in `stored`. @throws if the generator would list them differently */
async function listByService(client: pg.PoolClient): Promise<void> {
  const service = sqlOn(client);
  // The service looks requests up by their ids.
  await client.query("analyze requests, deposits");
  const unlisted = await runSql(service, UNLISTED, selectUnlisted(sql`stored`));
  for (let start = 0; start < unlisted.length; start += LISTED_AT_ONCE)
    await listRequests(service, unlisted.slice(start, start + LISTED_AT_ONCE).map(toNewlyListed));
  const { rows } = await client.query<{ listing: string }>(
    `select row_to_json(expected)::text as listing from (${listed} except select ${LISTED} from request_history) expected limit 3`,
  );
  if (rows.length > 0)
    throw new Error(
      `the service lists these requests differently: ${rows.map(({ listing }) => listing).join("\n")}`,
    );
}

/** Skips the checks of foreign keys in this session, unless the database refuses that. */
async function withoutForeignKeys(client: pg.PoolClient): Promise<void> {
  await client.query("set session_replication_role = replica").catch((error: unknown) => {
    if (!(error instanceof pg.DatabaseError && error.code === "42501")) throw error;
  });
}
