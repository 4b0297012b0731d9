import type { Hex, RequestId, SponsorshipSpending } from "@causeway/domain";
import type { Budget } from "../balances/sponsors.port.ts";
import type { ExecutionWrites } from "./executions.port.ts";
import { insertAcceptedCalls } from "./accepted-calls.postgres.ts";
import {
  EXECUTION_COLUMNS,
  executionOf,
  NEW_EXECUTION_COLUMNS,
  newExecutionJson,
} from "./execution-rows.postgres.ts";
import type { ExecutionRow } from "./execution-rows.postgres.ts";
import { statement } from "../db/pool.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";

const add = statement(
  "execution_add",
  `insert into executions (${NEW_EXECUTION_COLUMNS})
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)
   on conflict do nothing returning request_id`,
);
const lock = statement(
  "execution_lock",
  `select ${EXECUTION_COLUMNS} from executions where request_id = $1 for update`,
);
const lockAll = statement(
  "execution_lock_all",
  `select ${EXECUTION_COLUMNS} from executions where request_id = any($1::text[]) order by request_id for update`,
);
// A statement of its own: what is read beside a lock may be older than the lock.
const lockBudgets = statement(
  "execution_lock_budgets",
  "select pg_advisory_xact_lock(hashtextextended('budgets of ' || $1, 0))",
);
const spent = statement(
  "execution_spent",
  `select coalesce(sum(cost_usd), 0) as today,
     coalesce(sum(cost_usd) filter (where user_address = $3), 0) as user_today,
     coalesce(sum(cost_usd) filter (where target = $4), 0) as target_today
   from (select cost_usd, user_address, target from executions where key_id = $1 and day = $2 and request_id is distinct from $5
     union all select coalesce(paid_usd, usd), user_address, null from fee_reservations where key_id = $1 and day = $2 and state <> 'released') s`,
);
const countUnpaid = statement(
  "execution_count_unpaid",
  `select count(*) as unpaid from executions
   where key_id = $1 and user_address = $2 and created_at_ms > $3 and (not settled or cost_usd > 0)`,
);
const setCosts = statement(
  "execution_set_costs",
  `update executions set origin_usd = coalesce(origin_usd, $2), destination_usd = coalesce(destination_usd, $3)
   where request_id = $1`,
);
const settle = statement(
  "execution_settle",
  "update executions set settled = true, cost_usd = $2 where request_id = $1 and not settled",
);

/** Executions inside one transaction. */
export function executionWrites(sql: Sql): ExecutionWrites {
  return {
    async add(execution) {
      const row = newExecutionJson(execution);
      const values = NEW_EXECUTION_COLUMNS.split(", ").map((name) => row[name]);
      return (await sql.query(add, values)).length > 0;
    },
    addCalls: async (calls) => await insertAcceptedCalls(sql, calls),
    async lock(requestId) {
      const [row] = await sql.query<ExecutionRow>(lock, [requestId]);
      return row && executionOf(row);
    },
    async lockAll(requestIds) {
      const rows = await sql.query<ExecutionRow>(lockAll, [requestIds]);
      return new Map(rows.map((row) => [row.request_id as Hex, executionOf(row)]));
    },
    async lockSpending(budget, except) {
      await sql.query(lockBudgets, [budget.keyId]);
      return await readSpending(sql, budget, except);
    },
    async countUnpaid(keyId, user, sinceMs) {
      const [row] = await sql.query<{ unpaid: number }>(countUnpaid, [keyId, user, sinceMs]);
      return row?.unpaid ?? 0;
    },
    async setCosts(requestId, { originUsd, destinationUsd }) {
      await sql.query(setCosts, [requestId, originUsd ?? null, destinationUsd ?? null]);
    },
    async settle(requestId, costUsd) {
      await sql.query(settle, [requestId, costUsd]);
    },
  };
}

/** What a key has spent of its budgets of a day, without locking anything. */
export async function readSpending(
  sql: Sql,
  { keyId, day, user, target }: Budget,
  except: RequestId | undefined,
): Promise<SponsorshipSpending> {
  const [row] = await sql.query<{ today: bigint; user_today: bigint; target_today: bigint }>(spent, [
    keyId,
    day,
    user ?? null,
    target ?? null,
    except ?? null,
  ]);
  return {
    todayUsd: row?.today ?? 0n,
    userTodayUsd: row?.user_today ?? 0n,
    targetTodayUsd: row?.target_today ?? 0n,
  };
}
