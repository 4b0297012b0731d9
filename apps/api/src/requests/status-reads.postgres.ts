import type { RequestId } from "@causeway/domain";
import { sql as text } from "drizzle-orm";
import type { StatusRecord } from "../db/records.port.ts";
import { columnsOf, defineSql, nullable, type Params } from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { tickBatcher } from "../db/tick-batcher.ts";
import { STATUS, statusOf } from "./request-rows.postgres.ts";
import { heldPayments } from "../payments/policy/policy.tables.ts";
import { requests } from "./requests.tables.ts";

// Plain SQL, because the query builder takes 50% longer per status. Few payments are held at a time.
const readMany = defineSql(
  "status_read",
  { ...STATUS, heldBy: nullable(String) },
  (p: Params<{ requestIds: readonly RequestId[] }>) => text`
    select ${columnsOf(STATUS)},
      (select h.rule from ${heldPayments} h where h.request_id = ${requests.requestId} limit 1) as held_by
    from ${requests} where ${requests.requestId} = any(${p.requestIds}::text[])`,
);

/** Reads statuses; all reads of one event-loop turn share one query. */
export function batchedStatusReads(sql: Sql): (requestId: RequestId) => Promise<StatusRecord | undefined> {
  return tickBatcher(
    async (requestIds: readonly RequestId[]) => {
      const rows = await readMany(sql, { requestIds });
      const byId = new Map<RequestId, StatusRecord>();
      for (const row of rows) {
        const status = statusOf(row);
        byId.set(row.requestId, row.heldBy === null ? status : { ...status, heldBy: row.heldBy });
      }
      return requestIds.map((requestId) => byId.get(requestId));
    },
    { inFlight: 2, maxBatch: 500 },
  );
}
