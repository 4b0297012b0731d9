import { sql as text } from "drizzle-orm";
import type { Reads } from "../db/reads.port.ts";
import { defineSql, type Params } from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { requests } from "../requests/requests.tables.ts";
import { newestBlocks } from "../requests/waiting-requests.postgres.ts";
import { fastFills } from "./fast-fills.tables.ts";

const overdue = defineSql(
  "read_overdue_fronts",
  { requestId: requests.requestId },
  (p: Params<{ deadlineBeforeMs: number; readBeyondMs: number; limit: number }>) => text`
    with newest as materialized (${newestBlocks})
    select ${requests.requestId} from ${requests} join ${fastFills} on ${fastFills.requestId} = ${requests.requestId}
      join newest n on n.chain_id = ${requests.originChainId}
    where ${requests.front} = 'held' and ${requests.state} = 'filled' and ${requests.final} and ${requests.depositId} is null
      and not ${requests.fundsSeen} and ${requests.fillDeadlineMs} < ${p.deadlineBeforeMs}
      -- A deposit made in time may be in a block that no worker has read yet.
      and ${requests.fillDeadlineMs} + ${p.readBeyondMs} < n.newest_ms
    order by ${fastFills.triedAtMs}, ${requests.fillDeadlineMs} limit ${p.limit}`,
);

/** Fast fills whose deposit never arrived. */
export function overdueFastFillReads(sql: Sql): Pick<Reads, "overdueFastFills"> {
  return {
    async overdueFastFills(deadlineBeforeMs, readBeyondMs, limit) {
      const rows = await overdue(sql, { deadlineBeforeMs, readBeyondMs, limit });
      return rows.map(({ requestId }) => requestId);
    },
  };
}
