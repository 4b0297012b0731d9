import type { OpenPayments } from "./open-payments.port.ts";
import { statement } from "../db/pool.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";

interface Row {
  readonly chain_id: number;
  readonly count: number;
  readonly oldest_ms: number;
}

const open = statement(
  "open_payments",
  `select chain_id, count(*) as count, min(created_at_ms) as oldest_ms from slots where state = 'open' group by chain_id, sender`,
);

/** Lanes with payments that are in no block, by chain and sender. */
export async function openPayments(sql: Sql): Promise<readonly OpenPayments[]> {
  const rows = await sql.query<Row>(open, []);
  return rows.map(({ chain_id: chainId, count, oldest_ms: oldestMs }) => ({ chainId, count, oldestMs }));
}
