import { sql as text, type SQL } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import { nameOf, runSql } from "../../db/define-query.postgres.ts";
import type { Sql } from "../../db/pool.postgres.ts";
import { NO_CALL_DATA, slots } from "../../payments/payments.tables.ts";
import { requestHistory } from "../../requests/history/history.tables.ts";
import { requestEvents } from "../../requests/requests.tables.ts";
import type { ArchivedTableName, BegunArchive, Range, RowPage } from "./archive.port.ts";
import { archiveRequests } from "./archive.tables.ts";
import { isOfMonth } from "./archived-requests.postgres.ts";

/** Payments of one page. */
const PAGE_ROWS = 2_000;
/** Bytes of call data after which a page ends; its last payment adds at most 256 kB. */
const PAGE_BYTES = 16 * 1024 * 1024;

/** Payments that ended and whose call data the archive removes. */
export const isEnded = ({ paymentsBeforeMs }: BegunArchive): SQL =>
  text`${slots.state} in ('final', 'dead') and ${slots.createdAtMs} < ${paymentsBeforeMs}
    and ${slots.callData} not in ('0x', ${NO_CALL_DATA})`;

export const isIn = (column: SQL, { after, through }: Range): SQL =>
  text`${column} > ${after} and ${column} <= ${through}`;

/** The end of a page: the position of a request, and the id of one of its rows. */
interface PageEnd {
  readonly n: number;
  readonly id: number;
}
const START: PageEnd = { n: 0, id: 0 };

/** A page, and where the next one begins: undefined if it was the last. */
interface FoundPage extends RowPage {
  readonly end: PageEnd | undefined;
}
type ReadPage = (sql: Sql, archive: BegunArchive, range: Range, start: PageEnd) => Promise<FoundPage>;

/** The database joins the lines: reading each row by itself here would take longer than compressing it. */
const LINES = text`count(*) as count, string_agg(row_to_json(row)::text, e'\n') as lines`;

/**
 * The rows of a table that move with each request. The offset keeps the two tables in this order: a hash join
 * would read the whole table for each range.
 */
const movedWith = (table: PgTable, isMoved: SQL): SQL =>
  text`${archiveRequests} cross join lateral (select * from ${table} where ${isMoved} offset 0) as ${table}`;

/** Reads a range as one page. */
const inOnePage =
  (rowsOf: (archive: BegunArchive, range: Range) => SQL): ReadPage =>
  async (sql, archive, range) => {
    const [page] = await runSql(
      sql,
      { count: Number, lines: String },
      text`select ${LINES} from (${rowsOf(archive, range)}) as page`,
    );
    return { count: page?.count ?? 0, lines: page?.lines ?? "", end: undefined };
  };

/**
 * Reads events in the order in which they were written. The events of a request are close to each other, so
 * its id is looked up once for all of them.
 */
const readEvents = inOnePage(
  ({ month }, range) => text`with written as materialized (select * from ${requestEvents}
      where ${isOfMonth(text`${requestEvents.atMs}`, month)} and ${isIn(text`${requestEvents.id}`, range)}),
    chosen as materialized (select mentioned.id from (select distinct ${nameOf(requestEvents.requestId)} as id from written) as mentioned cross join lateral (
      select from ${archiveRequests} where ${archiveRequests.requestId} = mentioned.id offset 0) as found)
    select written as row from written join chosen on chosen.id = written.${nameOf(requestEvents.requestId)}`,
);

const readHistory = inOnePage(
  (_, range) => text`select ${requestHistory} as row
    from ${movedWith(requestHistory, text`${requestHistory.requestId} = ${archiveRequests.requestId}`)}
    where ${isIn(text`${archiveRequests.n}`, range)}`,
);

/** Reads payments in pages, because their call data may be large. */
const readSlots: ReadPage = async (sql, archive, range, start) => {
  const [page] = await runSql(
    sql,
    { count: Number, lines: String, n: Number, id: Number, bytes: Number },
    text`select ${LINES}, max(n) as n, (max(array[n, id]))[2] as id, sum(bytes) as bytes from (
      select *, sum(bytes) over (order by n, id) - bytes as bytes_before from (
        select ${archiveRequests.n} as n, ${slots.id} as id, octet_length(${slots.callData}) as bytes, ${slots} as row
        from ${movedWith(slots, text`${slots.requestId} = ${archiveRequests.requestId} and ${isEnded(archive)}`)}
        where ${isIn(text`${archiveRequests.n}`, range)} and ${archiveRequests.n} >= ${start.n}
          and (${archiveRequests.n} > ${start.n} or ${slots.id} > ${start.id})
        order by ${archiveRequests.n}, ${slots.id} limit ${PAGE_ROWS}) as found) as measured
      where bytes_before < ${PAGE_BYTES}`,
  );
  const { count, lines, n, id, bytes } = page ?? { count: 0, lines: "", ...START, bytes: 0 };
  return { count, lines, end: count < PAGE_ROWS && bytes < PAGE_BYTES ? undefined : { n, id } };
};

const readers: Readonly<Record<ArchivedTableName, ReadPage>> = {
  request_events: readEvents,
  request_history: readHistory,
  slots: readSlots,
};

/** Each page is its own statement: one snapshot for the whole export would keep dead rows from vacuum. */
export async function* readRows(
  sql: Sql,
  archive: BegunArchive,
  table: ArchivedTableName,
  range: Range,
): AsyncGenerator<RowPage> {
  for (let start: PageEnd | undefined = START; start !== undefined;) {
    const page: FoundPage = await readers[table](sql, archive, range, start);
    if (page.count > 0) yield page;
    start = page.end;
  }
}
