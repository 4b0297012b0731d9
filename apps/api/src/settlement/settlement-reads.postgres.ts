import type { TxHash } from "@causeway/domain";
import type { DuePayment, SettlementReads } from "./settlement.port.ts";
import { statement } from "../db/pool.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { DEPOSIT_COLUMNS, REQUEST_COLUMNS, depositOf, requestOf } from "../requests/rows.postgres.ts";
import type { DepositRow, RequestRow } from "../requests/rows.postgres.ts";
import {
  EXECUTION_COLUMNS,
  HUB_ATTEMPT_COLUMNS,
  HUB_TRANSACTION_COLUMNS,
  executionOf,
  hubTransactionOf,
} from "./settlement-rows.postgres.ts";
import type { ExecutionRow, HubAttemptRow, HubTransactionRow } from "./settlement-rows.postgres.ts";

interface DueRow {
  slot_id: number;
  tries: number;
  request_id: string;
  chain_id: number;
  leg_kind: string;
  leg_id: string;
  tx_hash: string;
}

const due = statement(
  "settlement_due",
  `select d.slot_id, d.tries, d.request_id, s.chain_id, s.leg_kind, s.leg_id, a.tx_hash
   from settlements d join slots s on s.id = d.slot_id join attempts a on a.slot_id = s.id and a.n = s.mined_attempt
     left join requests r on r.request_id = d.request_id
   where d.state = 'due' and d.next_try_ms <= $1
     -- What an app vouches for is settled when its deposit is there; until then nobody is asked, and nothing is amiss.
     and not (s.leg_kind = 'fill' and r.front is not null and r.front <> 'none' and r.deposit_id is null)
   order by d.next_try_ms limit $2`,
);
const requests = statement(
  "settlement_requests",
  `select ${REQUEST_COLUMNS} from requests where request_id = any($1::text[])`,
);
const deposits = statement(
  "settlement_deposits",
  `select ${DEPOSIT_COLUMNS} from deposits where id = any($1::bigint[])`,
);
const toCarry = statement(
  "hub_executions_to_carry",
  `select ${EXECUTION_COLUMNS} from hub_executions e
   where state = 'attested' and transaction_id is null and next_try_ms <= $1
     -- The hub cannot pass on what it does not hold: it would refuse a payment whose deposit is set aside or waits.
     and not exists (select 1 from settlements s join hub_executions d on d.idempotency_key = s.deposit_key
       where s.payment_key = e.idempotency_key and s.state = 'attested'
         and d.state = 'attested' and d.transaction_id is null and d.next_try_ms > $1)
   order by id limit $2`,
);
const byKey = statement(
  "hub_execution_by_key",
  `select ${EXECUTION_COLUMNS} from hub_executions where idempotency_key = $1`,
);
const ofTransaction = statement(
  "hub_executions_of_transaction",
  `select ${EXECUTION_COLUMNS} from hub_executions where transaction_id = $1 and state = 'attested' order by id`,
);
const openTransactions = statement(
  "hub_transactions_open",
  `select ${HUB_TRANSACTION_COLUMNS} from hub_transactions where state = 'open' order by sender, nonce`,
);
const attempts = statement(
  "hub_attempts_of",
  `select ${HUB_ATTEMPT_COLUMNS} from hub_attempts where transaction_id = any($1::bigint[]) order by transaction_id, n`,
);
const waiting = statement(
  "settlement_waiting",
  `select case when s.leg_kind = 'fill' and r.front is not null and r.front <> 'none' and r.deposit_id is null
       then case r.front when 'held' then 'vouched' else 'paid_by_app' end
     when d.rejected then 'rejected' else d.state end as state, count(*) as count, min(d.created_at_ms) as oldest_ms
   from settlements d join slots s on s.id = d.slot_id left join requests r on r.request_id = d.request_id
   where d.state in ('due', 'attested') group by 1`,
);

/** Settlement on a Postgres pool. */
export function settlementReads(sql: Sql): SettlementReads {
  return {
    async duePayments(nowMs, limit): Promise<DuePayment[]> {
      const rows = await sql.query<DueRow>(due, [nowMs, limit]);
      if (rows.length === 0) return [];
      const stored = new Map(
        (await sql.query<RequestRow>(requests, [rows.map((row) => row.request_id)])).map((row) => [
          row.request_id,
          requestOf(row),
        ]),
      );
      const depositIds = rows.map((row) =>
        row.leg_kind === "refund" ? row.leg_id : stored.get(row.request_id)?.state.depositId,
      );
      const money = new Map(
        (await sql.query<DepositRow>(deposits, [depositIds.filter((id) => id !== undefined)])).map((row) => [
          String(row.id),
          depositOf(row),
        ]),
      );
      return rows.flatMap((row, at) => {
        const request = stored.get(row.request_id);
        const depositId = depositIds[at];
        if (request === undefined) return [];
        return [
          {
            slotId: String(row.slot_id),
            kind: row.leg_kind === "fill" ? ("fill" as const) : ("refund" as const),
            chainId: row.chain_id,
            txHash: row.tx_hash as TxHash,
            request,
            deposit: depositId === undefined ? undefined : money.get(depositId),
            tries: row.tries,
          },
        ];
      });
    },
    async executionsToCarry(nowMs, limit) {
      return (await sql.query<ExecutionRow>(toCarry, [nowMs, limit])).map(executionOf);
    },
    async execution(key) {
      const [row] = await sql.query<ExecutionRow>(byKey, [key]);
      return row && executionOf(row);
    },
    async executionsOf(transactionId) {
      return (await sql.query<ExecutionRow>(ofTransaction, [transactionId])).map(executionOf);
    },
    async openTransactions() {
      const rows = await sql.query<HubTransactionRow>(openTransactions, []);
      if (rows.length === 0) return [];
      const found = await sql.query<HubAttemptRow>(attempts, [rows.map((row) => row.id)]);
      const byTransaction = Map.groupBy(found, (attempt) => attempt.transaction_id);
      return rows.map((row) => hubTransactionOf(row, byTransaction.get(row.id) ?? []));
    },
    async waiting() {
      const rows = await sql.query<{ state: string; count: number; oldest_ms: number }>(waiting, []);
      return rows.map((row) => ({ state: row.state, count: row.count, oldestMs: row.oldest_ms }));
    },
  };
}
