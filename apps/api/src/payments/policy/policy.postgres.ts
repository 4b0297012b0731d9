import type { Address, RequestId } from "@causeway/domain";
import { and, asc, eq, sql as text } from "drizzle-orm";
import { defineQuery, defineSql, defineWrite, nameOf, type Params } from "../../db/define-query.postgres.ts";
import type { Sql } from "../../db/pool.postgres.ts";
import type { Rule } from "./limits.port.ts";
import type { KeyName } from "./limits.port.ts";
import type { Pause, PauseStore, PolicyWrites } from "./policy.port.ts";
import { pauseScopeText, readPauseScope } from "./pause-scope.ts";
import { heldPayments, pauses, spentDays, spentSlots } from "./policy.tables.ts";

const listPauses = defineQuery("pauses_list", (db) =>
  db.select().from(pauses).orderBy(asc(pauses.sinceMs), asc(pauses.scope)),
);
const addPause = defineQuery("pause_add", (db, p: Params<typeof pauses.$inferInsert>) =>
  db
    .insert(pauses)
    .values({ scope: p.scope, pausedBy: p.pausedBy, reason: p.reason, sinceMs: p.sinceMs })
    .onConflictDoUpdate({ target: pauses.scope, set: { scope: p.scope } })
    .returning(),
);
const removePause = defineQuery("pause_remove", (db, p: Params<{ scope: string }>) =>
  db.delete(pauses).where(eq(pauses.scope, p.scope)).returning({ scope: pauses.scope }),
);
const heldAmong = defineQuery(
  "policy_held_among",
  (db, p: Params<{ kind: string; legIds: readonly string[] }>) =>
    db
      .select({ legId: heldPayments.legId })
      .from(heldPayments)
      .where(and(eq(heldPayments.legKind, p.kind), text`${heldPayments.legId} = any(${p.legIds}::text[])`)),
);
interface HoldRow extends Record<string, unknown> {
  readonly legKind: string;
  readonly legId: string;
  readonly requestId: RequestId | null;
  readonly chainId: number;
  readonly sender: Address;
  readonly rule: Rule;
  readonly why: string;
  readonly atMs: number;
}
const hold = defineSql(
  "policy_hold",
  { isNew: Boolean },
  (p: Params<HoldRow>) => text`
    with before as materialized (
      select ${heldPayments.rule} from ${heldPayments}
      where ${heldPayments.legKind} = ${p.legKind} and ${heldPayments.legId} = ${p.legId}),
    stored as (
      insert into ${heldPayments} (leg_kind, leg_id, request_id, chain_id, sender, rule, why, since_ms, seen_at_ms)
      values (${p.legKind}, ${p.legId}, ${p.requestId}, ${p.chainId}, ${p.sender}, ${p.rule}, ${p.why}, ${p.atMs}, ${p.atMs})
      on conflict (leg_kind, leg_id) do update set rule = excluded.rule, why = excluded.why, seen_at_ms = excluded.seen_at_ms
      returning 1)
    select coalesce((select rule from before) <> ${p.rule}, true) as is_new from stored`,
);
const releaseHeld = defineWrite(
  "policy_release",
  (db, p: Params<{ kind: string; legIds: readonly string[] }>) =>
    db
      .delete(heldPayments)
      .where(and(eq(heldPayments.legKind, p.kind), text`${heldPayments.legId} = any(${p.legIds}::text[])`)),
);
interface Day extends Record<string, unknown> {
  readonly chainId: number;
  readonly key: KeyName;
  readonly day: number;
}
// The update without effect locks the row, whether or not it existed.
const lockDay = defineQuery("policy_lock_day", (db, p: Params<Day>) =>
  db
    .insert(spentDays)
    .values({ chainId: p.chainId, keyName: p.key, day: p.day, usd: 0n })
    .onConflictDoUpdate({
      target: [spentDays.chainId, spentDays.keyName, spentDays.day],
      set: { usd: text`${spentDays.usd}` },
    })
    .returning({ usd: spentDays.usd }),
);
const countedFor = defineQuery("policy_counted_for", (db, p: Params<{ slotId: string }>) =>
  db
    .select({ usd: spentSlots.usd })
    .from(spentSlots)
    .where(text`${spentSlots.slotId} = ${p.slotId}::bigint`),
);
const count = defineSql(
  "policy_count",
  {},
  (p: Params<Day & { readonly slotIds: readonly string[]; readonly usds: readonly string[] }>) => text`
    with counted as (
      insert into ${spentSlots} (slot_id, chain_id, key_name, day, usd)
      select s.id, ${p.chainId}::bigint, ${p.key}::text, ${p.day}::bigint, s.usd
      from unnest(${p.slotIds}::bigint[], ${p.usds}::numeric[]) as s (id, usd)
      on conflict do nothing returning ${nameOf(spentSlots.usd)} as usd)
    update ${spentDays} set usd = ${spentDays.usd} + (select coalesce(sum(usd), 0) from counted)
    where ${spentDays.chainId} = ${p.chainId} and ${spentDays.keyName} = ${p.key} and ${spentDays.day} = ${p.day}`,
);
const releaseSpending = defineSql(
  "policy_give_back",
  {},
  (p: Params<{ slotId: string }>) => text`
    with given as (delete from ${spentSlots} where ${spentSlots.slotId} = ${p.slotId}::bigint
      returning ${spentSlots.chainId} as chain_id, ${spentSlots.keyName} as key_name, ${spentSlots.day} as day, ${spentSlots.usd} as usd)
    update ${spentDays} set usd = greatest(${spentDays.usd} - given.usd, 0) from given
    where ${spentDays.chainId} = given.chain_id and ${spentDays.keyName} = given.key_name and ${spentDays.day} = given.day`,
);
const keep = defineWrite("policy_keep", (db, p: Params<{ slotIds: readonly string[] }>) =>
  db.delete(spentSlots).where(text`${spentSlots.slotId} = any(${p.slotIds}::bigint[])`),
);

function pauseOfRow({ scope, pausedBy, reason, sinceMs }: typeof pauses.$inferSelect): Pause[] {
  const read = readPauseScope(scope);
  return read === undefined ? [] : [{ scope: read, pausedBy, reason, sinceMs }];
}

/** Stores the operator's pauses. */
export function pauseStore(sql: Sql): PauseStore {
  return {
    list: async () => (await listPauses(sql, {})).flatMap(pauseOfRow),
    async add(pause) {
      const { pausedBy, reason, sinceMs } = pause;
      const rows = await addPause(sql, { scope: pauseScopeText(pause.scope), pausedBy, reason, sinceMs });
      return rows.flatMap(pauseOfRow)[0] ?? pause;
    },
    remove: async (scope) => (await removePause(sql, { scope: pauseScopeText(scope) })).length > 0,
  };
}

/** The policy's reads and writes in one transaction. */
export function policyWrites(sql: Sql): PolicyWrites {
  return {
    async standing(kind, legIds) {
      const [paused, held] = await Promise.all([listPauses(sql, {}), heldAmong(sql, { kind, legIds })]);
      return { pauses: paused.flatMap(pauseOfRow), heldIds: new Set(held.map(({ legId }) => legId)) };
    },
    async hold({ leg, chainId, sender, refusal, why }, atMs) {
      const { kind: legKind, id: legId, requestId = null } = leg;
      const row = { legKind, legId, requestId, chainId, sender, rule: refusal.rule, why, atMs };
      return (await hold(sql, row))[0]?.isNew === true;
    },
    release: async (kind, legIds) => await releaseHeld(sql, { kind, legIds }),
    lockDay: async (day) => (await lockDay(sql, { ...day }))[0]?.usd ?? 0n,
    countedFor: async (slotId) => (await countedFor(sql, { slotId }))[0]?.usd,
    async count(day, slots) {
      const slotIds = slots.map(({ slotId }) => slotId);
      const usds = slots.map(({ usd }) => String(usd));
      await count(sql, { ...day, slotIds, usds });
    },
    releaseSpending: async (slotId) => void (await releaseSpending(sql, { slotId })),
    keepSpending: async (slotIds) => await keep(sql, { slotIds }),
  };
}
