import type { RequestId } from "@causeway/domain";
import type { StatusRecord } from "../../ports/records.ts";
import { statement } from "./pool.ts";
import type { Sql } from "./pool.ts";
import { statusOf } from "./rows.ts";
import { tickBatcher } from "./tick-batcher.ts";

const ROW_END = "\u001e";
const FIELD_END = "\u001f";

/**
 * All rows as one text: taking apart some thousand rows of fourteen columns a second is what the driver would do most of its time.
 * No column holds a control character: they are hashes, words of ours and numbers.
 */
const readMany = statement(
  "status_read",
  `select string_agg(concat_ws(chr(31), request_id, kind, state, coalesce(deposit_id::text, ''), coalesce(fail_reason, ''),
     coalesce(refund_fail_reason, ''), final, origin_chain_id, destination_chain_id, created_at_ms, updated_at_ms,
     array_to_string(in_tx_hashes, ','), array_to_string(tx_hashes, ','), array_to_string(refund_tx_hashes, ',')), chr(30)) as rows
   from requests where request_id = any(string_to_array($1, ','))`,
);

/** Point reads of the status, all those of one event-loop turn in one query. */
export function batchedStatusReads(sql: Sql): (requestId: RequestId) => Promise<StatusRecord | undefined> {
  return tickBatcher(
    async (requestIds: readonly RequestId[]) => {
      const [found] = await sql.query<{ rows: string | null }>(readMany, [
        [...new Set(requestIds)].join(","),
      ]);
      const records = found?.rows == null ? [] : found.rows.split(ROW_END).map(recordOf);
      const byId = new Map(records.map((record) => [record.requestId, record]));
      return requestIds.map((requestId) => byId.get(requestId));
    },
    { inFlight: 2, maxBatch: 500 },
  );
}

function recordOf(row: string): StatusRecord {
  const fields = row.split(FIELD_END);
  const text = (index: number): string => fields[index] ?? "";
  const orNull = (index: number): string | null => (text(index) === "" ? null : text(index));
  const list = (index: number): string[] => (text(index) === "" ? [] : text(index).split(","));
  return statusOf({
    request_id: text(0),
    kind: text(1),
    state: text(2),
    deposit_id: text(3) === "" ? null : Number(text(3)),
    fail_reason: orNull(4),
    refund_fail_reason: orNull(5),
    final: text(6) === "t",
    origin_chain_id: Number(text(7)),
    destination_chain_id: Number(text(8)),
    created_at_ms: Number(text(9)),
    updated_at_ms: Number(text(10)),
    in_tx_hashes: list(11),
    tx_hashes: list(12),
    refund_tx_hashes: list(13),
  });
}
