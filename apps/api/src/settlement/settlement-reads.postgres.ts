import type { RequestId } from "@causeway/domain";
import { eq, sql as text } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { DuePayment, SettlementReads } from "./settlement.port.ts";
import { columnsOf, defineQuery, defineSql, type Params } from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { DEPOSIT, depositOf } from "../deposits/deposit-rows.postgres.ts";
import { deposits } from "../deposits/deposits.tables.ts";
import { attempts, slots } from "../payments/payments.tables.ts";
import { REQUEST, requestOf } from "../requests/request-rows.postgres.ts";
import { requests } from "../requests/requests.tables.ts";
import { EXECUTION, executionOf } from "./settlement-rows.postgres.ts";
import { hubBatches, hubExecutions, settlements } from "./settlement.tables.ts";

/** A fill that an app guarantees and whose deposit has not arrived. */
const isGuaranteed = text`${slots.legKind} = 'fill' and ${requests.front} is not null and ${requests.front} <> 'none'
  and ${requests.depositId} is null`;
const DUE = {
  slotId: settlements.slotId,
  tries: settlements.tries,
  requestId: settlements.requestId,
  chainId: slots.chainId,
  legKind: slots.legKind,
  legId: slots.legId,
  txHash: attempts.txHash,
};
const readDue = defineSql(
  "settlement_due",
  DUE,
  (p: Params<{ nowMs: number; limit: number }>) => text`
    select ${columnsOf(DUE)} from ${settlements} join ${slots} on ${slots.id} = ${settlements.slotId}
      join ${attempts} on ${attempts.slotId} = ${slots.id} and ${attempts.n} = ${slots.minedAttempt}
      left join ${requests} on ${requests.requestId} = ${settlements.requestId}
    where ${settlements.state} = 'due' and ${settlements.nextTryMs} <= ${p.nowMs}
      -- A guaranteed fill is settled when its deposit has arrived; oracles are not asked before.
      and not (${isGuaranteed})
    order by ${settlements.nextTryMs} limit ${p.limit}`,
);
const readRequests = defineQuery(
  "settlement_requests",
  (db, { requestIds }: Params<{ requestIds: readonly RequestId[] }>) =>
    db
      .select(REQUEST)
      .from(requests)
      .where(text`${requests.requestId} = any(${requestIds}::text[])`),
);
const readDeposits = defineQuery("settlement_deposits", (db, { ids }: Params<{ ids: readonly string[] }>) =>
  db
    .select(DEPOSIT)
    .from(deposits)
    .where(text`${deposits.id} = any(${ids}::bigint[])`),
);
const credit = alias(hubExecutions, "credit");
const readToSubmit = defineSql(
  "hub_executions_to_carry",
  EXECUTION,
  (p: Params<{ nowMs: number; limit: number }>) => text`
    select ${columnsOf(EXECUTION)} from ${hubExecutions}
    where ${hubExecutions.state} = 'attested' and ${hubExecutions.slotId} is null and ${hubExecutions.nextTryMs} <= ${p.nowMs}
      -- The hub would refuse a payment while the execution that credits its deposit waits.
      and not exists (select from ${settlements} join ${hubExecutions} ${credit} on ${credit.idempotencyKey} = ${settlements.depositKey}
        where ${settlements.paymentKey} = ${hubExecutions.idempotencyKey} and ${settlements.state} = 'attested'
          and ${credit.state} = 'attested' and ${credit.slotId} is null and ${credit.nextTryMs} > ${p.nowMs})
    order by ${hubExecutions.id} limit ${p.limit}`,
);
const readByKey = defineQuery("hub_execution_by_key", (db, { key }: Params<{ key: string }>) =>
  db.select(EXECUTION).from(hubExecutions).where(eq(hubExecutions.idempotencyKey, key)),
);
const readEnded = defineQuery("hub_executions_ended", (db, _: Params<{ limit: number }>) =>
  db
    .select({
      execution: EXECUTION,
      slot: { id: slots.id, chainId: slots.chainId, sender: slots.sender, nonce: slots.nonce },
    })
    .from(hubExecutions)
    .innerJoin(slots, eq(slots.id, hubExecutions.slotId))
    .where(text`${hubExecutions.state} = 'attested' and ${slots.state} in ('final', 'dead')`)
    // Sorts the few that match. Without the sum, the planner may read all executions in order instead.
    .orderBy(text`${hubExecutions.id} + 0`)
    .limit(text.placeholder("limit")),
);
const nextBatchId = defineSql(
  "hub_next_batch",
  { id: String },
  () => text`select nextval(${hubBatches.seqName}) as id`,
);
const readWaiting = defineSql(
  "settlement_waiting",
  { state: String, count: Number, oldestMs: Number },
  () => text`
    select case when ${isGuaranteed} then case ${requests.front} when 'held' then 'before_deposit' else 'paid_by_app' end
        when ${settlements.rejected} then 'rejected' else ${settlements.state} end as state,
      count(*) as count, min(${settlements.createdAtMs}) as oldest_ms
    from ${settlements} join ${slots} on ${slots.id} = ${settlements.slotId}
      left join ${requests} on ${requests.requestId} = ${settlements.requestId}
    -- Each state has its own index.
    where ${settlements.state} = 'due' or ${settlements.state} = 'attested' group by 1`,
);

/** Settlement reads on a Postgres pool. */
export function settlementReads(sql: Sql): SettlementReads {
  return {
    async duePayments(nowMs, limit): Promise<DuePayment[]> {
      const rows = await readDue(sql, { nowMs, limit });
      if (rows.length === 0) return [];
      const stored = await readRequests(sql, { requestIds: rows.map(({ requestId }) => requestId) });
      const requestById = new Map(stored.map((row) => [row.requestId, requestOf(row)]));
      const depositIds = rows.map(({ legKind, legId, requestId }) =>
        legKind === "refund" ? legId : requestById.get(requestId)?.state.depositId,
      );
      const ids = depositIds.filter((id) => id !== undefined);
      const depositById = new Map(
        (await readDeposits(sql, { ids })).map((row) => [String(row.id), depositOf(row)]),
      );
      return rows.flatMap(({ slotId, legKind, chainId, txHash, requestId, tries }, index) => {
        const request = requestById.get(requestId);
        const depositId = depositIds[index];
        return request === undefined
          ? []
          : {
              slotId: String(slotId),
              kind: legKind === "fill" ? ("fill" as const) : ("refund" as const),
              chainId,
              txHash,
              request,
              deposit: depositId === undefined ? undefined : depositById.get(depositId),
              tries,
            };
      });
    },
    executionsToSubmit: async (nowMs, limit) => (await readToSubmit(sql, { nowMs, limit })).map(executionOf),
    async execution(key) {
      const [row] = await readByKey(sql, { key });
      return row && executionOf(row);
    },
    endedExecutions: async (limit) =>
      (await readEnded(sql, { limit })).map(({ execution, slot }) => ({
        ...executionOf(execution),
        slot: { ...slot, id: String(slot.id) },
      })),
    async nextBatchId() {
      const [row] = await nextBatchId(sql, {});
      if (row === undefined) throw new Error("invariant violated: a sequence returned no number");
      return row.id;
    },
    waiting: async () => await readWaiting(sql, {}),
  };
}
