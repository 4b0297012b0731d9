import type pg from "pg";
import { withoutIndexes } from "../own-database.ts";

/** Rows per commit. */
const CHUNK = 100_000;
/** Chunks that are generated at the same time. */
const CONNECTIONS = 2;
/** More than this are loaded first and indexed afterwards. */
const MANY = 100_000;
const TABLES = ["requests", "deposit_addresses", "deposit_address_funds"];

/** Unpaid quotes as an instance stores them. */
export interface StoredQuotes {
  readonly chainId: number;
  readonly count: number;
  readonly state: "quoted" | "expired";
  /** Deadline of the first one, in ms; each further one expires 1 ms later. */
  readonly fillDeadlineMs: number;
  /** Issued with a deposit address that received funds: such a request is retained. */
  readonly isKept?: boolean;
  /** Whether pruning has already checked them. */
  readonly isChecked?: boolean;
  /** Bytes of destination calls in its terms. */
  readonly callBytes?: number;
}

/** Stores quotes chunk by chunk, and updates the planner's statistics. */
export async function storeQuotes(pool: pg.Pool, quotes: StoredQuotes): Promise<void> {
  const chunks = Array.from({ length: Math.ceil(quotes.count / CHUNK) }, (_, n) => ({
    from: n * CHUNK,
    to: Math.min((n + 1) * CHUNK, quotes.count) - 1,
  }));
  const store = async (): Promise<void> => {
    const next = chunks.values();
    const connection = async (): Promise<void> => {
      for (const chunk of next) await storeChunk(pool, quotes, chunk);
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  };
  if (quotes.count > MANY) await withoutIndexes(pool, TABLES, store);
  else await store();
  await pool.query(`vacuum analyze ${TABLES.join(", ")}`);
}

async function storeChunk(
  pool: pg.Pool,
  { chainId, state, fillDeadlineMs, isKept = false, isChecked = false, callBytes = 0 }: StoredQuotes,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  await pool.query(
    `with made as materialized (
       select i, '0x' || md5($3::bigint || $4::text || 'id' || i) || md5(i || 'id' || $3::bigint) as id from generate_series($1::bigint, $2::bigint) i),
     addresses as (
       insert into deposit_addresses (address, request_id, order_id, depositor, recovery, strict, question, created_at_ms, active_at_ms)
       select substr(id, 1, 42), id, id, '0x', '0x', false, '{}', 1, 1 from made where $6::boolean returning address),
     funded as (
       insert into deposit_address_funds (address, chain_id, currency, amount, seen_block, seen_at_ms)
       select address, $3::bigint, '0x', 1, 1, 1 from addresses)
     insert into requests (request_id, order_id, kind, state, fail_reason, origin_chain_id, destination_chain_id, created_at_ms, updated_at_ms,
       fill_deadline_ms, deposit_address, kept, terms)
     select id, '0x' || md5('order' || id) || md5(id || 'order'), 'bridge', $4::text, case when $4::text = 'expired' then 'TTL_EXPIRED' end, $3::bigint, 2,
       $5::bigint - 3600000, $5::bigint - 3600000, $5::bigint + i, case when $6::boolean then substr(id, 1, 42) end, $8::boolean,
       '{"requestId":"' || id || '","orderId":"' || id || '","kind":"bridge","filler":"' || repeat(md5(id), 4)
         || (select coalesce(string_agg(md5(id || part), ''), '') from generate_series(1, $7::integer / 16) part) || '"}'
     from made`,
    [from, to, chainId, state, fillDeadlineMs, isKept, callBytes, isChecked],
  );
}
