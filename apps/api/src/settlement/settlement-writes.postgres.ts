import type { Address, Hex } from "@causeway/domain";
import { and, eq, sql as text, type SQL } from "drizzle-orm";
import type { ExecutionKind, SettlementWrites } from "./settlement.port.ts";
import {
  columnsOf,
  defineQuery,
  defineSql,
  nameOf,
  namesOf,
  type Params,
  defineWrite,
  defineSqlWrite,
} from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { ExecutionsTaken } from "../payments/executions-taken.port.ts";
import { slots } from "../payments/payments.tables.ts";
import { nonceMappings } from "./nonce-mappings/nonce-mappings.tables.ts";
import { EXECUTION, executionOf, hubTransactionOf } from "./settlement-rows.postgres.ts";
import { hubAttempts, hubExecutions, hubTransactions, settlements } from "./settlement.tables.ts";

// The mined attempt of a final slot paid its leg; a failed slot paid nothing.
const notePayments = defineSql(
  "settlement_note",
  { slotId: settlements.slotId },
  (p: Params<{ atMs: number; limit: number }>) => {
    const { slotId, requestId, state, nextTryMs, createdAtMs, updatedAtMs } = settlements;
    return text`
      with final as (
        update ${slots} set ${nameOf(slots.settlementNoted)} = true
        where ${slots.id} in (select ${slots.id} from ${slots} where ${slots.state} = 'final' and not ${slots.settlementNoted}
          order by ${slots.id} limit ${p.limit} for update skip locked)
        returning ${slots.id}, ${slots.requestId})
      insert into ${settlements} (${namesOf(slotId, requestId, state, nextTryMs, createdAtMs, updatedAtMs)})
      select id, request_id, 'due', ${p.atMs}::bigint, ${p.atMs}::bigint, ${p.atMs}::bigint from final where request_id is not null
      on conflict do nothing returning ${slotId}`;
  },
);

const isDue = ({ slotId }: Params<{ slotId: string }>): SQL =>
  text`${settlements.slotId} = ${slotId} and ${settlements.state} = 'due'`;
interface Postponed extends Record<string, unknown> {
  readonly slotId: string;
  readonly reason: string;
  readonly rejected: boolean;
  readonly nextTryMs: number;
  readonly atMs: number;
}
const postpone = defineWrite("settlement_postpone", (db, p: Params<Postponed>) =>
  db
    .update(settlements)
    .set({
      reason: p.reason,
      rejected: p.rejected,
      nextTryMs: p.nextTryMs,
      tries: text`${settlements.tries} + 1`,
      updatedAtMs: p.atMs,
    })
    .where(isDue(p)),
);
const giveUp = defineWrite(
  "settlement_give_up",
  (db, p: Params<{ slotId: string; reason: string; atMs: number }>) =>
    db
      .update(settlements)
      .set({ state: "unrepayable", reason: p.reason, rejected: true, updatedAtMs: p.atMs })
      .where(isDue(p)),
);
interface Attested extends Record<string, unknown> {
  readonly slotId: string;
  readonly depositKey: Hex;
  readonly paymentKey: Hex;
  readonly atMs: number;
}
const attested = defineQuery("settlement_attested", (db, p: Params<Attested>) =>
  db
    .update(settlements)
    .set({
      state: "attested",
      depositKey: p.depositKey,
      paymentKey: p.paymentKey,
      reason: null,
      rejected: false,
      tries: 0,
      updatedAtMs: p.atMs,
    })
    .where(isDue(p))
    .returning({ slotId: settlements.slotId }),
);

interface Execution extends Record<string, unknown> {
  readonly idempotencyKey: Hex;
  readonly kind: ExecutionKind;
  readonly actions: readonly Hex[];
  readonly signature: Hex;
  readonly atMs: number;
}
const addExecution = defineWrite("hub_execution_add", (db, p: Params<Execution>) => {
  const again = { actions: text`${p.actions}`, signature: p.signature, nextTryMs: p.atMs };
  return db
    .insert(hubExecutions)
    .values({
      ...again,
      idempotencyKey: p.idempotencyKey,
      kind: p.kind,
      state: "attested",
      createdAtMs: p.atMs,
    })
    .onConflictDoUpdate({
      target: hubExecutions.idempotencyKey,
      set: { ...again, state: "attested", transactionId: null, apart: false, setAsideSinceMs: null },
      setWhere: text`${hubExecutions.state} = 'refused'`,
    });
});
const lockHub = defineSqlWrite(
  "hub_lock",
  () => text`select pg_advisory_xact_lock(hashtextextended('causeway:hub nonces', 0))`,
);
const nextNonce = defineSql(
  "hub_next_nonce",
  { nonce: Number },
  ({ sender }: Params<{ sender: Address }>) => text`
    select coalesce(max(${hubTransactions.nonce}) + 1, 0) as nonce from ${hubTransactions} where ${hubTransactions.sender} = ${sender}`,
);
interface Plan extends Record<string, unknown> {
  readonly sender: Address;
  readonly nonce: number;
  readonly to: Address;
  readonly data: Hex;
  readonly gasLimit: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly atMs: number;
}
const addTransaction = defineQuery("hub_transaction_add", (db, p: Params<Plan>) =>
  db
    .insert(hubTransactions)
    .values({
      sender: p.sender,
      nonce: p.nonce,
      callTo: p.to,
      callData: p.data,
      gasLimit: text`${p.gasLimit}`,
      maxFeePerGas: p.maxFeePerGas,
      maxPriorityFeePerGas: p.maxPriorityFeePerGas,
      state: "open",
      createdAtMs: p.atMs,
    })
    .returning(),
);
const ID = { id: hubExecutions.id };
const isAttested = text`${hubExecutions.state} = 'attested'`;
const carry = defineQuery(
  "hub_execution_carry",
  (db, p: Params<{ executionIds: readonly string[]; transactionId: number }>) =>
    db
      .update(hubExecutions)
      .set({ transactionId: p.transactionId, setAsideSinceMs: null, reason: null })
      .where(
        text`${hubExecutions.id} = any(${p.executionIds}::bigint[]) and ${isAttested} and ${hubExecutions.transactionId} is null`,
      )
      .returning(ID),
);
interface Attempt extends Record<string, unknown> {
  readonly transactionId: string;
  readonly n: number;
  readonly raw: Hex;
  readonly txHash: Hex;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly createdAtMs: number;
  readonly isNoop: boolean;
}
const addAttempt = defineQuery("hub_attempt_add", (db, p: Params<Attempt>) =>
  db
    .insert(hubAttempts)
    .values({
      transactionId: text`${p.transactionId}`,
      n: p.n,
      raw: p.raw,
      txHash: p.txHash,
      maxFeePerGas: p.maxFeePerGas,
      maxPriorityFeePerGas: p.maxPriorityFeePerGas,
      createdAtMs: p.createdAtMs,
      isNoop: p.isNoop,
    })
    .onConflictDoNothing()
    .returning({ n: hubAttempts.n }),
);
const setBroadcast = defineWrite(
  "hub_attempt_broadcast",
  (db, p: Params<{ transactionId: string; n: number; atMs: number }>) =>
    db
      .update(hubAttempts)
      .set({ broadcastAtMs: p.atMs })
      .where(and(eq(hubAttempts.transactionId, p.transactionId), eq(hubAttempts.n, p.n))),
);
const setFinal = defineWrite(
  "hub_transaction_final",
  (db, p: Params<{ transactionId: string; atMs: number }>) =>
    db
      .update(hubTransactions)
      .set({ state: "final", finalAtMs: p.atMs })
      .where(text`${hubTransactions.id} = ${p.transactionId}`),
);
interface Due extends Record<string, unknown> {
  readonly beforeMs: number;
  readonly limit: number;
}
// Nothing broadcasts a final transaction again. Its nonce and its hashes stay.
const dropBytes = defineSql(
  "hub_attempt_drop_bytes",
  { dropped: Number },
  (p: Params<Due>) => text`
    with due as materialized (
      select ${hubAttempts.transactionId}, ${hubAttempts.n} from ${hubAttempts}
        join ${hubTransactions} on ${hubTransactions.id} = ${hubAttempts.transactionId}
      where ${hubAttempts.raw} <> '0x' and ${hubAttempts.createdAtMs} < ${p.beforeMs} and ${hubTransactions.state} = 'final'
        and coalesce(${hubTransactions.finalAtMs}, ${hubAttempts.createdAtMs}) < ${p.beforeMs}
      order by ${hubAttempts.createdAtMs} limit ${p.limit} for update of ${hubAttempts} skip locked),
    emptied as (
      update ${hubAttempts} set ${nameOf(hubAttempts.raw)} = '0x' from due
      where ${hubAttempts.transactionId} = due.transaction_id and ${hubAttempts.n} = due.n returning 1),
    without_call as (
      update ${hubTransactions} set ${nameOf(hubTransactions.callData)} = '0x'
      where ${hubTransactions.id} in (select transaction_id from due))
    select count(*) as dropped from emptied`,
);
// The hub itself executes a key once and keeps what it executed.
const dropSignatures = defineSql(
  "hub_execution_drop_signatures",
  { dropped: Number },
  (p: Params<Due>) => text`
    with due as materialized (
      select ${hubExecutions.id} from ${hubExecutions}
      where ${hubExecutions.state} = 'settled' and ${hubExecutions.signature} <> '0x' and ${hubExecutions.settledAtMs} < ${p.beforeMs}
      order by ${hubExecutions.settledAtMs} limit ${p.limit} for update skip locked),
    emptied as (
      update ${hubExecutions} set ${nameOf(hubExecutions.actions)} = '{}', ${nameOf(hubExecutions.signature)} = '0x' from due
      where ${hubExecutions.id} = due.id returning 1)
    select count(*) as dropped from emptied`,
);
interface Keys extends Record<string, unknown> {
  readonly keys: readonly Hex[];
  readonly atMs: number;
}
const settleExecutions = defineWrite("hub_execution_settle", (db, p: Params<Keys>) =>
  db
    .update(hubExecutions)
    .set({ state: "settled", reason: null, settledAtMs: p.atMs })
    .where(
      text`${hubExecutions.idempotencyKey} = any(${p.keys}::text[]) and ${hubExecutions.state} <> 'settled'`,
    ),
);
const settlePayments = defineQuery("settlement_settle", (db, p: Params<Keys>) =>
  db
    .update(settlements)
    .set({ state: "settled", updatedAtMs: p.atMs })
    .where(
      text`${settlements.state} = 'attested'
        and (${settlements.depositKey} = any(${p.keys}::text[]) or ${settlements.paymentKey} = any(${p.keys}::text[]))
        and 2 = (select count(*) from ${hubExecutions}
          where ${hubExecutions.idempotencyKey} in (${settlements.depositKey}, ${settlements.paymentKey}) and ${hubExecutions.state} = 'settled')`,
    )
    .returning({ slotId: settlements.slotId, requestId: settlements.requestId }),
);
const refuseExecution = defineQuery("hub_execution_refuse", (db, p: Params<{ key: Hex; reason: string }>) =>
  db
    .update(hubExecutions)
    .set({ state: "refused", reason: p.reason, transactionId: null })
    .where(and(eq(hubExecutions.idempotencyKey, p.key), isAttested))
    .returning(ID),
);
interface Again extends Record<string, unknown> {
  readonly key: Hex;
  readonly reason: string;
  readonly nextTryMs: number;
}
const refusePayments = defineWrite("settlement_refuse", (db, p: Params<Again & { readonly atMs: number }>) =>
  db
    .update(settlements)
    .set({
      state: "due",
      reason: p.reason,
      tries: text`${settlements.tries} + 1`,
      nextTryMs: p.nextTryMs,
      updatedAtMs: p.atMs,
    })
    .where(
      text`${settlements.state} = 'attested' and (${settlements.depositKey} = ${p.key} or ${settlements.paymentKey} = ${p.key})`,
    ),
);
const release = defineWrite("hub_execution_release", (db, p: Params<Again>) =>
  db
    .update(hubExecutions)
    .set({ transactionId: null, nextTryMs: p.nextTryMs, reason: p.reason })
    .where(and(eq(hubExecutions.idempotencyKey, p.key), isAttested)),
);
const setAside = defineWrite("hub_execution_set_aside", (db, p: Params<Again & { readonly atMs: number }>) =>
  db
    .update(hubExecutions)
    .set({
      reason: p.reason,
      nextTryMs: p.nextTryMs,
      setAsideSinceMs: text`coalesce(${hubExecutions.setAsideSinceMs}, ${p.atMs})`,
    })
    .where(
      text`${hubExecutions.idempotencyKey} = ${p.key} and ${isAttested} and ${hubExecutions.transactionId} is null`,
    ),
);
const spendOnNoop = defineQuery(
  "hub_transaction_noop",
  (db, p: Params<{ transactionId: string; to: Address; gasLimit: bigint }>) =>
    db
      .update(hubTransactions)
      .set({ callTo: p.to, callData: "0x", gasLimit: text`${p.gasLimit}`, isNoop: true })
      .where(
        text`${hubTransactions.id} = ${p.transactionId} and ${hubTransactions.state} = 'open' and not ${hubTransactions.isNoop}`,
      )
      .returning({ id: hubTransactions.id }),
);
const takeApart = defineSql(
  "hub_execution_take_apart",
  EXECUTION,
  (p: Params<{ transactionId: string; nextTryMs: number }>) => text`
    with freed as (
      update ${hubExecutions} set ${nameOf(hubExecutions.transactionId)} = null, ${nameOf(hubExecutions.apart)} = true,
        ${nameOf(hubExecutions.nextTryMs)} = ${p.nextTryMs}
      where ${hubExecutions.transactionId} = ${p.transactionId} and ${isAttested} returning ${columnsOf(EXECUTION)})
    select * from freed order by id`,
);
interface Abandoned extends Record<string, unknown> {
  readonly transactionId: string;
  readonly reason: string;
  readonly atMs: number;
}
const abandonExecutions = defineQuery("hub_execution_abandon", (db, p: Params<Abandoned>) =>
  db
    .update(hubExecutions)
    .set({ transactionId: null, nextTryMs: p.atMs, reason: p.reason })
    .where(and(eq(hubExecutions.transactionId, p.transactionId), isAttested))
    .returning(ID),
);
// Oracles sign them again, because the set of oracles may have changed.
const abandonMappings = defineQuery("nonce_mapping_abandon", (db, p: Params<Abandoned>) =>
  db
    .update(nonceMappings)
    .set({
      state: "stored",
      transactionId: null,
      hubSignature: null,
      reason: p.reason,
      nextTryMs: p.atMs,
      updatedAtMs: p.atMs,
    })
    .where(and(eq(nonceMappings.transactionId, p.transactionId), text`${nonceMappings.state} = 'signed'`))
    .returning({ key: nonceMappings.key }),
);

/** Settlement writes inside one transaction. */
export function settlementWrites(sql: Sql): SettlementWrites {
  return {
    notePayments: async (atMs, limit) => (await notePayments(sql, { atMs, limit })).length,
    async postpone(slotId, { reason, rejected, nextTryMs }, atMs) {
      await postpone(sql, { slotId, reason, rejected, nextTryMs, atMs });
    },
    async giveUp(slotId, reason, atMs) {
      await giveUp(sql, { slotId, reason, atMs });
    },
    async attested(slotId, keys, atMs) {
      const rows = await attested(sql, { slotId, depositKey: keys.deposit, paymentKey: keys.payment, atMs });
      return rows.length > 0;
    },
    async addExecutions(executions, atMs) {
      for (const { idempotencyKey, kind, actions, signature } of executions)
        await addExecution(sql, { idempotencyKey, kind, actions, signature, atMs });
    },
    async lockHub() {
      await lockHub(sql, {});
    },
    nextNonce: async (sender) => (await nextNonce(sql, { sender }))[0]?.nonce ?? 0,
    async addTransaction({ call, ...plan }, executionIds, atMs) {
      const [row] = await addTransaction(sql, { ...plan, to: call.to, data: call.data, atMs });
      if (!row) throw new Error("invariant violated: hub transaction was not stored");
      const carried = await carry(sql, { executionIds, transactionId: row.id });
      // Another transaction carries one of them already: drop the whole plan.
      if (carried.length !== executionIds.length) throw new ExecutionsTaken();
      return hubTransactionOf(row, []);
    },
    async takeApart(transactionId, { to, gasLimit }, nextTryMs) {
      if ((await spendOnNoop(sql, { transactionId, to, gasLimit })).length === 0) return undefined;
      return (await takeApart(sql, { transactionId, nextTryMs })).map(executionOf);
    },
    async abandon(transactionId, reason, atMs) {
      const executions = await abandonExecutions(sql, { transactionId, reason, atMs });
      const mappings = await abandonMappings(sql, { transactionId, reason, atMs });
      return executions.length + mappings.length;
    },
    async setAside(key, reason, nextTryMs, atMs) {
      await setAside(sql, { key, reason, nextTryMs, atMs });
    },
    async addAttempt(transactionId, attempt) {
      return (await addAttempt(sql, { transactionId, ...attempt })).length > 0;
    },
    async setBroadcast(transactionId, n, atMs) {
      await setBroadcast(sql, { transactionId, n, atMs });
    },
    async setTransactionFinal(transactionId, atMs) {
      await setFinal(sql, { transactionId, atMs });
    },
    async dropBytes(beforeMs, limit) {
      return (await dropBytes(sql, { beforeMs, limit }))[0]?.dropped ?? 0;
    },
    async dropSignatures(beforeMs, limit) {
      return (await dropSignatures(sql, { beforeMs, limit }))[0]?.dropped ?? 0;
    },
    async settle(keys, atMs) {
      if (keys.length === 0) return [];
      await settleExecutions(sql, { keys, atMs });
      const rows = await settlePayments(sql, { keys, atMs });
      return rows.map(({ slotId, requestId }) => ({ slotId: String(slotId), requestId }));
    },
    async refuse(key, reason, nextTryMs, atMs) {
      if ((await refuseExecution(sql, { key, reason })).length === 0) return;
      await refusePayments(sql, { key, reason, nextTryMs, atMs });
    },
    async release(key, reason, nextTryMs) {
      await release(sql, { key, reason, nextTryMs });
    },
  };
}
