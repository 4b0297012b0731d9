import { sql as text } from "drizzle-orm";
import type { AcceptedCall } from "./executions.port.ts";
import { storeAnnouncements } from "../db/announcements.postgres.ts";
import { outbox } from "../db/db.tables.ts";
import {
  nameOf,
  namesOf,
  recordset,
  rowsJson,
  type Params,
  defineSqlWrite,
} from "../db/define-query.postgres.ts";
import { OUTBOX_CHANNEL } from "../db/outbox.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { listRequests } from "../requests/history/history-writes.postgres.ts";
import { requestEvents, requests } from "../requests/requests.tables.ts";
import { termsToJson } from "../requests/terms-json.postgres.ts";
import { NEW_EXECUTION, newExecutionRow } from "./execution-rows.postgres.ts";
import { executions } from "./executions.tables.ts";

/** The columns written for a call. Its execution also provides the request's id, origin chain and time. */
const CALL = {
  orderId: requests.orderId,
  kind: requests.kind,
  state: requests.state,
  destinationChainId: requests.destinationChainId,
  fillDeadlineMs: requests.fillDeadlineMs,
  terms: requests.terms,
  event: requestEvents.event,
  detail: requestEvents.detail,
  jobName: outbox.jobName,
  jobId: outbox.jobId,
  payload: outbox.payload,
  ...NEW_EXECUTION,
};
const insert = defineSqlWrite(
  "accepted_calls_insert",
  (p: Params<{ calls: string }>) => {
    const { requestId, orderId, kind, state, destinationChainId, fillDeadlineMs, terms } = requests;
    const { jobName, jobId, payload } = outbox;
    const created = nameOf(executions.createdAtMs);
    const executionNames = namesOf(...Object.values(NEW_EXECUTION));
    const requestNames = namesOf(requestId, orderId, kind, state, destinationChainId, fillDeadlineMs, terms);
    return text`
      with calls as (select * from ${recordset(p.calls, CALL)}),
      stored as (insert into ${requests} (${requestNames}, ${namesOf(requests.originChainId, requests.createdAtMs, requests.updatedAtMs)})
        select ${requestNames}, ${nameOf(executions.chainId)}, ${created}, ${created} from calls),
      noted as (
        insert into ${requestEvents} (${namesOf(requestEvents.requestId, requestEvents.event, requestEvents.detail, requestEvents.atMs)})
        select ${namesOf(requestEvents.requestId, requestEvents.event, requestEvents.detail)}, ${created} from calls),
      added as (insert into ${executions} (${executionNames}) select ${executionNames} from calls),
      queued as (insert into ${outbox} (${namesOf(jobName, jobId, payload, outbox.createdAtMs)})
        select ${namesOf(jobName, jobId, payload)}, ${created} from calls returning ${outbox.id})
      ${storeAnnouncements(text`select ${text.raw(`'${OUTBOX_CHANNEL}'`)}, '' where exists (select from queued)`)}`;
  },
  { announces: true },
);

/**
 * Stores calls that were accepted together: the request, trace, execution and job of each.
 * @throws if one of them is already stored
 */
export async function insertAcceptedCalls(sql: Sql, calls: readonly AcceptedCall[]): Promise<void> {
  const rows = calls.map(({ terms, state, event, detail, job, execution }) => ({
    orderId: terms.orderId,
    kind: terms.kind,
    state: state.name,
    destinationChainId: terms.destination.chainId,
    fillDeadlineMs: terms.fillDeadlineMs,
    terms: termsToJson(terms),
    event,
    detail,
    jobName: job.job,
    jobId: job.jobId,
    payload: job.payload,
    ...newExecutionRow(execution),
  }));
  await insert(sql, { calls: rowsJson(CALL, rows) });
  await listRequests(
    sql,
    calls.map(({ terms, state }) => ({ terms, state: state.name, isFastFill: false })),
  );
}
