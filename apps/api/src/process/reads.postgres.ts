import type { Address, RequestId, TxHash } from "@causeway/domain";
import type { Slot } from "../db/records.port.ts";
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
import { ATTEMPT_COLUMNS, SLOT_COLUMNS, slotOf } from "../requests/rows.postgres.ts";
import type { AttemptRow, SlotRow } from "../requests/rows.postgres.ts";
import { fillBurnReads } from "../payments/fill-burns.postgres.ts";
import { sendReads } from "../payments/send-reads.postgres.ts";
import { requestReads } from "../requests/request-reads.postgres.ts";
import { waitingReads } from "../requests/waiting-requests.postgres.ts";

const givenNonces = statement(
  "read_given_nonces",
  "select nonce from slots where chain_id = $1 and sender = $2 and nonce >= $3 and nonce < $4",
);
const laneSenders = statement("read_lane_senders", "select sender from lanes where chain_id = $1");
const nonceUsers = statement(
  "read_nonce_users",
  "select nonce, tx_hash, pays from nonce_users where chain_id = $1 and sender = $2 and nonce >= $3 and nonce < $4",
);
// Once its rows are restored, its nonce has a slot.
const lostPayment = statement(
  "read_lost_payment",
  `select tx_hash from nonce_users u where (chain_id = $1 and pays = $2 or input_end = $4) and sender = any($3::text[])
     and not exists (select from slots s where s.chain_id = u.chain_id and s.sender = u.sender and s.nonce = u.nonce) limit 1`,
);
const lostPaymentOfOrder = statement(
  "read_lost_payment_of_order",
  `select chain_id, tx_hash from nonce_users u where input_end = $1 and sender = any($2::text[])
     and not exists (select from slots s where s.chain_id = u.chain_id and s.sender = u.sender and s.nonce = u.nonce) limit 1`,
);
const unpaidClaimOf = statement(
  "read_unpaid_claim_of",
  `select claim_id from claims where state in ('offered', 'paying') and chain_id = $1 and currency = $2 and recipient = $3 and amount = $4
   order by state desc limit 1`,
);
const slotOfLeg = statement(
  "read_slot_of_leg",
  `select ${SLOT_COLUMNS} from slots where leg_kind = $1 and leg_id = $2 and state <> 'dead'`,
);
const revertedSlotsOfLeg = statement(
  "read_reverted_slots_of_leg",
  `select ${SLOT_COLUMNS} from slots where leg_kind = $1 and leg_id = $2 and state = 'dead' and mined_status = 'reverted'`,
);
const slotById = statement("read_slot", `select ${SLOT_COLUMNS} from slots where id = $1`);
const unsettled = statement(
  "read_unsettled_slots",
  `select ${SLOT_COLUMNS} from slots where chain_id = $1 and sender = any($2::text[]) and state in ('open', 'mined') order by sender, nonce`,
);
const lane = statement(
  "read_lane",
  `select next_nonce, search_from, extract(epoch from pg_postmaster_start_time())::text as server, exists (select from slots s where s.chain_id = l.chain_id and s.sender = l.sender and s.state = 'open'
     and s.unexplained_confirmed) as has_unexplained
   from lanes l where l.chain_id = $1 and l.sender = $2`,
);
const hasLane = statement(
  "read_has_lane",
  "select exists (select 1 from lanes where chain_id = $1) as has_lane",
);
const attempts = statement(
  "read_attempts",
  `select ${ATTEMPT_COLUMNS} from attempts where slot_id = any($1::bigint[]) order by slot_id, n`,
);
const reservedOn = statement(
  "read_reserved_on",
  "select outflow_currency, sum(outflow_amount) as amount from slots where chain_id = $1 and state = 'open' and leg_kind <> 'execution' group by 1",
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

/** Reads on a Postgres pool. */
interface NonceUserRow {
  readonly nonce: number;
  readonly tx_hash: string;
  readonly pays: string | null;
}

interface LaneRow {
  readonly next_nonce: number;
  readonly has_unexplained: boolean;
  readonly search_from: number | null;
  readonly server: string;
}

/** @param servers shared with the unit of work, which gives the nonces */
export function postgresReads(sql: Sql, servers: ServerWatch = watchServer()): Reads {
  async function withAttempts(rows: readonly SlotRow[]): Promise<Slot[]> {
    if (rows.length === 0) return [];
    const found = await sql.query<AttemptRow>(attempts, [rows.map((row) => row.id)]);
    const bySlot = Map.groupBy(found, (attempt) => attempt.slot_id);
    return rows.map((row) => slotOf(row, bySlot.get(row.id) ?? []));
  }

  return {
    ...requestReads(sql),
    ...depositReads(sql),
    ...trailReads(sql),
    ...overdueFastFillReads(sql),
    ...railReads(sql),
    ...sendReads(sql),
    ...fillBurnReads(sql),
    ...waitingReads(sql),
    async slotOfLeg(kind, legId) {
      return (await withAttempts(await sql.query<SlotRow>(slotOfLeg, [kind, legId])))[0];
    },
    async revertedSlotsOfLeg(kind, legId) {
      return withAttempts(await sql.query<SlotRow>(revertedSlotsOfLeg, [kind, legId]));
    },
    async slot(slotId) {
      return (await withAttempts(await sql.query<SlotRow>(slotById, [slotId])))[0];
    },
    async lane(chainId, sender) {
      const [row] = await sql.query<LaneRow>(lane, [chainId, sender]);
      if (row === undefined) return undefined;
      const { next_nonce: nextNonce, has_unexplained: hasUnexplained, search_from: from } = row;
      const searchFrom = from === null ? undefined : BigInt(from);
      return { nextNonce, hasUnexplained, searchFrom, isServerNew: servers.isNew(row.server) };
    },
    async hasLane(chainId) {
      const [row] = await sql.query<{ has_lane: boolean }>(hasLane, [chainId]);
      return row?.has_lane === true;
    },
    async givenNonces(chainId, sender, from, to) {
      const rows = await sql.query<{ nonce: number }>(givenNonces, [chainId, sender, from, to]);
      return new Set(rows.map(({ nonce }) => nonce));
    },
    async laneSenders(chainId) {
      const rows = await sql.query<{ sender: string }>(laneSenders, [chainId]);
      return rows.map(({ sender }) => sender as Address);
    },
    async nonceUsers(chainId, sender, from, to) {
      const rows = await sql.query<NonceUserRow>(nonceUsers, [chainId, sender, from, to]);
      return new Map(
        rows.map(({ nonce, tx_hash: txHash, pays }) => [
          nonce,
          { txHash: txHash as TxHash, pays: pays ?? undefined },
        ]),
      );
    },
    async lostPayment(chainId, id, senders, orderId) {
      const [row] = await sql.query<{ tx_hash: string }>(lostPayment, [
        chainId,
        id,
        senders,
        orderId ?? null,
      ]);
      return row?.tx_hash as TxHash | undefined;
    },
    async lostPaymentOfOrder(orderId, senders) {
      const values = [orderId, senders];
      const [row] = await sql.query<{ chain_id: number; tx_hash: TxHash }>(lostPaymentOfOrder, values);
      return row && { chainId: row.chain_id, txHash: row.tx_hash };
    },
    async unpaidClaimOf(chainId, { currency, recipient, amount }) {
      const values = [chainId, currency, recipient, amount];
      return (await sql.query<{ claim_id: string }>(unpaidClaimOf, values))[0]?.claim_id;
    },
    async unsettledSlots(chainId, ...senders) {
      return withAttempts(await sql.query<SlotRow>(unsettled, [chainId, senders]));
    },
    async reservedOn(chainId) {
      const rows = await sql.query<{ outflow_currency: string; amount: bigint }>(reservedOn, [chainId]);
      return new Map(rows.map((row) => [row.outflow_currency as Address, row.amount]));
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
