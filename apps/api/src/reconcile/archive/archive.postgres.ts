import { sql as text, type Column, type SQL } from "drizzle-orm";
import type pg from "pg";
import { nameOf, namesOf, runSql } from "../../db/define-query.postgres.ts";
import type { Month } from "../../db/month.port.ts";
import { endOfMonth, monthAfter, monthOf, startOfMonth } from "../../db/month.ts";
import { sqlOn } from "../../db/pool.postgres.ts";
import type { SessionSettings } from "../../db/session-settings.postgres.ts";
import { NO_CALL_DATA, slots } from "../../payments/payments.tables.ts";
import {
  monthsInDefault,
  partitionedMonths,
  removeEvents,
  unlessLocked,
} from "../../requests/event-partitions.postgres.ts";
import { requestHistory } from "../../requests/history/history.tables.ts";
import { requestEvents, requests } from "../../requests/requests.tables.ts";
import type { ArchiveStore, BegunArchive, Range } from "./archive.port.ts";
import { archiveRequests, archives } from "./archive.tables.ts";
import { isEnded, isIn, readRows } from "./archive-rows.postgres.ts";
import { isOfMonth, judgedParts } from "./archived-requests.postgres.ts";

/**
 * Settings of the archive's connections. JIT compilation and parallel workers would take longer than they
 * save: the statements are short, except for one that writes, which Postgres never runs in parallel.
 */
export const ARCHIVE_SESSION: SessionSettings = { jit: "off", max_parallel_workers_per_gather: 0 };

/** Payments younger than this stay unchanged: they may be signed, but not committed yet. */
const SETTLES_WITHIN_MS = 86_400_000;

/** Requests per window: their rows, some 150 MB, stay in memory while they are removed. */
const WINDOW = 50_000;

/**
 * Requests are removed window by window in order of creation, and in random order within a window. So each
 * table block is read, and written in full to the WAL, for one window only. And each transaction changes few
 * rows of a block, so that new row versions fit into the space of removed ones.
 */
const windowOf = (
  month: Month,
): SQL => text`width_bucket(coalesce(created_at_ms, 0)::float8, ${startOfMonth(month)}::float8,
  ${endOfMonth(month)}::float8, (select count(*)::integer / ${WINDOW} + 1 from judged))`;

const isChosen = (column: SQL): SQL =>
  text`exists (select from ${archiveRequests} where ${archiveRequests.requestId} = ${column})`;
const ARCHIVE = {
  month: archives.month,
  part: archives.part,
  state: archives.state,
  paymentsBeforeMs: archives.paymentsBeforeMs,
  folder: archives.folder,
  manifestSha256: archives.manifestSha256,
  tables: archives.tables,
};

/**
 * Archives on one connection.
 * @param client not used by other code in the meantime
 */
export function archiveStore(client: pg.PoolClient): ArchiveStore {
  const sql = sqlOn(client);
  const inTransaction = async <T>(work: () => Promise<T>): Promise<T> => {
    await client.query("begin");
    try {
      const result = await work();
      await client.query("commit");
      return result;
    } catch (error) {
      // The rollback fails if the connection is broken; the first error matters.
      await client.query("rollback").catch(() => undefined);
      throw error;
    }
  };
  const isArchive = ({ month, part }: Pick<BegunArchive, "month" | "part">): SQL =>
    text`${archives.month} = ${month} and ${archives.part} = ${part}`;
  const unfinished: ArchiveStore["unfinished"] = async () => {
    const [row] = await runSql(
      sql,
      ARCHIVE,
      text`select ${namesOf(...Object.values(ARCHIVE))} from ${archives} where ${archives.state} <> 'archived'`,
    );
    return (
      row && {
        ...row,
        folder: row.folder ?? undefined,
        manifestSha256: row.manifestSha256 ?? undefined,
        tables: row.tables ?? [],
      }
    );
  };
  const rangeOf = async (column: Column, from: SQL): Promise<Range> => {
    const [row] = await runSql(
      sql,
      { after: Number, through: Number },
      text`select coalesce(min(${column}) - 1, 0) as after, coalesce(max(${column}), 0) as through from ${from}`,
    );
    return row ?? { after: 0, through: 0 };
  };

  return {
    async database() {
      const [database] = await runSql(
        sql,
        { systemIdentifier: String, name: String },
        text`select system_identifier::text, current_database() as name from pg_control_system()`,
      );
      if (database === undefined) throw new Error("invariant violated: pg_control_system returned no row");
      return database;
    },
    async months(before) {
      const [row] = await runSql(
        sql,
        { oldestMs: (ms: number | null) => ms },
        text`select min(${requestHistory.createdAtMs}) as oldest_ms from ${requestHistory}`,
      );
      const months = new Set([...(await partitionedMonths(sql)), ...(await monthsInDefault(sql))]);
      if (row?.oldestMs != null)
        for (let month = monthOf(row.oldestMs); month < before; month = monthAfter(month)) months.add(month);
      return [...months].filter((month) => month < before).toSorted();
    },
    async plan(month, untouchedSinceMs) {
      const [row] = await runSql(
        sql,
        { requests: Number, open: Number, events: Number },
        text`with ${judgedParts(month, untouchedSinceMs)}
          select count(*) filter (where is_over and ${requestHistory.requestId} is not null) as requests, count(*) filter (where not is_over) as open,
            (select count(*) from ${requestEvents} join judged ended on ended.request_id = ${requestEvents.requestId} and ended.is_over
              where ${isOfMonth(text`${requestEvents.atMs}`, month)}) as events
          from judged left join ${requestHistory} on ${requestHistory.requestId} = judged.request_id`,
      );
      return { month, ...(row ?? { requests: 0, open: 0, events: 0 }) };
    },
    unfinished,
    async begin(month, untouchedSinceMs, nowMs) {
      const chosenCount = await inTransaction(async () => {
        const [row] = await runSql(
          sql,
          { count: Number },
          text`with ${judgedParts(month, untouchedSinceMs)},
            chosen as (insert into ${archiveRequests} (${namesOf(archiveRequests.requestId, archiveRequests.hasEvents)})
              select request_id, has_events from judged where is_over order by ${windowOf(month)}, request_id returning 1),
            begun as (insert into ${archives} (${namesOf(archives.month, archives.part, archives.state, archives.paymentsBeforeMs, archives.startedAtMs)})
              select ${month}, (select coalesce(max(${archives.part}), 0) + 1 from ${archives} where ${archives.month} = ${month}), 'exporting',
                ${nowMs - SETTLES_WITHIN_MS}, ${nowMs}
              where exists (select from judged where is_over))
            select count(*) as count from chosen`,
        );
        return row?.count ?? 0;
      });
      if (chosenCount === 0) return undefined;
      await runSql(sql, {}, text`analyze ${archiveRequests}`);
      return await unfinished();
    },
    async eventIds({ month }) {
      return await rangeOf(
        requestEvents.id,
        text`${requestEvents} where ${isOfMonth(text`${requestEvents.atMs}`, month)}`,
      );
    },
    async positions() {
      return await rangeOf(archiveRequests.n, text`${archiveRequests}`);
    },
    read: (archive, table, range) => readRows(sql, archive, table, range),
    async setExported(archive, folder, sha256, tables) {
      await runSql(
        sql,
        {},
        text`update ${archives} set ${nameOf(archives.state)} = 'exported', ${nameOf(archives.folder)} = ${folder},
          ${nameOf(archives.manifestSha256)} = ${sha256}, ${nameOf(archives.tables)} = ${JSON.stringify(tables)}
          where ${isArchive(archive)} and ${archives.state} = 'exporting'`,
      );
    },
    async removeEvents({ month }) {
      return await unlessLocked(() =>
        inTransaction(() =>
          removeEvents(client, month, text`not ${isChosen(text`${requestEvents.requestId}`)}`),
        ),
      );
    },
    async removeRequests(archive, positions) {
      const isInRange = isIn(text`${archiveRequests.n}`, positions);
      await inTransaction(async () => {
        // Every commit that changes a request locks the request first. Another order here could deadlock.
        await runSql(
          sql,
          {},
          text`select from ${requests} where ${requests.requestId} in (select ${archiveRequests.requestId} from ${archiveRequests} where ${isInRange})
            order by ${requests.requestId} for no key update`,
        );
        await runSql(
          sql,
          {},
          text`with batch as materialized (delete from ${archiveRequests} where ${isInRange}
              returning ${archiveRequests.requestId}, ${archiveRequests.hasEvents}),
            marked as (update ${requests} set ${nameOf(requests.archivedMonths)} = case
                when batch.has_events and not coalesce(${requests.archivedMonths} @> array[${archive.month}::text], false)
                  then array_append(${requests.archivedMonths}, ${archive.month}::text)
                else coalesce(${requests.archivedMonths}, '{}') end
              from batch where ${requests.requestId} = batch.request_id returning ${requests.requestId}, ${requests.updatedAtMs}),
            unlisted as (delete from ${requestHistory} using marked where ${requestHistory.requestId} = marked.${nameOf(requests.requestId)}
              and marked.${nameOf(requests.updatedAtMs)} < ${archive.paymentsBeforeMs})
            update ${slots} set ${nameOf(slots.callData)} = ${NO_CALL_DATA} from batch
              where ${slots.requestId} = batch.request_id and ${isEnded(archive)}`,
        );
      });
    },
    async setArchived(archive, nowMs) {
      await runSql(
        sql,
        {},
        text`update ${archives} set ${nameOf(archives.state)} = 'archived', ${nameOf(archives.finishedAtMs)} = ${nowMs} where ${isArchive(archive)}`,
      );
    },
  };
}
