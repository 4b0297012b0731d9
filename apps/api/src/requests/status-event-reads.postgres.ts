import type { RequestId } from "@causeway/domain";
import type { StatusChange } from "./status-feed.port.ts";
import { statement } from "../db/pool.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { STATUS_COLUMNS, statusOf } from "./rows.postgres.ts";
import type { StatusRow } from "./rows.postgres.ts";
import { tickBatcher } from "../db/tick-batcher.postgres.ts";

const readSnapshots = statement(
  "status_snapshots",
  `select ${STATUS_COLUMNS}, superseded_by, funds_seen, funds_held, status_seq as seq, false as only_final from requests where request_id = any($1::text[])`,
);

/** Of an event `e` and its request `r`. What the events do not hold does not change. */
export const EVENT_COLUMNS = `e.request_id, e.seq, e.key_id, e.only_final, r.kind, e.state, e.deposit_id, e.fail_reason, e.refund_fail_reason, e.final, e.front,
  r.superseded_by, e.funds_seen, e.funds_held, r.origin_chain_id, r.destination_chain_id, r.created_at_ms, e.at_ms as updated_at_ms, r.fill_deadline_ms, e.in_tx_hashes, e.tx_hashes, e.refund_tx_hashes`;

const readEvents = statement(
  "status_events_after",
  `select ${EVENT_COLUMNS} from unnest($1::text[], $2::integer[]) as w (id, after)
   join status_events e on e.request_id = w.id and e.seq > w.after
   join requests r on r.request_id = e.request_id
   order by e.request_id, e.seq`,
);

export interface EventRow extends StatusRow {
  seq: number;
  only_final: boolean;
  key_id: string | null;
}

/** A change as it is stored, and whose request it was. */
export interface StoredChange extends StatusChange {
  readonly keyId: string | undefined;
}

/** What the feed reads. */
export interface StatusEventReads {
  /**
   * How a request stands; undefined when there is none. Those asked in one turn of the event loop go
   * together.
   */
  snapshot(requestId: RequestId): Promise<StatusChange | undefined>;
  /** Changes of each request after the sequence given, in order. One query. */
  eventsAfter(sequences: ReadonlyMap<RequestId, number>): Promise<readonly StoredChange[]>;
}

export function statusEventReads(sql: Sql): StatusEventReads {
  return {
    snapshot: tickBatcher(
      async (requestIds: readonly RequestId[]) => {
        const rows = await sql.query<EventRow>(readSnapshots, [requestIds]);
        const byId = new Map(rows.map((row) => [row.request_id, changeOf(row)]));
        return requestIds.map((requestId) => byId.get(requestId));
      },
      { inFlight: 2, maxBatch: 1_000 },
    ),
    async eventsAfter(sequences): Promise<readonly StoredChange[]> {
      const rows = await sql.query<EventRow>(readEvents, [[...sequences.keys()], [...sequences.values()]]);
      return rows.map((row) => ({ ...changeOf(row), keyId: row.key_id ?? undefined }));
    },
  };
}

export function changeOf(row: EventRow): StatusChange {
  return { record: statusOf(row), sequence: row.seq, onlyFinal: row.only_final };
}
