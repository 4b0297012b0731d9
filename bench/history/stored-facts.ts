import type pg from "pg";
import type { StoredFacts } from "./filters.ts";

interface FactRow {
  request_id: string;
  order_id: string;
  user_address: string;
  recipient: string;
  deposit_tx: string;
  fill_tx: string | null;
  refund_tx: string | null;
  in_block: string;
}

/** Identifying values of `count` stored requests, spread over all of them. */
export async function storedFacts(pool: pg.Pool, count: number): Promise<StoredFacts> {
  const { rows } = await pool.query<FactRow>(
    `select h.request_id, r.order_id, h.user_address, h.recipient, r.in_tx_hashes[1] as deposit_tx, r.tx_hashes[1] as fill_tx,
       r.refund_tx_hashes[1] as refund_tx, h.in_block
     from request_history h join requests r using (request_id)
     where h.n in (
       select first_n + (last_n - first_n) * k / $1::bigint
       from (select min(n) as first_n, max(n) as last_n from request_history) ends, generate_series(0, $1::bigint) k)
     -- Requests that are close in time are not queried one after another.
     order by md5(h.request_id)`,
    [count],
  );
  return {
    rows: rows.map((row) => ({
      requestId: row.request_id,
      orderId: row.order_id,
      user: row.user_address,
      recipient: row.recipient,
      depositTx: row.deposit_tx,
      fillTx: row.fill_tx ?? undefined,
      refundTx: row.refund_tx ?? undefined,
      block: Number(row.in_block),
    })),
  };
}
