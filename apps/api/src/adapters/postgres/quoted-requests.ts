import type { RequestTerms } from "@causeway/domain";
import { statement } from "./pool.ts";
import type { Sql } from "./pool.ts";
import { termsToJson } from "./terms-json.ts";
import { tickBatcher } from "./tick-batcher.ts";

const insertMany = statement(
  "request_insert_many",
  `insert into requests (request_id, order_id, kind, state, origin_chain_id, destination_chain_id, created_at_ms, updated_at_ms,
     fill_deadline_ms, terms)
   select request_id, order_id, kind, 'quoted', origin_chain_id, destination_chain_id, created_at_ms, created_at_ms, fill_deadline_ms, terms
   from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::text[])
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

function columnsOf(batch: readonly RequestTerms[]): unknown[] {
  return [
    batch.map((terms) => terms.requestId),
    batch.map((terms) => terms.orderId),
    batch.map((terms) => terms.kind),
    batch.map((terms) => terms.origin.chainId),
    batch.map((terms) => terms.destination.chainId),
    batch.map((terms) => terms.createdAtMs),
    batch.map((terms) => terms.fillDeadlineMs),
    batch.map(termsToJson),
  ];
}
