import type { Hex } from "@causeway/domain";
import { ExecutionsTaken } from "../payments/executions-taken.port.ts";
import type { SettlementWrites } from "./settlement.port.ts";
import { statement } from "../db/pool.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import {
  EXECUTION_COLUMNS,
  HUB_TRANSACTION_COLUMNS,
  executionOf,
  hubTransactionOf,
} from "./settlement-rows.postgres.ts";
import type { ExecutionRow, HubTransactionRow } from "./settlement-rows.postgres.ts";

// A slot that is final paid its leg by the attempt that was mined; what failed is dead.
const notePayments = statement(
  "settlement_note",
  `with final as (
     update slots set settlement_noted = true
     where id in (select id from slots where state = 'final' and not settlement_noted order by id limit $2 for update skip locked)
     returning id, request_id
   )
   insert into settlements (slot_id, request_id, state, next_try_ms, created_at_ms, updated_at_ms)
   select id, request_id, 'due', $1, $1, $1 from final where request_id is not null
   on conflict do nothing returning slot_id`,
);
const postpone = statement(
  "settlement_postpone",
  `update settlements set reason = $2, rejected = $3, next_try_ms = $4, tries = tries + 1, updated_at_ms = $5
   where slot_id = $1 and state = 'due'`,
);
const giveUp = statement(
  "settlement_give_up",
  "update settlements set state = 'unrepayable', reason = $2, rejected = true, updated_at_ms = $3 where slot_id = $1 and state = 'due'",
);
const attested = statement(
  "settlement_attested",
  `update settlements set state = 'attested', deposit_key = $2, payment_key = $3, reason = null, rejected = false, tries = 0,
     updated_at_ms = $4
   where slot_id = $1 and state = 'due' returning request_id`,
);
const addExecution = statement(
  "hub_execution_add",
  `insert into hub_executions as e (idempotency_key, kind, actions, signature, state, next_try_ms, created_at_ms)
   values ($1, $2, $3, $4, 'attested', $5, $5)
   on conflict (idempotency_key) do update
     set actions = excluded.actions, signature = excluded.signature, state = 'attested', transaction_id = null, next_try_ms = excluded.next_try_ms,
       apart = false, set_aside_since_ms = null
     where e.state = 'refused'`,
);
const lockHub = statement(
  "hub_lock",
  "select pg_advisory_xact_lock(hashtextextended('causeway:hub nonces', 0))",
);
const nextNonce = statement(
  "hub_next_nonce",
  "select coalesce(max(nonce) + 1, 0) as nonce from hub_transactions where sender = $1",
);
const addTransaction = statement(
  "hub_transaction_add",
  `insert into hub_transactions (sender, nonce, call_to, call_data, gas_limit, max_fee_per_gas, max_priority_fee_per_gas, state, created_at_ms)
   values ($1, $2, $3, $4, $5, $6, $7, 'open', $8) returning ${HUB_TRANSACTION_COLUMNS}`,
);
const carry = statement(
  "hub_execution_carry",
  `update hub_executions set transaction_id = $2, set_aside_since_ms = null, reason = null
   where id = any($1::bigint[]) and state = 'attested' and transaction_id is null returning id`,
);
const addAttempt = statement(
  "hub_attempt_add",
  `insert into hub_attempts (transaction_id, n, raw, tx_hash, max_fee_per_gas, max_priority_fee_per_gas, created_at_ms, is_noop)
   values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing returning n`,
);
const setBroadcast = statement(
  "hub_attempt_broadcast",
  "update hub_attempts set broadcast_at_ms = $3 where transaction_id = $1 and n = $2",
);
const setFinal = statement(
  "hub_transaction_final",
  "update hub_transactions set state = 'final' where id = $1",
);
const settleExecutions = statement(
  "hub_execution_settle",
  `update hub_executions set state = 'settled', reason = null, settled_at_ms = $2
   where idempotency_key = any($1::text[]) and state <> 'settled'`,
);
const settlePayments = statement(
  "settlement_settle",
  `update settlements s set state = 'settled', updated_at_ms = $2
   where s.state = 'attested' and (s.deposit_key = any($1::text[]) or s.payment_key = any($1::text[]))
     and 2 = (select count(*) from hub_executions e where e.idempotency_key in (s.deposit_key, s.payment_key) and e.state = 'settled')
   returning slot_id, request_id`,
);
const refuseExecution = statement(
  "hub_execution_refuse",
  `update hub_executions set state = 'refused', reason = $2, transaction_id = null
   where idempotency_key = $1 and state = 'attested' returning id`,
);
const refusePayments = statement(
  "settlement_refuse",
  `update settlements set state = 'due', reason = $2, tries = tries + 1, next_try_ms = $3, updated_at_ms = $4
   where state = 'attested' and (deposit_key = $1 or payment_key = $1)`,
);
const release = statement(
  "hub_execution_release",
  `update hub_executions set transaction_id = null, next_try_ms = $2, reason = $3
   where idempotency_key = $1 and state = 'attested'`,
);
const spendOnNoop = statement(
  "hub_transaction_noop",
  `update hub_transactions set call_to = $2, call_data = '0x', gas_limit = $3, is_noop = true
   where id = $1 and state = 'open' and not is_noop returning id`,
);
const takeApart = statement(
  "hub_execution_take_apart",
  `with freed as (
     update hub_executions set transaction_id = null, apart = true, next_try_ms = $2
     where transaction_id = $1 and state = 'attested' returning ${EXECUTION_COLUMNS}
   )
   select * from freed order by id`,
);
const abandonExecutions = statement(
  "hub_execution_abandon",
  `update hub_executions set transaction_id = null, next_try_ms = $3, reason = $2
   where transaction_id = $1 and state = 'attested' returning id`,
);
// They are signed anew: the oracles may have changed since.
const abandonMappings = statement(
  "nonce_mapping_abandon",
  `update nonce_mappings set state = 'stored', transaction_id = null, hub_signature = null, reason = $2, next_try_ms = $3,
     updated_at_ms = $3
   where transaction_id = $1 and state = 'signed' returning key`,
);
const setAside = statement(
  "hub_execution_set_aside",
  `update hub_executions set reason = $2, next_try_ms = $3, set_aside_since_ms = coalesce(set_aside_since_ms, $4)
   where idempotency_key = $1 and state = 'attested' and transaction_id is null`,
);

/** Settlement inside one transaction. */
export function settlementWrites(sql: Sql): SettlementWrites {
  return {
    async notePayments(atMs, limit) {
      return (await sql.query(notePayments, [atMs, limit])).length;
    },
    async postpone(slotId, why, atMs) {
      await sql.query(postpone, [slotId, why.reason, why.rejected, why.nextTryMs, atMs]);
    },
    async giveUp(slotId, reason, atMs) {
      await sql.query(giveUp, [slotId, reason, atMs]);
    },
    async attested(slotId, keys, atMs) {
      return (await sql.query(attested, [slotId, keys.deposit, keys.payment, atMs])).length > 0;
    },
    async addExecutions(executions, atMs) {
      for (const { idempotencyKey, kind, actions, signature } of executions)
        await sql.query(addExecution, [idempotencyKey, kind, actions, signature, atMs]);
    },
    async lockHub() {
      await sql.query(lockHub, []);
    },
    async nextNonce(sender) {
      const [row] = await sql.query<{ nonce: number }>(nextNonce, [sender]);
      return row?.nonce ?? 0;
    },
    async addTransaction(plan, executionIds, atMs) {
      const [row] = await sql.query<HubTransactionRow>(addTransaction, [
        plan.sender,
        plan.nonce,
        plan.call.to,
        plan.call.data,
        plan.gasLimit,
        plan.maxFeePerGas,
        plan.maxPriorityFeePerGas,
        atMs,
      ]);
      if (!row) throw new Error("invariant violated: hub transaction was not stored");
      const carried = await sql.query(carry, [executionIds, row.id]);
      // Whoever carries one of them already would carry it twice: the whole plan is dropped.
      if (carried.length !== executionIds.length) throw new ExecutionsTaken();
      return hubTransactionOf(row, []);
    },
    async takeApart(transactionId, { to, gasLimit }, nextTryMs) {
      if ((await sql.query(spendOnNoop, [transactionId, to, gasLimit])).length === 0) return undefined;
      return (await sql.query<ExecutionRow>(takeApart, [transactionId, nextTryMs])).map(executionOf);
    },
    async abandon(transactionId, reason, atMs) {
      const executions = await sql.query(abandonExecutions, [transactionId, reason, atMs]);
      const mappings = await sql.query(abandonMappings, [transactionId, reason, atMs]);
      return executions.length + mappings.length;
    },
    async setAside(key, reason, nextTryMs, atMs) {
      await sql.query(setAside, [key, reason, nextTryMs, atMs]);
    },
    async addAttempt(transactionId, attempt) {
      const rows = await sql.query(addAttempt, [
        transactionId,
        attempt.n,
        attempt.raw,
        attempt.txHash,
        attempt.maxFeePerGas,
        attempt.maxPriorityFeePerGas,
        attempt.createdAtMs,
        attempt.isNoop,
      ]);
      return rows.length > 0;
    },
    async setBroadcast(transactionId, n, atMs) {
      await sql.query(setBroadcast, [transactionId, n, atMs]);
    },
    async setTransactionFinal(transactionId) {
      await sql.query(setFinal, [transactionId]);
    },
    async settle(keys, atMs) {
      if (keys.length === 0) return [];
      await sql.query(settleExecutions, [keys, atMs]);
      const rows = await sql.query<{ slot_id: number; request_id: string }>(settlePayments, [keys, atMs]);
      return rows.map((row) => ({ slotId: String(row.slot_id), requestId: row.request_id as Hex }));
    },
    async refuse(key, reason, nextTryMs, atMs) {
      if ((await sql.query(refuseExecution, [key, reason])).length === 0) return;
      await sql.query(refusePayments, [key, reason, nextTryMs, atMs]);
    },
    async release(key, reason, nextTryMs) {
      await sql.query(release, [key, nextTryMs, reason]);
    },
  };
}
