import type { RequestId } from "@causeway/domain";
import type { StatusRecord } from "../db/records.port.ts";
import { statement } from "../db/pool.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { statusOf } from "./rows.postgres.ts";
import { tickBatcher } from "../db/tick-batcher.postgres.ts";

const FIELD_END = "\u001f";
/** Columns of a row below. */
const FIELDS = 19;

/**
 * All rows as one text, a field after the other: taking apart some thousand rows of so many columns a second
 * is what the driver would do most of its time. No column holds a control character: they are hashes, words
 * of ours and numbers.
 */
const readMany = statement(
  "status_read",
  `select string_agg(concat_ws(chr(31), request_id, kind, state, coalesce(deposit_id::text, ''), coalesce(fail_reason, ''),
     coalesce(refund_fail_reason, ''), final, origin_chain_id, destination_chain_id, created_at_ms, updated_at_ms,
     in_tx_hashes, tx_hashes, refund_tx_hashes, front, coalesce(superseded_by, ''), funds_seen, funds_held, fill_deadline_ms), chr(31)) as rows
   from requests where request_id = any(string_to_array($1, ','))`,
);

/** Point reads of the status, all those of one event-loop turn in one query. */
export function batchedStatusReads(sql: Sql): (requestId: RequestId) => Promise<StatusRecord | undefined> {
  return tickBatcher(
    async (requestIds: readonly RequestId[]) => {
      const [found] = await sql.query<{ rows: string | null }>(readMany, [requestIds.join(",")]);
      const byId = new Map<RequestId, StatusRecord>();
      const fields = found?.rows == null ? [] : found.rows.split(FIELD_END);
      for (let at = 0; at < fields.length; at += FIELDS) {
        const record = recordAt(fields, at);
        byId.set(record.requestId, record);
      }
      return requestIds.map((requestId) => byId.get(requestId));
    },
    { inFlight: 2, maxBatch: 500 },
  );
}

function recordAt(fields: readonly string[], at: number): StatusRecord {
  return statusOf({
    request_id: text(fields, at),
    kind: text(fields, at + 1),
    state: text(fields, at + 2),
    deposit_id: text(fields, at + 3) === "" ? null : Number(text(fields, at + 3)),
    fail_reason: orNull(fields, at + 4),
    refund_fail_reason: orNull(fields, at + 5),
    final: text(fields, at + 6) === "t",
    origin_chain_id: Number(text(fields, at + 7)),
    destination_chain_id: Number(text(fields, at + 8)),
    created_at_ms: Number(text(fields, at + 9)),
    updated_at_ms: Number(text(fields, at + 10)),
    in_tx_hashes: list(fields, at + 11),
    tx_hashes: list(fields, at + 12),
    refund_tx_hashes: list(fields, at + 13),
    front: text(fields, at + 14),
    superseded_by: orNull(fields, at + 15),
    funds_seen: text(fields, at + 16) === "t",
    funds_held: text(fields, at + 17) === "t",
    fill_deadline_ms: Number(text(fields, at + 18)),
  });
}

function text(fields: readonly string[], at: number): string {
  return fields[at] ?? "";
}

function orNull(fields: readonly string[], at: number): string | null {
  return text(fields, at) === "" ? null : text(fields, at);
}

/** Hashes as the database writes a list, `{0xab,0xcd}`: nothing in them wants quotes. */
function list(fields: readonly string[], at: number): string[] {
  const written = text(fields, at);
  return written === "{}" ? [] : written.slice(1, -1).split(",");
}
