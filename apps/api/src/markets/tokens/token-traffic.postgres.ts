import { sql as text } from "drizzle-orm";
import type { TokenTraffic } from "./token-traffic.port.ts";
import { defineSql, type Params } from "../../db/define-query.postgres.ts";
import type { Sql } from "../../db/pool.postgres.ts";
import { requestHistory as history } from "../../requests/history/history.tables.ts";

// Counts only requests with a deposit: quotes are free, so anyone could make a token look popular. The limit
// is far above the length of any list that clients can request.
const traffic = defineSql(
  "token_traffic",
  {
    chainId: history.originChainId,
    address: history.currencyIn,
    dayRequests: Number,
    dayUsd: BigInt,
    weekRequests: Number,
    weekUsd: BigInt,
  },
  (p: Params<{ weekMs: number; dayMs: number }>) => {
    const isPaid = text`${history.createdAtMs} >= ${p.weekMs} and ${history.inBlock} is not null`;
    return text`
      select chain_id, address, count(*) filter (where created_at_ms >= ${p.dayMs}) as day_requests,
        coalesce(sum(amount_usd) filter (where created_at_ms >= ${p.dayMs}), 0) as day_usd,
        count(*) as week_requests, sum(amount_usd) as week_usd
      from (
        select ${history.originChainId} as chain_id, ${history.currencyIn} as address, ${history.amountUsd}, ${history.createdAtMs}
        from ${history} where ${isPaid}
        union all
        select ${history.destinationChainId}, ${history.currencyOut}, ${history.amountUsd}, ${history.createdAtMs}
        from ${history} where ${isPaid}
      ) moved
      where address is not null group by 1, 2 order by day_requests desc, week_requests desc, 1, 2 limit 1000`;
  },
);

/**
 * Aggregates the traffic of each token.
 * @param weekMs start of the week, ms since epoch
 * @param dayMs start of the day, ms since epoch
 */
export async function readTokenTraffic(sql: Sql, weekMs: number, dayMs: number): Promise<TokenTraffic[]> {
  const rows = await traffic(sql, { weekMs, dayMs });
  return rows.flatMap(({ chainId, address, dayRequests, dayUsd, weekRequests, weekUsd }) =>
    address === null
      ? []
      : {
          chainId,
          address,
          day: { requests: dayRequests, microUsd: dayUsd },
          week: { requests: weekRequests, microUsd: weekUsd },
        },
  );
}
