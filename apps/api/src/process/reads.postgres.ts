import { claimReads } from "../balances/claim-reads.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import type { Reads } from "../db/reads.port.ts";
import { watchServer, type ServerWatch } from "../db/server-watch.postgres.ts";
import { depositReads } from "../deposits/deposit-reads.postgres.ts";
import { trailReads } from "../deposits/trail-reads.postgres.ts";
import { fastFillsDue, findFastFill } from "../executions/fast-fills.postgres.ts";
import { overdueFastFillReads } from "../executions/overdue-fast-fills.postgres.ts";
import { executionReads } from "../payments/execution-reads.postgres.ts";
import { fillBurnReads } from "../payments/fill-burns.postgres.ts";
import { laneReads } from "../payments/lane-reads.postgres.ts";
import { pauseStore } from "../payments/policy/policy.postgres.ts";
import { nonEvmReads } from "../payments/non-evm-rows.postgres.ts";
import { sendReads } from "../payments/send-reads.postgres.ts";
import { overdueFillReads } from "../requests/overdue-fills.postgres.ts";
import { requestReads } from "../requests/request-reads.postgres.ts";
import { waitingReads } from "../requests/waiting-requests.postgres.ts";

/**
 * The reads of all rooms, on a Postgres pool.
 * @param servers shared with the unit of work, which allocates the nonces
 */
export function postgresReads(sql: Sql, servers: ServerWatch = watchServer()): Reads {
  return {
    ...requestReads(sql),
    ...waitingReads(sql),
    ...overdueFillReads(sql),
    ...overdueFastFillReads(sql),
    ...depositReads(sql),
    ...trailReads(sql),
    ...laneReads(sql, servers),
    ...executionReads(sql),
    ...sendReads(sql),
    ...fillBurnReads(sql),
    ...nonEvmReads(sql),
    ...claimReads(sql),
    pauses: pauseStore(sql).list,
    fastFill: (requestId) => findFastFill(sql, requestId),
    fastFillsDue: (limit) => fastFillsDue(sql, limit),
  };
}
