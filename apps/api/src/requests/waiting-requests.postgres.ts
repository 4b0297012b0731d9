import type { RequestId, TxHash } from "@causeway/domain";
import type { WaitingReads } from "../db/reads.port.ts";
import { statement } from "../db/pool.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";

/** Requests that end when their deadline passes: the predicate of the index `requests_waiting_origin`. */
export const WAITING = "state in ('quoted', 'depositing') and superseded_by is null and not funds_seen";

/** Time of the newest block read of each chain, ms: one index entry per chain, however long its trail is. */
export const NEWEST_BLOCKS = `select c.chain_id, b.timestamp * 1000 as newest_ms from chain_cursors c
     cross join lateral (select timestamp from chain_blocks where chain_id = c.chain_id order by number desc limit 1) b
   union all select chain_id, block_seconds * 1000 from rail_cursors`;

/** Reported transactions of one request that are looked at, the newest first. */
const MAX_REPORTED = 10;
/** Requests of one chain that are searched for reported transactions in a round. */
const REPORT_WINDOW = 1_000;

// Jumps from one chain to the next in the index: a million waiting requests of one chain cost as much as one.
const origins = statement(
  "read_waiting_origins",
  `with recursive origins (chain_id) as (
     (select origin_chain_id from requests where ${WAITING} order by origin_chain_id limit 1)
     union all
     select (select r.origin_chain_id from requests r where ${WAITING} and r.origin_chain_id > o.chain_id order by r.origin_chain_id limit 1)
     from origins o where o.chain_id is not null),
   newest as materialized (${NEWEST_BLOCKS})
   select o.chain_id, n.newest_ms from origins o left join newest n on n.chain_id = o.chain_id where o.chain_id is not null`,
);
const newestBlocks = statement(
  "read_newest_blocks",
  `select newest_ms from (${NEWEST_BLOCKS}) n where newest_ms is not null`,
);
const overdueReported = statement(
  "read_overdue_reported",
  `select r.request_id, array_agg(o.tx_hash order by o.reported_at_ms desc, o.tx_hash) as tx_hashes
   from (select request_id from requests where ${WAITING} and origin_chain_id = $1 and fill_deadline_ms < $2
       order by fill_deadline_ms limit ${REPORT_WINDOW}) r
     join origin_transactions o on o.request_id = r.request_id
   group by r.request_id
   -- At random, so that transactions the node cannot tell about do not hold up others.
   order by random() limit $3`,
);

/** Requests that wait for a deposit, on a Postgres pool. */
export function waitingReads(sql: Sql): WaitingReads {
  return {
    async waitingOrigins() {
      const rows = await sql.query<{ chain_id: number; newest_ms: number | null }>(origins, []);
      return rows.map((row) => ({ chainId: row.chain_id, newestBlockMs: row.newest_ms ?? undefined }));
    },
    async newestBlocksMs() {
      return (await sql.query<{ newest_ms: number }>(newestBlocks, [])).map((row) => row.newest_ms);
    },
    async overdueReported({ chainId, deadlineBeforeMs }, limit) {
      const rows = await sql.query<{ request_id: string; tx_hashes: string[] }>(overdueReported, [
        chainId,
        deadlineBeforeMs,
        limit,
      ]);
      return rows.map((row) => ({
        requestId: row.request_id as RequestId,
        txHashes: row.tx_hashes.slice(0, MAX_REPORTED) as TxHash[],
      }));
    },
  };
}
