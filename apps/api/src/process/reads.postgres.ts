import type { RequestId } from "@causeway/domain";
import type { Reads } from "../db/reads.port.ts";
import { depositReads } from "../deposits/deposit-reads.postgres.ts";
import { trailReads } from "../deposits/trail-reads.postgres.ts";
import { overdueFastFillReads } from "../executions/overdue-fast-fills.postgres.ts";
import { fastFillsDue, findFastFill } from "../executions/fast-fills.postgres.ts";
import { EXECUTION_COLUMNS, executionOf } from "../payments/execution-rows.postgres.ts";
import type { ExecutionRow } from "../payments/execution-rows.postgres.ts";
import { statement } from "../db/pool.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { watchServer, type ServerWatch } from "../db/server-watch.postgres.ts";
import { withoutJob } from "../db/job-runs.postgres.ts";
import { railReads } from "../payments/rail-rows.postgres.ts";
import { laneReads } from "../payments/lane-reads.postgres.ts";
import { fillBurnReads } from "../payments/fill-burns.postgres.ts";
import { sendReads } from "../payments/send-reads.postgres.ts";
import { requestReads } from "../requests/request-reads.postgres.ts";
import { waitingReads } from "../requests/waiting-requests.postgres.ts";

const unpaidClaimOf = statement(
  "read_unpaid_claim_of",
  `select claim_id from claims where state in ('offered', 'paying') and chain_id = $1 and currency = $2 and recipient = $3 and amount = $4
   order by state desc limit 1`,
);
const lostFill = withoutJob("fill", "r.request_id", "coalesce(r.state_since_ms, r.updated_at_ms)");
const lostFees = withoutJob("fill", "f.request_id", "f.since_ms");
const overdueFills = statement(
  "read_overdue_fills",
  `(select request_id from requests r ${lostFill.join}
     where state in ('fillable', 'filling') and coalesce(state_since_ms, updated_at_ms) < $1 and ${lostFill.isLost}
     order by ${lostFill.order} limit $2)
   union all
   (select request_id from app_fees_due f ${lostFees.join} where since_ms < $1 and ${lostFees.isLost} order by ${lostFees.order} limit $2)`,
);
const execution = statement(
  "read_execution",
  `select ${EXECUTION_COLUMNS} from executions where request_id = $1`,
);
const unsettledExecutionOf = statement(
  "read_unsettled_execution_of_call",
  `select request_id from executions where not settled and chain_id = $1 and call_to = $2 and call_data = $3 and call_value = $4
   order by created_at_ms limit 1`,
);
const lostExecution = withoutJob("execute", "e.request_id", "e.created_at_ms");
const overdueExecutions = statement(
  "read_overdue_executions",
  `select e.request_id from executions e ${lostExecution.join}
   where not e.settled and e.origin_usd is null and e.created_at_ms < $1 and ${lostExecution.isLost}
     and not exists (select from slots s where s.leg_kind = 'execution' and s.leg_id = e.request_id and s.state <> 'dead')
   order by ${lostExecution.order} limit $2`,
);
// Whatever else was to happen because of it will not happen any more.
const endedExecutions = statement(
  "read_ended_executions",
  `select e.request_id from executions e join requests r on r.request_id = e.request_id
   where not e.settled and e.origin_usd is not null
     and (r.state in ('expired', 'refunded', 'failed') or (r.state = 'filled' and r.final))
   order by e.created_at_ms limit $1`,
);

/**
 * Reads on a Postgres pool.
 * @param servers shared with the unit of work, which gives the nonces
 */
export function postgresReads(sql: Sql, servers: ServerWatch = watchServer()): Reads {
  return {
    ...requestReads(sql),
    ...depositReads(sql),
    ...trailReads(sql),
    ...laneReads(sql, servers),
    ...overdueFastFillReads(sql),
    ...railReads(sql),
    ...sendReads(sql),
    ...fillBurnReads(sql),
    ...waitingReads(sql),
    async unpaidClaimOf(chainId, { currency, recipient, amount }) {
      const values = [chainId, currency, recipient, amount];
      return (await sql.query<{ claim_id: string }>(unpaidClaimOf, values))[0]?.claim_id;
    },
    async overdueFills({ sinceBeforeMs, nowMs }, limit) {
      const rows = await sql.query<{ request_id: string }>(overdueFills, [sinceBeforeMs, limit, nowMs]);
      return rows.map((row) => row.request_id as RequestId);
    },
    fastFill: (requestId) => findFastFill(sql, requestId),
    fastFillsDue: (limit) => fastFillsDue(sql, limit),
    async execution(requestId) {
      const [row] = await sql.query<ExecutionRow>(execution, [requestId]);
      return row && executionOf(row);
    },
    async unsettledExecutionOf(chainId, { to, data, value }) {
      const [row] = await sql.query<{ request_id: string }>(unsettledExecutionOf, [chainId, to, data, value]);
      return row && (row.request_id as RequestId);
    },
    async overdueExecutions({ sinceBeforeMs, nowMs }, limit) {
      const rows = await sql.query<{ request_id: string }>(overdueExecutions, [sinceBeforeMs, limit, nowMs]);
      return rows.map((row) => row.request_id as RequestId);
    },
    async endedExecutions(limit) {
      const rows = await sql.query<{ request_id: string }>(endedExecutions, [limit]);
      return rows.map((row) => row.request_id as RequestId);
    },
  };
}
