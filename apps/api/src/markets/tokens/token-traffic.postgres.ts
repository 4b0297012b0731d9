import type { Address } from "@causeway/domain";
import type { TokenTraffic } from "./token-traffic.port.ts";
import { statement } from "../../db/pool.postgres.ts";
import type { Sql } from "../../db/pool.postgres.ts";

/** Far more than anybody is shown. */
const MAX_TOKENS = 1_000;

// Only requests whose money came: a quote costs nothing, and whoever asks for many must not make a token look
// sought after.
const traffic = statement(
  "token_traffic",
  `select chain_id, address,
     count(*) filter (where created_at_ms >= $2) as day_requests,
     coalesce(sum(amount_usd) filter (where created_at_ms >= $2), 0) as day_usd,
     count(*) as week_requests,
     sum(amount_usd) as week_usd
   from (
     select origin_chain_id as chain_id, currency_in as address, amount_usd, created_at_ms
       from request_history where created_at_ms >= $1 and in_block is not null
     union all
     select destination_chain_id, currency_out, amount_usd, created_at_ms
       from request_history where created_at_ms >= $1 and in_block is not null
   ) moved
   where address is not null group by 1, 2 order by day_requests desc, week_requests desc, 1, 2 limit ${MAX_TOKENS}`,
);

interface TrafficRow {
  readonly chain_id: number;
  readonly address: Address;
  readonly day_requests: number;
  readonly day_usd: bigint;
  readonly week_requests: number;
  readonly week_usd: bigint;
}

/** What moved since `weekMs`, and of that since `dayMs`; both ms since epoch. */
export async function readTokenTraffic(sql: Sql, weekMs: number, dayMs: number): Promise<TokenTraffic[]> {
  const rows = await sql.query<TrafficRow>(traffic, [weekMs, dayMs]);
  return rows.map((row) => ({
    chainId: row.chain_id,
    address: row.address,
    day: { requests: row.day_requests, microUsd: row.day_usd },
    week: { requests: row.week_requests, microUsd: row.week_usd },
  }));
}
