import { sql as text, type SQL } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import type pg from "pg";
import { appFeesDue, feeReservations, holds } from "../../balances/reservations.tables.ts";
import { nameOf, namesOf, runSql } from "../../db/define-query.postgres.ts";
import type { Month } from "../../db/month.port.ts";
import { endOfMonth, monthAfter, monthOf, startOfMonth } from "../../db/month.ts";
import { sqlOn } from "../../db/pool.postgres.ts";
import { depositSweeps } from "../../deposits/addresses/deposit-addresses.tables.ts";
import { deposits } from "../../deposits/deposits.tables.ts";
import { fastFills } from "../../executions/fast-fills.tables.ts";
import { executions } from "../../payments/executions.tables.ts";
import { fillBurns, NO_CALL_DATA, slots } from "../../payments/payments.tables.ts";
import { sends } from "../../payments/sends.tables.ts";
import { webhookDeliveries } from "../../push/webhooks.tables.ts";
import {
  monthsInDefault,
  partitionedMonths,
  removeEvents,
  unlessLocked,
} from "../../requests/event-partitions.postgres.ts";
import { requestHistory } from "../../requests/history/history.tables.ts";
import { requestEvents, requests } from "../../requests/requests.tables.ts";
import { nonceMappings } from "../../settlement/nonce-mappings/nonce-mappings.tables.ts";
import { settlements } from "../../settlement/settlement.tables.ts";
import {
  archivedTables,
  type ArchivedTableName,
  type ArchiveStore,
  type BegunArchive,
} from "./archive.port.ts";
import { archiveRequests, archives } from "./archive.tables.ts";

/**
 * Rows of one statement of an export. A payment has up to 256 kB of call data (nodes refuse transactions
 * above 128 kB), so 100 payments are at most 26 MB. Other rows have a few kB.
 */
const PAGE: Readonly<Record<ArchivedTableName, number>> = {
  request_events: 2_000,
  request_history: 2_000,
  slots: 100,
};
/** A younger payment is left alone: it may be signed but not committed yet. */
const SETTLES_WITHIN_MS = 86_400_000;

const openOf = (column: SQL.Aliased | SQL, from: SQL): SQL =>
  text`select ${column} as request_id from ${from}`;

/**
 * Requests with unfinished rows, whatever their state. Each part reads a partial index of open rows, which is
 * small even if the table is large. An instance without settlements does not settle.
 */
const OPEN = text.join(
  [
    openOf(text`${slots.requestId}`, text`${slots} where ${slots.state} in ('open', 'mined')`),
    openOf(
      text`${slots.requestId}`,
      text`${slots} where ${slots.state} = 'final' and not ${slots.settlementNoted} and exists (select from ${settlements})`,
    ),
    openOf(text`${settlements.requestId}`, text`${settlements} where ${settlements.state} = 'due'`),
    openOf(text`${settlements.requestId}`, text`${settlements} where ${settlements.state} = 'attested'`),
    openOf(
      text`${deposits.requestId}`,
      text`${deposits} where ${deposits.disposition} = 'refund' and ${deposits.refundState} = 'none'`,
    ),
    openOf(text`${deposits.requestId}`, text`${deposits} where ${deposits.refundWaits} is not null`),
    openOf(
      text`${deposits.requestId}`,
      text`${deposits} where ${deposits.disposition} = 'unattributed' and ${deposits.requestId} is not null
        and ${deposits.canonical} and ${deposits.refundState} = 'none'`,
    ),
    openOf(text`${deposits.requestId}`, text`${deposits} where ${deposits.mappingUntilMs} is not null`),
    openOf(text`${deposits.requestId}`, text`${deposits} where ${deposits.unrepaidAtMs} is not null`),
    openOf(
      text`${depositSweeps.requestId}`,
      text`${depositSweeps} where ${depositSweeps.state} in ('planned', 'sent', 'mined')`,
    ),
    openOf(text`${sends.requestId}`, text`${sends} where not ${sends.settled}`),
    openOf(text`${executions.requestId}`, text`${executions} where not ${executions.settled}`),
    openOf(
      text`${fastFills.requestId}`,
      text`${fastFills} where (${fastFills.coverState} = 'due') or ((${fastFills.revertedGasUsd} > 0) and (not ${fastFills.revertedGasCharged}))`,
    ),
    openOf(text`${fillBurns.requestId}`, text`${fillBurns} where ${fillBurns.unpaidWei} > 0`),
    openOf(text`${holds.requestId}`, text`${holds} where ${holds.state} = 'active'`),
    openOf(
      text`${feeReservations.requestId}`,
      text`${feeReservations} where ${feeReservations.state} = 'open'`,
    ),
    openOf(text`${appFeesDue.requestId}`, text`${appFeesDue}`),
    openOf(
      text`${nonceMappings.requestId}`,
      text`${nonceMappings} where ${nonceMappings.state} in ('stored', 'signed')`,
    ),
    openOf(
      text`${webhookDeliveries.requestId}`,
      text`${webhookDeliveries} where ${webhookDeliveries.state} = 'waiting'`,
    ),
  ],
  text` union `,
);

/** A refund that needs the operator, or one in progress. Dust that is never refunded does not count. */
const isRefundOpen = text`exists (select from ${deposits} where ${deposits.requestId} = candidate.request_id
  and (${deposits.refundState} = 'sent' or (${deposits.refundState} = 'impossible'
    and ${deposits.refundFailReason} is distinct from 'AMOUNT_TOO_LOW_TO_REFUND')))`;

/** Whether the request itself ended long enough ago. */
const isOver = (month: Month, untouchedSinceMs: number): SQL => text`(${requests.requestId} is null
  or ((${requests.final} or ${requests.state} = 'expired')
    and ${requests.createdAtMs} < ${endOfMonth(month)} and ${requests.updatedAtMs} < ${untouchedSinceMs}
    and not ${requests.fundsSeen} and not ${requests.fundsHeld} and ${requests.front} <> 'held'
    and not (${requests.front} = 'debited' and ${requests.depositId} is null)))`;

const isOfMonth = (column: SQL, month: Month): SQL =>
  text`${column} >= ${startOfMonth(month)} and ${column} < ${endOfMonth(month)}`;

/**
 * Parts of a `with`: `judged` has every request with a row in this month, whether it is finished in
 * every part, and whether it has events in this month.
 */
const judged = (month: Month, untouchedSinceMs: number): SQL => text`
  open as materialized (${OPEN}),
  candidate as (
    select request_id, bool_or(has_events) as has_events from (
      select ${requestHistory.requestId}, false as has_events from ${requestHistory}
      where ${isOfMonth(text`${requestHistory.createdAtMs}`, month)}
      union all select ${requestEvents.requestId}, true from ${requestEvents}
      where ${isOfMonth(text`${requestEvents.atMs}`, month)}) as mentioned group by request_id),
  judged as (
    select candidate.request_id, candidate.has_events, ${isOver(month, untouchedSinceMs)} and open.request_id is null and not ${isRefundOpen} as is_over
    from candidate left join ${requests} on ${requests.requestId} = candidate.request_id
      left join open on open.request_id = candidate.request_id)`;

const isChosen = (column: SQL): SQL =>
  text`exists (select from ${archiveRequests} where ${archiveRequests.requestId} = ${column})`;
/** Payments that ended, whose call data the archive removes. */
const isEnded = ({ paymentsBeforeMs }: BegunArchive): SQL =>
  text`${slots.state} in ('final', 'dead') and ${slots.createdAtMs} < ${paymentsBeforeMs}
    and ${slots.callData} not in ('0x', ${NO_CALL_DATA})`;

/** The last row of a page; the next page starts after it. */
interface PageEnd {
  readonly requestId: string;
  readonly id: number;
}
/** Before every row, because ids start at 1. */
const START: PageEnd = { requestId: "", id: 0 };

/**
 * The rows of a table that move with each request, after the end of the last page. `offset 0` keeps this join
 * order: a merge join would begin each page at the first row, and a hash join would read all remaining rows.
 */
const archivedAfter = (table: PgTable, isMoved: SQL, id: SQL, end: PageEnd): SQL => text`
  ${archiveRequests} cross join lateral (select * from ${table} where ${isMoved} offset 0) as ${table}
  where ${archiveRequests.requestId} >= ${end.requestId} and (${archiveRequests.requestId} > ${end.requestId} or ${id} > ${end.id})`;

/**
 * The next rows of each table, in index order, so that a page costs the same wherever it starts. Events are
 * read in the order they were written; the other tables also contain rows that stay.
 */
const rowsOf: Readonly<Record<ArchivedTableName, (archive: BegunArchive, end: PageEnd) => SQL>> = {
  request_events: ({ month }, end) => text`
    select ${requestEvents.requestId} as request_id, ${requestEvents.id} as id, row_to_json(${requestEvents})::text as row
    from ${requestEvents}
    where ${isOfMonth(text`${requestEvents.atMs}`, month)} and ${requestEvents.id} > ${end.id} and ${isChosen(text`${requestEvents.requestId}`)}
    order by ${requestEvents.id}`,
  request_history: (_, end) => text`
    select ${archiveRequests.requestId} as request_id, ${requestHistory.n} as id, row_to_json(${requestHistory})::text as row
    from ${archivedAfter(requestHistory, text`${requestHistory.requestId} = ${archiveRequests.requestId}`, text`${requestHistory.n}`, end)}
    order by ${archiveRequests.requestId}, ${requestHistory.n}`,
  slots: (archive, end) => text`
    select ${archiveRequests.requestId} as request_id, ${slots.id} as id, row_to_json(${slots})::text as row
    from ${archivedAfter(slots, text`${slots.requestId} = ${archiveRequests.requestId} and ${isEnded(archive)}`, text`${slots.id}`, end)}
    order by ${archiveRequests.requestId}, ${slots.id}`,
};

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
      // The connection may be the reason.
      await client.query("rollback").catch(() => undefined);
      throw error;
    }
  };
  const isThis = ({ month, part }: Pick<BegunArchive, "month" | "part">): SQL =>
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
  // Each page is its own transaction: one for the whole export would keep vacuum from removing dead
  // rows of busy tables for as long as the files take.
  async function* batches(
    table: ArchivedTableName,
    archive: BegunArchive,
  ): AsyncGenerator<readonly string[]> {
    for (let end = START; ;) {
      const page = await runSql(
        sql,
        { requestId: String, id: Number, row: String },
        text`${rowsOf[table](archive, end)} limit ${PAGE[table]}`,
      );
      const last = page.at(-1);
      if (last === undefined) return;
      yield page.map(({ row }) => row);
      end = last;
    }
  }

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
        text`with ${judged(month, untouchedSinceMs)}
          select count(*) filter (where is_over and ${requestHistory.requestId} is not null) as requests, count(*) filter (where not is_over) as open,
            (select count(*) from ${requestEvents} join judged ended on ended.request_id = ${requestEvents.requestId} and ended.is_over
              where ${isOfMonth(text`${requestEvents.atMs}`, month)}) as events
          from judged left join ${requestHistory} on ${requestHistory.requestId} = judged.request_id`,
      );
      return { month, ...(row ?? { requests: 0, open: 0, events: 0 }) };
    },
    unfinished,
    async begin(month, untouchedSinceMs, nowMs) {
      const chosen = await inTransaction(async () => {
        const [row] = await runSql(
          sql,
          { count: Number },
          text`with ${judged(month, untouchedSinceMs)},
            chosen as (insert into ${archiveRequests} (${namesOf(archiveRequests.requestId, archiveRequests.hasEvents)})
              select request_id, has_events from judged where is_over returning 1),
            begun as (insert into ${archives} (${namesOf(archives.month, archives.part, archives.state, archives.paymentsBeforeMs, archives.startedAtMs)})
              select ${month}, (select coalesce(max(${archives.part}), 0) + 1 from ${archives} where ${archives.month} = ${month}), 'exporting',
                ${nowMs - SETTLES_WITHIN_MS}, ${nowMs}
              where exists (select from judged where is_over))
            select count(*) as count from chosen`,
        );
        return row?.count ?? 0;
      });
      if (chosen === 0) return undefined;
      await runSql(sql, {}, text`analyze ${archiveRequests}`);
      return await unfinished();
    },
    async read(archive, write) {
      for (const table of archivedTables) await write(table, batches(table, archive));
    },
    async setExported(archive, folder, sha256, tables) {
      await runSql(
        sql,
        {},
        text`update ${archives} set ${nameOf(archives.state)} = 'exported', ${nameOf(archives.folder)} = ${folder},
          ${nameOf(archives.manifestSha256)} = ${sha256}, ${nameOf(archives.tables)} = ${JSON.stringify(tables)}
          where ${isThis(archive)} and ${archives.state} = 'exporting'`,
      );
    },
    async removeEvents({ month }) {
      return await unlessLocked(() =>
        inTransaction(() =>
          removeEvents(client, month, text`not ${isChosen(text`${requestEvents.requestId}`)}`),
        ),
      );
    },
    async removeRequests(archive, limit) {
      const next = text`select ${archiveRequests.requestId} from ${archiveRequests} order by 1 limit ${limit}`;
      return await inTransaction(async () => {
        // Changes of a request lock it first. In another order, the two could deadlock.
        await runSql(
          sql,
          {},
          text`select from ${requests} where ${requests.requestId} in (${next}) order by ${requests.requestId} for no key update`,
        );
        const [row] = await runSql(
          sql,
          { count: Number },
          text`with batch as materialized (
              select ${archiveRequests.requestId}, ${archiveRequests.hasEvents} from ${archiveRequests} order by 1 limit ${limit}),
            marked as (update ${requests} set ${nameOf(requests.archivedMonths)} = case
                when batch.has_events and not coalesce(${requests.archivedMonths} @> array[${archive.month}::text], false)
                  then array_append(${requests.archivedMonths}, ${archive.month}::text)
                else coalesce(${requests.archivedMonths}, '{}') end
              from batch where ${requests.requestId} = batch.request_id),
            unlisted as (delete from ${requestHistory} using batch, ${requests} where ${requestHistory.requestId} = batch.request_id
              and ${requests.requestId} = batch.request_id
              and ${requests.updatedAtMs} < ${archive.paymentsBeforeMs}),
            emptied as (update ${slots} set ${nameOf(slots.callData)} = ${NO_CALL_DATA} from batch
              where ${slots.requestId} = batch.request_id and ${isEnded(archive)}),
            gone as (delete from ${archiveRequests} using batch where ${archiveRequests.requestId} = batch.request_id returning 1)
            select count(*) as count from gone`,
        );
        return row?.count ?? 0;
      });
    },
    async setArchived(archive, nowMs) {
      await runSql(
        sql,
        {},
        text`update ${archives} set ${nameOf(archives.state)} = 'archived', ${nameOf(archives.finishedAtMs)} = ${nowMs} where ${isThis(archive)}`,
      );
    },
  };
}
