import type { RequestTerms } from "@causeway/domain";
import { statement } from "./pool.ts";
import type { Sql } from "./pool.ts";
import { termsToJson } from "./terms-json.ts";
import { tickBatcher } from "./tick-batcher.ts";

/**
 * Columns travel as joined text, not as arrays: in an array's text every quote of the terms would be escaped here and unescaped there.
 * Terms are parted by a character that JSON text never holds as it is; the other columns hold no comma.
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
 * Stores fresh quotes in groups: those of one event-loop turn go in one insert. The promise settles when the row is committed:
 * a quote that was answered can be found when its deposit comes.
 */
export function groupedQuoteInserts(sql: Sql): (terms: RequestTerms) => Promise<void> {
  return tickBatcher(
    async (batch: readonly RequestTerms[]) => {
      await sql.query(insertMany, columnsOf(batch));
      return batch.map(() => undefined);
    },
    { inFlight: 2, maxBatch: 200 },
  );
}

function columnsOf(batch: readonly RequestTerms[]): string[] {
  const column = (valueOf: (terms: RequestTerms) => string | number): string => batch.map(valueOf).join(",");
  return [
    column((terms) => terms.requestId),
    column((terms) => terms.orderId),
    column((terms) => terms.kind),
    column((terms) => terms.origin.chainId),
    column((terms) => terms.destination.chainId),
    column((terms) => terms.createdAtMs),
    column((terms) => terms.fillDeadlineMs),
    batch.map(termsToJson).join(SEPARATOR),
  ];
}
