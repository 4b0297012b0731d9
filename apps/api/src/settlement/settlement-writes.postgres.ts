import type { Hex } from "@causeway/domain";
import { and, asc, eq, sql as text, type SQL } from "drizzle-orm";
import type { ExecutionKind, SettlementWrites } from "./settlement.port.ts";
import {
  columnsOf,
  defineQuery,
  defineSql,
  nameOf,
  namesOf,
  type Params,
  defineWrite,
} from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { slots } from "../payments/payments.tables.ts";
import { nonceMappings } from "./nonce-mappings/nonce-mappings.tables.ts";
import { EXECUTION, executionOf } from "./settlement-rows.postgres.ts";
import { hubExecutions, settlements } from "./settlement.tables.ts";

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
interface PostponeParams extends Record<string, unknown> {
  readonly slotId: string;
  readonly reason: string;
  readonly rejected: boolean;
  readonly nextTryMs: number;
  readonly atMs: number;
}
const postpone = defineWrite("settlement_postpone", (db, p: Params<PostponeParams>) =>
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
interface AttestedParams extends Record<string, unknown> {
  readonly slotId: string;
  readonly depositKey: Hex;
  readonly paymentKey: Hex;
  readonly atMs: number;
}
const markAttested = defineQuery("settlement_attested", (db, p: Params<AttestedParams>) =>
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

interface ExecutionParams extends Record<string, unknown> {
  readonly idempotencyKey: Hex;
  readonly kind: ExecutionKind;
  readonly actions: readonly Hex[];
  readonly signature: Hex;
  readonly atMs: number;
}
const addExecution = defineWrite("hub_execution_add", (db, p: Params<ExecutionParams>) => {
  const signedFields = { actions: text`${p.actions}`, signature: p.signature, nextTryMs: p.atMs };
  return db
    .insert(hubExecutions)
    .values({
      ...signedFields,
      idempotencyKey: p.idempotencyKey,
      kind: p.kind,
      state: "attested",
      createdAtMs: p.atMs,
    })
    .onConflictDoUpdate({
      target: hubExecutions.idempotencyKey,
      set: { ...signedFields, state: "attested", slotId: null, apart: false, setAsideSinceMs: null },
      setWhere: text`${hubExecutions.state} = 'refused'`,
    });
});
const ID = { id: hubExecutions.id };
const isAttested = text`${hubExecutions.state} = 'attested'`;
const lockUnsubmittedRows = defineQuery(
  "hub_execution_lock_uncarried",
  (db, { executionIds }: Params<{ executionIds: readonly string[] }>) =>
    db
      .select(ID)
      .from(hubExecutions)
      .where(
        text`${hubExecutions.id} = any(${executionIds}::bigint[]) and ${isAttested} and ${hubExecutions.slotId} is null`,
      )
      .orderBy(asc(hubExecutions.id))
      .for("update"),
);
const writeSlot = defineWrite(
  "hub_execution_carry",
  (db, p: Params<{ executionIds: readonly string[]; slotId: string }>) =>
    db
      .update(hubExecutions)
      .set({ slotId: text`${p.slotId}`, setAsideSinceMs: null, reason: null })
      .where(text`${hubExecutions.id} = any(${p.executionIds}::bigint[])`),
);
interface DropParams extends Record<string, unknown> {
  readonly beforeMs: number;
  readonly limit: number;
}
// Safe to drop: the hub executes a key only once.
const dropSignatures = defineSql(
  "hub_execution_drop_signatures",
  { dropped: Number },
  (p: Params<DropParams>) => text`
    with due as materialized (
      select ${hubExecutions.id} from ${hubExecutions}
      where ${hubExecutions.state} = 'settled' and ${hubExecutions.signature} <> '0x' and ${hubExecutions.settledAtMs} < ${p.beforeMs}
      order by ${hubExecutions.settledAtMs} limit ${p.limit} for update skip locked),
    emptied as (
      update ${hubExecutions} set ${nameOf(hubExecutions.actions)} = '{}', ${nameOf(hubExecutions.signature)} = '0x'
      where ${hubExecutions.id} = any(array(select id from due)) returning 1)
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
interface OnSlotParams extends Record<string, unknown> {
  readonly key: Hex;
  readonly slotId: string | null;
  readonly reason: string;
}
/** Matches only while the execution is attested and on this slot; null: on no slot. */
const isOnSlot = (p: Params<Pick<OnSlotParams, "key" | "slotId">>) =>
  text`${hubExecutions.idempotencyKey} = ${p.key} and ${hubExecutions.slotId} is not distinct from ${p.slotId}::bigint and ${isAttested}`;
const refuseExecution = defineQuery("hub_execution_refuse", (db, p: Params<OnSlotParams>) =>
  db
    .update(hubExecutions)
    .set({ state: "refused", reason: p.reason, slotId: null })
    .where(isOnSlot(p))
    .returning(ID),
);
interface RetryParams extends Record<string, unknown> {
  readonly key: Hex;
  readonly reason: string;
  readonly nextTryMs: number;
}
const refusePayments = defineWrite(
  "settlement_refuse",
  (db, p: Params<RetryParams & { readonly atMs: number }>) =>
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
const release = defineWrite(
  "hub_execution_release",
  (db, p: Params<OnSlotParams & { readonly nextTryMs: number }>) =>
    db
      .update(hubExecutions)
      .set({ slotId: null, nextTryMs: p.nextTryMs, reason: p.reason })
      .where(isOnSlot(p)),
);
const postponeExecution = defineWrite(
  "hub_execution_postpone",
  (db, p: Params<RetryParams & { readonly atMs: number }>) =>
    db
      .update(hubExecutions)
      .set({
        reason: p.reason,
        nextTryMs: p.nextTryMs,
        setAsideSinceMs: text`coalesce(${hubExecutions.setAsideSinceMs}, ${p.atMs})`,
      })
      .where(
        text`${hubExecutions.idempotencyKey} = ${p.key} and ${isAttested} and ${hubExecutions.slotId} is null`,
      ),
);
const splitBatch = defineSql(
  "hub_execution_take_apart",
  EXECUTION,
  (p: Params<{ slotId: string; nextTryMs: number }>) => text`
    with freed as (
      update ${hubExecutions} set ${nameOf(hubExecutions.slotId)} = null, ${nameOf(hubExecutions.apart)} = true,
        ${nameOf(hubExecutions.nextTryMs)} = ${p.nextTryMs}
      where ${hubExecutions.slotId} = ${p.slotId} and ${isAttested} returning ${columnsOf(EXECUTION)})
    select * from freed order by id`,
);
interface AbandonParams extends Record<string, unknown> {
  readonly slotId: string;
  readonly reason: string;
  readonly atMs: number;
}
const abandonExecutions = defineQuery("hub_execution_abandon", (db, p: Params<AbandonParams>) =>
  db
    .update(hubExecutions)
    .set({ slotId: null, nextTryMs: p.atMs, reason: p.reason })
    .where(and(eq(hubExecutions.slotId, p.slotId), isAttested))
    .returning(ID),
);
// Oracles sign them again, because the set of oracles may have changed.
const abandonMappings = defineQuery("nonce_mapping_abandon", (db, p: Params<AbandonParams>) =>
  db
    .update(nonceMappings)
    .set({
      state: "stored",
      slotId: null,
      hubSignature: null,
      reason: p.reason,
      nextTryMs: p.atMs,
      updatedAtMs: p.atMs,
    })
    .where(and(eq(nonceMappings.slotId, p.slotId), text`${nonceMappings.state} = 'signed'`))
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
    async markAttested(slotId, keys, atMs) {
      const rows = await markAttested(sql, {
        slotId,
        depositKey: keys.deposit,
        paymentKey: keys.payment,
        atMs,
      });
      return rows.length > 0;
    },
    async addExecutions(executions, atMs) {
      for (const { idempotencyKey, kind, actions, signature } of executions)
        await addExecution(sql, { idempotencyKey, kind, actions, signature, atMs });
    },
    lockUnsubmitted: async (executionIds) =>
      (await lockUnsubmittedRows(sql, { executionIds })).length === executionIds.length,
    async markSubmitted(executionIds, slotId) {
      await writeSlot(sql, { executionIds, slotId });
    },
    splitBatch: async (slotId, nextTryMs) => (await splitBatch(sql, { slotId, nextTryMs })).map(executionOf),
    async abandon(slotId, reason, atMs) {
      const executions = await abandonExecutions(sql, { slotId, reason, atMs });
      const mappings = await abandonMappings(sql, { slotId, reason, atMs });
      return executions.length + mappings.length;
    },
    async postponeExecution(key, reason, nextTryMs, atMs) {
      await postponeExecution(sql, { key, reason, nextTryMs, atMs });
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
    async refuse({ key, slotId = null }, reason, nextTryMs, atMs) {
      if ((await refuseExecution(sql, { key, slotId, reason })).length === 0) return;
      await refusePayments(sql, { key, reason, nextTryMs, atMs });
    },
    async release({ key, slotId = null }, reason, nextTryMs) {
      await release(sql, { key, slotId, reason, nextTryMs });
    },
  };
}
