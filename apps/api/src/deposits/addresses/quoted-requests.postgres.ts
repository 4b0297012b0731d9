import type { RequestTerms } from "@causeway/domain";
import { sql as text } from "drizzle-orm";
import { namesOf, type Params, defineSqlWrite } from "../../db/define-query.postgres.ts";
import type { Sql } from "../../db/pool.postgres.ts";
import { tickBatcher } from "../../db/tick-batcher.ts";
import { requests } from "../../requests/requests.tables.ts";
import { termsToJson } from "../../requests/terms-json.postgres.ts";

interface QuoteRows extends Record<string, unknown> {
  readonly requestIds: readonly string[];
  readonly orderIds: readonly string[];
  readonly kinds: readonly string[];
  readonly originChainIds: readonly number[];
  readonly destinationChainIds: readonly number[];
  readonly createdAtMs: readonly number[];
  readonly fillDeadlinesMs: readonly number[];
  readonly keyIds: readonly (string | null)[];
  /** A JSON array. */
  readonly terms: string;
}
const insertMany = defineSqlWrite("request_insert_many", (p: Params<QuoteRows>) => {
  const {
    requestId,
    orderId,
    kind,
    originChainId,
    destinationChainId,
    createdAtMs,
    fillDeadlineMs,
    keyId,
    terms,
  } = requests;
  const columns = namesOf(
    requestId,
    orderId,
    kind,
    originChainId,
    destinationChainId,
    createdAtMs,
    fillDeadlineMs,
    keyId,
    terms,
  );
  return text`
    insert into ${requests} (${columns}, ${namesOf(requests.updatedAtMs, requests.state)})
    select ${columns}, ${namesOf(createdAtMs)}, 'quoted'
    from rows from (unnest(${p.requestIds}::text[], ${p.orderIds}::text[], ${p.kinds}::text[], ${p.originChainIds}::bigint[],
      ${p.destinationChainIds}::bigint[], ${p.createdAtMs}::bigint[], ${p.fillDeadlinesMs}::bigint[], ${p.keyIds}::text[]),
      json_array_elements(${p.terms}::json)) as q (${columns})`;
});

/**
 * Stores fresh quotes; those of one turn of the event loop are inserted together. The promise settles when
 * the row is committed, so that a deposit for a returned quote always finds it.
 */
export function groupedQuoteInserts(sql: Sql): (terms: RequestTerms) => Promise<void> {
  const insert = tickBatcher(
    async (rows: readonly QuoteRow[]) => {
      await insertMany(sql, {
        requestIds: rows.map(({ requestId }) => requestId),
        orderIds: rows.map(({ orderId }) => orderId),
        kinds: rows.map(({ kind }) => kind),
        originChainIds: rows.map(({ originChainId }) => originChainId),
        destinationChainIds: rows.map(({ destinationChainId }) => destinationChainId),
        createdAtMs: rows.map(({ createdAtMs }) => createdAtMs),
        fillDeadlinesMs: rows.map(({ fillDeadlineMs }) => fillDeadlineMs),
        keyIds: rows.map(({ keyId }) => keyId),
        // The type json keeps the text of its elements, so nothing has to be escaped again.
        terms: `[${rows.map((row) => row.terms).join(",")}]`,
      });
      return rows.map(() => undefined);
    },
    { inFlight: 2, maxBatch: 200 },
  );
  // Built at once, so that a waiting quote keeps only its row in memory, not the objects of its terms.
  return (terms) => insert(rowOf(terms));
}

function rowOf(terms: RequestTerms) {
  const { requestId, orderId, kind, createdAtMs, fillDeadlineMs } = terms;
  return {
    requestId,
    orderId,
    kind,
    originChainId: terms.origin.chainId,
    destinationChainId: terms.destination.chainId,
    createdAtMs,
    fillDeadlineMs,
    keyId: terms.keyId ?? null,
    terms: termsToJson(terms),
  };
}
type QuoteRow = ReturnType<typeof rowOf>;
