import type { RequestId } from "@causeway/domain";
import type { StatusRecord } from "../../ports/records.ts";
import { statement } from "./pool.ts";
import type { Sql } from "./pool.ts";
import { STATUS_COLUMNS, statusOf } from "./rows.ts";
import type { StatusRow } from "./rows.ts";
import { tickBatcher } from "./tick-batcher.ts";

const readMany = statement(
  "status_read",
  `select ${STATUS_COLUMNS} from requests where request_id = any($1::text[])`,
);

/** Point reads of the status, all those of one event-loop turn in one query. */
export function batchedStatusReads(sql: Sql): (requestId: RequestId) => Promise<StatusRecord | undefined> {
  return tickBatcher(
    async (requestIds: readonly RequestId[]) => {
      const rows = await sql.query<StatusRow>(readMany, [[...new Set(requestIds)]]);
      const found = new Map(rows.map((row) => [row.request_id, statusOf(row)]));
      return requestIds.map((requestId) => found.get(requestId));
    },
    { inFlight: 2, maxBatch: 500 },
  );
}
