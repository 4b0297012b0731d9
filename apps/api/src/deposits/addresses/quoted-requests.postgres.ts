import type { RequestTerms } from "@causeway/domain";
import { statement } from "../../db/pool.postgres.ts";
import type { Sql } from "../../db/pool.postgres.ts";
import { termsToJson } from "../../requests/terms-json.postgres.ts";
import { tickBatcher } from "../../db/tick-batcher.postgres.ts";

/**
 * Columns travel as joined text, not as arrays: in an array's text every quote of the terms would be escaped
 * here and unescaped there. Terms are parted by a character that JSON text never holds as it is; the other
 * columns hold no comma.
 */
const SEPARATOR = "\u001f";
const SQL_SEPARATOR = "chr(31)";

const insertMany = statement(
  "request_insert_many",
  `insert into requests (request_id, order_id, kind, state, origin_chain_id, destination_chain_id, created_at_ms, updated_at_ms,
     fill_deadline_ms, terms)
   select request_id, order_id, kind, 'quoted', origin_chain_id, destination_chain_id, created_at_ms, created_at_ms, fill_deadline_ms, terms
   from unnest(string_to_array($1, ','), string_to_array($2, ','), string_to_array($3, ','), string_to_array($4, ',')::bigint[],
     string_to_array($5, ',')::bigint[], string_to_array($6, ',')::bigint[], string_to_array($7, ',')::bigint[],
     string_to_array($8, ${SQL_SEPARATOR}))
     as t (request_id, order_id, kind, origin_chain_id, destination_chain_id, created_at_ms, fill_deadline_ms, terms)`,
);

/**
 * Stores fresh quotes in groups: those of one event-loop turn go in one insert. The promise settles when the
 * row is committed: a quote that was answered can be found when its deposit comes.
 */
export function groupedQuoteInserts(sql: Sql): (terms: RequestTerms) => Promise<void> {
  const insert = tickBatcher(
    async (rows: readonly QuoteRow[]) => {
      await sql.query(insertMany, columnsOf(rows));
      return rows.map(() => undefined);
    },
    { inFlight: 2, maxBatch: 200 },
  );
  // Written at once: what waits for its group is a few texts, and not the objects of the terms.
  return (terms) => insert(rowOf(terms));
}

/** A row: the values of {@link insertMany}'s parameters in their order, and its terms, which are the last. */
interface QuoteRow {
  readonly values: readonly (string | number)[];
  readonly terms: string;
}

function rowOf(terms: RequestTerms): QuoteRow {
  const { requestId, orderId, kind, origin, destination, createdAtMs, fillDeadlineMs } = terms;
  return {
    values: [requestId, orderId, kind, origin.chainId, destination.chainId, createdAtMs, fillDeadlineMs],
    terms: termsToJson(terms),
  };
}

function columnsOf(rows: readonly QuoteRow[]): string[] {
  const columns = (rows[0]?.values ?? []).map((_, at) => rows.map(({ values }) => values[at]).join(","));
  return [...columns, rows.map(({ terms }) => terms).join(SEPARATOR)];
}
