import type { RequestId } from "@causeway/domain";
import { asc, eq, gt, and, sql as text } from "drizzle-orm";
import type { StatusChange } from "./status-feed.port.ts";
import { defineQuery, type Params } from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { tickBatcher } from "../db/tick-batcher.ts";
import { STATUS, statusOf, type StatusRow } from "./request-rows.postgres.ts";
import { requests, statusEvents } from "./requests.tables.ts";

const readSnapshots = defineQuery(
  "status_snapshots",
  (db, { requestIds }: Params<{ requestIds: readonly RequestId[] }>) =>
    db
      .select({ ...STATUS, seq: requests.statusSeq, onlyFinal: text`false`.mapWith(Boolean) })
      .from(requests)
      .where(text`${requests.requestId} = any(${requestIds})`),
);

/** The columns of a change: those of its event, and the immutable columns of its request. */
export const EVENT = {
  ...STATUS,
  seq: statusEvents.seq,
  onlyFinal: statusEvents.onlyFinal,
  keyId: statusEvents.keyId,
  state: statusEvents.state,
  depositId: statusEvents.depositId,
  failReason: statusEvents.failReason,
  refundFailReason: statusEvents.refundFailReason,
  final: statusEvents.final,
  front: statusEvents.front,
  fundsSeen: statusEvents.fundsSeen,
  fundsHeld: statusEvents.fundsHeld,
  updatedAtMs: statusEvents.atMs,
  inTxHashes: statusEvents.inTxHashes,
  txHashes: statusEvents.txHashes,
  refundTxHashes: statusEvents.refundTxHashes,
};

const readEvents = defineQuery(
  "status_events_after",
  (db, p: Params<{ requestIds: readonly RequestId[]; sequences: readonly number[] }>) =>
    db
      .select(EVENT)
      .from(text`unnest(${p.requestIds}::text[], ${p.sequences}::integer[]) as followed (id, after)`)
      .innerJoin(
        statusEvents,
        and(eq(statusEvents.requestId, text`followed.id`), gt(statusEvents.seq, text`followed.after`)),
      )
      .innerJoin(requests, eq(requests.requestId, statusEvents.requestId))
      .orderBy(asc(statusEvents.requestId), asc(statusEvents.seq)),
);

/** A stored change and the API key of its request. */
export interface StoredChange extends StatusChange {
  readonly keyId: string | undefined;
}

export interface StatusEventReads {
  /** The current status; undefined without such a request. Reads of one event-loop turn share one query. */
  snapshot(requestId: RequestId): Promise<StatusChange | undefined>;
  /** Changes of each request after the given sequence, in order. One query. */
  eventsAfter(sequences: ReadonlyMap<RequestId, number>): Promise<readonly StoredChange[]>;
}

export function statusEventReads(sql: Sql): StatusEventReads {
  return {
    snapshot: tickBatcher(
      async (requestIds: readonly RequestId[]) => {
        const rows = await readSnapshots(sql, { requestIds });
        const byId = new Map(rows.map((row) => [row.requestId, changeOf(row)]));
        return requestIds.map((requestId) => byId.get(requestId));
      },
      { inFlight: 2, maxBatch: 1_000 },
    ),
    async eventsAfter(after): Promise<readonly StoredChange[]> {
      const rows = await readEvents(sql, { requestIds: [...after.keys()], sequences: [...after.values()] });
      return rows.map((row) => ({ ...changeOf(row), keyId: row.keyId ?? undefined }));
    },
  };
}

export function changeOf(
  row: StatusRow & { readonly seq: number; readonly onlyFinal: boolean },
): StatusChange {
  return { record: statusOf(row), sequence: row.seq, onlyFinal: row.onlyFinal };
}
