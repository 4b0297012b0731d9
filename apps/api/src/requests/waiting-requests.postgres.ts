import type { RequestId, TxHash } from "@causeway/domain";
import { alias } from "drizzle-orm/pg-core";
import { type Column, sql as text, type SQL } from "drizzle-orm";
import type { WaitingReads } from "../db/reads.port.ts";
import { defineSql, nameOf, nullable, type Params } from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { chainBlocks, chainCursors, nonEvmCursors, originTransactions } from "../deposits/deposits.tables.ts";
import { requests } from "./requests.tables.ts";

/** Requests that expire at their deadline: the predicate of the index `requests_waiting_origin`. */
export function isWaiting(table: Record<"state" | "supersededBy" | "fundsSeen", Column> = requests): SQL {
  return text`${table.state} in ('quoted', 'depositing') and ${table.supersededBy} is null and not ${table.fundsSeen}`;
}

/**
 * Time of the newest block read of each chain, ms: one index lookup per chain, regardless of the number of
 * blocks.
 */
export const newestBlocks: SQL = text`
  select ${chainCursors.chainId}, newest.timestamp * 1000 as newest_ms from ${chainCursors}
    cross join lateral (select ${chainBlocks.timestamp} from ${chainBlocks}
      where ${chainBlocks.chainId} = ${chainCursors.chainId} order by ${chainBlocks.number} desc limit 1) as newest
  union all select ${nonEvmCursors.chainId}, ${nonEvmCursors.blockSeconds} * 1000 from ${nonEvmCursors}`;

/** Reported transactions that are checked per request, newest first. */
const MAX_REPORTED = 10;
/** Requests per chain and round that are searched for reported transactions. */
const REPORT_WINDOW = text.raw("1000");

const nextRequest = alias(requests, "r");

// Skips from chain to chain in the index: a million waiting requests of one chain cost as much as one.
const readOrigins = defineSql(
  "read_waiting_origins",
  { chainId: requests.originChainId, newestMs: nullable(Number) },
  () => text`
    with recursive origins (chain_id) as (
      (select ${requests.originChainId} from ${requests} where ${isWaiting()} order by ${requests.originChainId} limit 1)
      union all
      select (select ${nextRequest.originChainId} from ${requests} ${nextRequest}
        where ${isWaiting(nextRequest)} and ${nextRequest.originChainId} > o.chain_id order by ${nextRequest.originChainId} limit 1)
      from origins o where o.chain_id is not null),
    newest as materialized (${newestBlocks})
    select o.chain_id, n.newest_ms from origins o left join newest n on n.chain_id = o.chain_id where o.chain_id is not null`,
);
const readNewest = defineSql(
  "read_newest_blocks",
  { newestMs: Number },
  () => text`select newest_ms from (${newestBlocks}) n where newest_ms is not null`,
);
const readOverdueReported = defineSql(
  "read_overdue_reported",
  { requestId: requests.requestId, txHashes: requests.txHashes },
  (p: Params<{ chainId: number; deadlineBeforeMs: number; limit: number }>) => text`
    select r.request_id, array_agg(${originTransactions.txHash} order by ${originTransactions.reportedAtMs} desc,
      ${originTransactions.txHash}) as tx_hashes
    from (select ${requests.requestId} from ${requests}
        where ${isWaiting()} and ${requests.originChainId} = ${p.chainId} and ${requests.fillDeadlineMs} < ${p.deadlineBeforeMs}
        order by ${requests.fillDeadlineMs} limit ${REPORT_WINDOW}) r (${nameOf(requests.requestId)})
      join ${originTransactions} on ${originTransactions.requestId} = r.request_id
    group by r.request_id
    -- At random, so that transactions the node does not know do not hold up others.
    order by random() limit ${p.limit}`,
);

export function waitingReads(sql: Sql): WaitingReads {
  return {
    async waitingOrigins() {
      const rows = await readOrigins(sql, {});
      return rows.map(({ chainId, newestMs }) => ({ chainId, newestBlockMs: newestMs ?? undefined }));
    },
    async newestBlocksMs() {
      return (await readNewest(sql, {})).map(({ newestMs }) => newestMs);
    },
    async overdueReported(due, limit) {
      const rows = await readOverdueReported(sql, { ...due, limit });
      return rows.map(({ requestId, txHashes }): { requestId: RequestId; txHashes: TxHash[] } => ({
        requestId,
        txHashes: txHashes.slice(0, MAX_REPORTED),
      }));
    },
  };
}
