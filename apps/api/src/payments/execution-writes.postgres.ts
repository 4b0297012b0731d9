import type { Address, RequestId, SponsorshipSpending } from "@causeway/domain";
import { and, asc, eq, sql as text } from "drizzle-orm";
import type { Budget } from "../balances/sponsors.port.ts";
import type { ExecutionWrites } from "./executions.port.ts";
import { feeReservations } from "../balances/reservations.tables.ts";
import {
  defineQuery,
  defineSql,
  namesOf,
  recordset,
  rowsJson,
  type Params,
  defineWrite,
  defineSqlWrite,
} from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { insertAcceptedCalls } from "./accepted-calls.postgres.ts";
import { executionOf, NEW_EXECUTION, newExecutionRow } from "./execution-rows.postgres.ts";
import { executions } from "./executions.tables.ts";

const add = defineSql(
  "execution_add",
  { requestId: executions.requestId },
  ({ execution }: Params<{ execution: string }>) => {
    const names = namesOf(...Object.values(NEW_EXECUTION));
    return text`insert into ${executions} (${names}) select ${names} from ${recordset(execution, NEW_EXECUTION)}
      on conflict do nothing returning ${executions.requestId}`;
  },
);
const lock = defineQuery("execution_lock", (db, { requestId }: Params<{ requestId: RequestId }>) =>
  db.select().from(executions).where(eq(executions.requestId, requestId)).for("update"),
);
const lockAll = defineQuery(
  "execution_lock_all",
  (db, { requestIds }: Params<{ requestIds: readonly RequestId[] }>) =>
    db
      .select()
      .from(executions)
      .where(text`${executions.requestId} = any(${requestIds}::text[])`)
      .orderBy(asc(executions.requestId))
      .for("update"),
);
// A statement of its own: a statement that also locks may read values from before the lock.
const lockBudgets = defineSqlWrite(
  "execution_lock_budgets",
  ({ keyId }: Params<{ keyId: string }>) =>
    text`select pg_advisory_xact_lock(hashtextextended('budgets of ' || ${keyId}::text, 0))`,
);
interface SpendingParams extends Record<string, unknown> {
  readonly keyId: string;
  readonly day: number;
  readonly user: Address | null;
  readonly target: Address | null;
  readonly except: RequestId | null;
}
const spent = defineSql(
  "execution_spent",
  { todayUsd: BigInt, userTodayUsd: BigInt, targetTodayUsd: BigInt },
  (p: Params<SpendingParams>) => text`
    select coalesce(sum(cost_usd), 0) as today_usd,
      coalesce(sum(cost_usd) filter (where user_address = ${p.user}), 0) as user_today_usd,
      coalesce(sum(cost_usd) filter (where target = ${p.target}), 0) as target_today_usd
    from (
      select ${executions.costUsd} as cost_usd, ${executions.userAddress} as user_address, ${executions.target} as target
      from ${executions} where ${executions.keyId} = ${p.keyId} and ${executions.day} = ${p.day}
        and ${executions.requestId} is distinct from ${p.except}
      union all
      select coalesce(${feeReservations.paidUsd}, ${feeReservations.usd}), ${feeReservations.userAddress}, null
      from ${feeReservations} where ${feeReservations.keyId} = ${p.keyId} and ${feeReservations.day} = ${p.day}
        and ${feeReservations.state} <> 'released') s`,
);
const countUnpaid = defineSql(
  "execution_count_unpaid",
  { unpaid: Number },
  (p: Params<{ keyId: string; user: Address; sinceMs: number }>) => text`
    select count(*) as unpaid from ${executions}
    where ${executions.keyId} = ${p.keyId} and ${executions.userAddress} = ${p.user} and ${executions.createdAtMs} > ${p.sinceMs}
      and (not ${executions.settled} or ${executions.costUsd} > 0)`,
);
const setCosts = defineWrite(
  "execution_set_costs",
  (db, p: Params<{ requestId: RequestId; originUsd: bigint | null; destinationUsd: bigint | null }>) =>
    db
      .update(executions)
      .set({
        originUsd: text`coalesce(${executions.originUsd}, ${p.originUsd})`,
        destinationUsd: text`coalesce(${executions.destinationUsd}, ${p.destinationUsd})`,
      })
      .where(eq(executions.requestId, p.requestId)),
);
const settle = defineWrite("execution_settle", (db, p: Params<{ requestId: RequestId; costUsd: bigint }>) =>
  db
    .update(executions)
    .set({ settled: true, costUsd: p.costUsd })
    .where(and(eq(executions.requestId, p.requestId), text`not ${executions.settled}`)),
);

/** Executions inside one transaction. */
export function executionWrites(sql: Sql): ExecutionWrites {
  return {
    async add(execution) {
      const row = rowsJson(NEW_EXECUTION, [newExecutionRow(execution)]);
      return (await add(sql, { execution: row })).length > 0;
    },
    addCalls: async (calls) => await insertAcceptedCalls(sql, calls),
    async lock(requestId) {
      const [row] = await lock(sql, { requestId });
      return row && executionOf(row);
    },
    async lockAll(requestIds) {
      const rows = await lockAll(sql, { requestIds });
      return new Map(rows.map((row) => [row.requestId, executionOf(row)]));
    },
    async lockSpending(budget, except) {
      await lockBudgets(sql, { keyId: budget.keyId });
      return await readSpending(sql, budget, except);
    },
    async countUnpaid(keyId, user, sinceMs) {
      return (await countUnpaid(sql, { keyId, user, sinceMs }))[0]?.unpaid ?? 0;
    },
    async setCosts(requestId, { originUsd = null, destinationUsd = null }) {
      await setCosts(sql, { requestId, originUsd, destinationUsd });
    },
    async settle(requestId, costUsd) {
      await settle(sql, { requestId, costUsd });
    },
  };
}

/** Reads how much of its daily budgets a key has spent, without locking. */
export async function readSpending(
  sql: Sql,
  { keyId, day, user, target }: Budget,
  except: RequestId | undefined,
): Promise<SponsorshipSpending> {
  const params = { keyId, day, user: user ?? null, target: target ?? null, except: except ?? null };
  const [row] = await spent(sql, params);
  return row ?? { todayUsd: 0n, userTodayUsd: 0n, targetTodayUsd: 0n };
}
