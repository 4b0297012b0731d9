import type { Address, Hex, RequestId } from "@causeway/domain";
import { sql as text } from "drizzle-orm";
import type { Reads } from "../db/reads.port.ts";
import { defineQuery, defineSql, type Params } from "../db/define-query.postgres.ts";
import { lostJob } from "../db/job-runs.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { readByKey } from "../db/read-by-key.ts";
import { requests } from "../requests/requests.tables.ts";
import { executionOf } from "./execution-rows.postgres.ts";
import { executions } from "./executions.tables.ts";
import { slots } from "./payments.tables.ts";

const byIds = defineQuery(
  "read_executions",
  (db, { requestIds }: Params<{ requestIds: readonly RequestId[] }>) =>
    db
      .select()
      .from(executions)
      .where(text`${executions.requestId} = any(${requestIds}::text[])`),
);
const ID = { requestId: executions.requestId };
const unsettledOfCall = defineSql(
  "read_unsettled_execution_of_call",
  ID,
  (p: Params<{ chainId: number; to: Address; data: Hex; value: bigint }>) => text`
    select ${executions.requestId} from ${executions}
    where not ${executions.settled} and ${executions.chainId} = ${p.chainId} and ${executions.callTo} = ${p.to}
      and ${executions.callData} = ${p.data} and ${executions.callValue} = ${p.value}
    order by ${executions.createdAtMs} limit 1`,
);
const overdue = defineSql(
  "read_overdue_executions",
  ID,
  (p: Params<{ sinceBeforeMs: number; nowMs: number; limit: number }>) => {
    const since = text`${executions.createdAtMs}`;
    const lost = lostJob("execute", text`${executions.requestId}`, since, p.nowMs);
    return text`select ${executions.requestId} from ${executions} ${lost.join}
      where not ${executions.settled} and ${executions.originUsd} is null and ${since} < ${p.sinceBeforeMs} and ${lost.isLost}
        and not exists (select from ${slots} where ${slots.legKind} = 'execution' and ${slots.legId} = ${executions.requestId}
          and ${slots.state} <> 'dead')
      order by ${lost.order} limit ${p.limit}`;
  },
);
// No further event will settle these.
const ended = defineSql(
  "read_ended_executions",
  ID,
  ({ limit }: Params<{ limit: number }>) => text`
    select ${executions.requestId} from ${executions} join ${requests} on ${requests.requestId} = ${executions.requestId}
    where not ${executions.settled} and ${executions.originUsd} is not null
      and (${requests.state} in ('expired', 'refunded', 'failed') or (${requests.state} = 'filled' and ${requests.final}))
    order by ${executions.createdAtMs} limit ${limit}`,
);

type ExecutionReads = Pick<
  Reads,
  "execution" | "unsettledExecutionOf" | "overdueExecutions" | "endedExecutions"
>;

/** Executions, on a Postgres pool. */
export function executionReads(sql: Sql): ExecutionReads {
  return {
    execution: readByKey(
      async (requestIds) => (await byIds(sql, { requestIds })).map(executionOf),
      ({ requestId }) => requestId,
    ),
    unsettledExecutionOf: async (chainId, { to, data, value }) =>
      (await unsettledOfCall(sql, { chainId, to, data, value }))[0]?.requestId,
    overdueExecutions: async ({ sinceBeforeMs, nowMs }, limit) =>
      (await overdue(sql, { sinceBeforeMs, nowMs, limit })).map(({ requestId }) => requestId),
    endedExecutions: async (limit) => (await ended(sql, { limit })).map(({ requestId }) => requestId),
  };
}
