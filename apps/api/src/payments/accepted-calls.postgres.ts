import type { AcceptedCall } from "./executions.port.ts";
import { NEW_EXECUTION_COLUMNS, newExecutionJson } from "./execution-rows.postgres.ts";
import { OUTBOX_CHANNEL } from "../db/outbox.postgres.ts";
import { announcing } from "../db/announcements.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { termsToJson } from "../requests/terms-json.postgres.ts";

const insert = announcing(
  "accepted_calls_insert",
  `with calls as (select * from json_to_recordset($1::json) as c (order_id text, kind text, state text, destination_chain_id bigint,
       fill_deadline_ms bigint, terms text, event text, detail text, job_name text, job_id text, payload text,
       request_id text, key_id text, wallet text, question_hash text, chain_id bigint, call_to text, call_data text, call_value numeric,
       call_authorizations text, gas_limit bigint, max_fee_per_gas numeric, coin_usd numeric, sale_price_usd numeric, flat_usd numeric, destination text,
       user_address text, target text, day integer, cost_usd numeric, created_at_ms bigint)),
   known as (insert into requests (request_id, order_id, kind, state, origin_chain_id, destination_chain_id, created_at_ms, updated_at_ms,
       fill_deadline_ms, terms)
     select request_id, order_id, kind, state, chain_id, destination_chain_id, created_at_ms, created_at_ms, fill_deadline_ms, terms from calls),
   noted as (insert into request_events (request_id, at_ms, event, detail) select request_id, created_at_ms, event, detail from calls),
   added as (insert into executions (${NEW_EXECUTION_COLUMNS}) select ${NEW_EXECUTION_COLUMNS} from calls),
   queued as (insert into outbox (job_name, job_id, payload, created_at_ms)
     select job_name, job_id, payload, created_at_ms from calls returning id)`,
  `select '${OUTBOX_CHANNEL}', '' where exists (select from queued)`,
);

/**
 * Writes calls that were accepted together: of each its request, its trace, its execution and its job.
 *
 * @throws when any of them is known
 */
export async function insertAcceptedCalls(sql: Sql, calls: readonly AcceptedCall[]): Promise<void> {
  const rows = calls.map(({ terms, state, event, detail, job, execution }) => ({
    order_id: terms.orderId,
    kind: terms.kind,
    state: state.name,
    destination_chain_id: terms.destination.chainId,
    fill_deadline_ms: terms.fillDeadlineMs,
    terms: termsToJson(terms),
    event,
    detail: JSON.stringify(detail, plainAmounts),
    job_name: job.job,
    job_id: job.jobId,
    payload: JSON.stringify(job.payload),
    ...newExecutionJson(execution),
  }));
  await sql.query(insert, [JSON.stringify(rows, plainAmounts)]);
}

function plainAmounts(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}
