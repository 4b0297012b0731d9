import type { RequestId } from "@causeway/domain";
import { sql as text } from "drizzle-orm";
import type { StatusRecord } from "../db/records.port.ts";
import { defineQuery, type Params } from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { tickBatcher } from "../db/tick-batcher.ts";
import { STATUS, statusOf } from "./request-rows.postgres.ts";
import { heldPayments } from "../payments/policy/policy.tables.ts";
import { requests } from "./requests.tables.ts";

// At most a few payments are held; null without one.
const heldBy =
  text`(select h.rule from ${heldPayments} h where h.request_id = requests.request_id limit 1)`.mapWith(
    String,
  );
const readMany = defineQuery("status_read", (db, p: Params<{ requestIds: readonly RequestId[] }>) =>
  db
    .select({ ...STATUS, heldBy })
    .from(requests)
    .where(text`${requests.requestId} = any(${p.requestIds})`),
);

/** Reads statuses; all reads of one event-loop turn share one query. */
export function batchedStatusReads(sql: Sql): (requestId: RequestId) => Promise<StatusRecord | undefined> {
  return tickBatcher(
    async (requestIds: readonly RequestId[]) => {
      const rows = await readMany(sql, { requestIds });
      const byId = new Map(
        rows.map((row) => [row.requestId, { ...statusOf(row), ...(row.heldBy && { heldBy: row.heldBy }) }]),
      );
      return requestIds.map((requestId) => byId.get(requestId));
    },
    { inFlight: 2, maxBatch: 500 },
  );
}
