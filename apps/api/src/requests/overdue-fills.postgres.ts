import { sql as text } from "drizzle-orm";
import type { Reads } from "../db/reads.port.ts";
import { appFeesDue } from "../balances/reservations.tables.ts";
import { defineSql, type Params } from "../db/define-query.postgres.ts";
import { lostJob } from "../db/job-runs.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { requests } from "./requests.tables.ts";

const readOverdue = defineSql(
  "read_overdue_fills",
  { requestId: requests.requestId },
  (p: Params<{ sinceBeforeMs: number; nowMs: number; limit: number }>) => {
    const since = text`coalesce(${requests.stateSinceMs}, ${requests.updatedAtMs})`;
    const dueSince = text`${appFeesDue.sinceMs}`;
    const fill = lostJob("fill", text`${requests.requestId}`, since, p.nowMs);
    const fees = lostJob("fill", text`${appFeesDue.requestId}`, dueSince, p.nowMs);
    return text`
      (select ${requests.requestId} from ${requests} ${fill.join}
        where ${requests.state} in ('fillable', 'filling') and ${since} < ${p.sinceBeforeMs} and ${fill.isLost}
        order by ${fill.order} limit ${p.limit})
      union all
      (select ${appFeesDue.requestId} from ${appFeesDue} ${fees.join}
        where ${dueSince} < ${p.sinceBeforeMs} and ${fees.isLost} order by ${fees.order} limit ${p.limit})`;
  },
);

/** Requests whose fill or app fees have no active job. */
export function overdueFillReads(sql: Sql): Pick<Reads, "overdueFills"> {
  return {
    overdueFills: async ({ sinceBeforeMs, nowMs }, limit) =>
      (await readOverdue(sql, { sinceBeforeMs, nowMs, limit })).map(({ requestId }) => requestId),
  };
}
