import { sql as text, type SQL } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import { runSql } from "../../db/define-query.postgres.ts";
import type { Sql } from "../../db/pool.postgres.ts";
import { NO_CALL_DATA, slots } from "../../payments/payments.tables.ts";
import { requestHistory } from "../../requests/history/history.tables.ts";
import { requestEvents } from "../../requests/requests.tables.ts";
import type { ArchivedTableName, BegunArchive, Range, RowPage } from "./archive.port.ts";
import { archiveRequests } from "./archive.tables.ts";
import { isOfMonth } from "./archived-requests.postgres.ts";

const PAGE_ROWS = 2_000;
/** Call data of one page: it has one payment more than this (of 256 kB at most) and no further one. */
const PAGE_BYTES = 16 * 1024 * 1024;

/** Call data that the archive takes away: of payments that ended. */
export const isEnded = ({ paymentsBeforeMs }: BegunArchive): SQL =>
  text`${slots.state} in ('final', 'dead') and ${slots.createdAtMs} < ${paymentsBeforeMs}
    and ${slots.callData} not in ('0x', ${NO_CALL_DATA})`;

export const isIn = (column: SQL, { after, through }: Range): SQL =>
  text`${column} > ${after} and ${column} <= ${through}`;

/** The end of a page: a position, and the id of a row of its request. */
interface PageEnd {
  readonly n: number;
  readonly id: number;
}

/** A page, its end, and the bytes of its call data. */
interface FoundPage extends RowPage, PageEnd {
  readonly bytes: number;
}

/**
 * The rows of a table that move with each request, after the end of the last page. The offset keeps the two
 * tables in this order: a merge would begin each page at the first row, and a hash join would read all that
 * is left.
 */
const movedWith = (
  table: PgTable,
  isMoved: SQL,
  id: SQL,
  bytes: SQL,
  range: Range,
  end: PageEnd,
): SQL => text`
  select ${archiveRequests.n} as n, ${id} as id, ${bytes} as bytes, ${table} as row
  from ${archiveRequests} cross join lateral (select * from ${table} where ${isMoved} offset 0) as ${table}
  where ${isIn(text`${archiveRequests.n}`, range)} and ${archiveRequests.n} >= ${end.n} and (${archiveRequests.n} > ${end.n} or ${id} > ${end.id})
  order by ${archiveRequests.n}, ${id} limit ${PAGE_ROWS}`;

/**
 * The next rows of each table, in the order of an index, so that a page costs the same wherever it starts.
 * Events are read in the order in which they were written; the other tables also hold what stays.
 */
const rowsOf: Readonly<
  Record<ArchivedTableName, (archive: BegunArchive, range: Range, end: PageEnd) => SQL>
> = {
  request_events: ({ month }, range, end) => text`
    select 0 as n, ${requestEvents.id} as id, 0 as bytes, ${requestEvents} as row from ${requestEvents}
    where ${isOfMonth(text`${requestEvents.atMs}`, month)} and ${isIn(text`${requestEvents.id}`, range)} and ${requestEvents.id} > ${end.id}
      and exists (select from ${archiveRequests} where ${archiveRequests.requestId} = ${requestEvents.requestId})
    order by ${requestEvents.id} limit ${PAGE_ROWS}`,
  request_history: (_, range, end) =>
    movedWith(
      requestHistory,
      text`${requestHistory.requestId} = ${archiveRequests.requestId}`,
      text`${requestHistory.n}`,
      text`0`,
      range,
      end,
    ),
  slots: (archive, range, end) => text`select n, id, bytes, row from (
      select *, sum(bytes) over (order by n, id) - bytes as bytes_before from (${movedWith(
        slots,
        text`${slots.requestId} = ${archiveRequests.requestId} and ${isEnded(archive)}`,
        text`${slots.id}`,
        text`octet_length(${slots.callData})`,
        range,
        end,
      )}) as found) as measured where bytes_before < ${PAGE_BYTES}`,
};
/** The id at the end of a page. Other tables than that of payments have one row at each position, or id. */
const lastId: Readonly<Record<ArchivedTableName, SQL>> = {
  request_events: text`max(id)`,
  request_history: text`max(id)`,
  slots: text`(array_agg(id order by n desc, id desc))[1]`,
};

/** Each page is its own statement: one snapshot for the whole export would keep dead rows from vacuum. */
export async function* readRows(
  sql: Sql,
  archive: BegunArchive,
  table: ArchivedTableName,
  range: Range,
): AsyncGenerator<RowPage> {
  for (let end: PageEnd = { n: 0, id: 0 }; ;) {
    // The database joins the lines: reading each row by itself here would take longer than compressing it.
    const [page]: readonly FoundPage[] = await runSql(
      sql,
      { count: Number, lines: String, n: Number, id: Number, bytes: Number },
      text`select count(*) as count, string_agg(row_to_json(row)::text, e'\n') as lines, max(n) as n, ${lastId[table]} as id,
          sum(bytes) as bytes
        from (${rowsOf[table](archive, range, end)}) as page`,
    );
    if (page === undefined || page.count === 0) return;
    yield { count: page.count, lines: page.lines };
    if (page.count < PAGE_ROWS && page.bytes < PAGE_BYTES) return;
    end = page;
  }
}
