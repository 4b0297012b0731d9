import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Address, FailReason, Hex, TxHash } from "@causeway/domain";
import { and, asc, eq, isNull, lt, ne, sql as text } from "drizzle-orm";
import type { Slot } from "../db/records.port.ts";
import type { LaneWrites } from "../db/unit-of-work.port.ts";
import {
  defineQuery,
  defineSql,
  defineSqlWrite,
  defineWrite,
  nameOf,
  type Params,
  recordset,
  rowsJson,
} from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { LaneHeld, ServerReplaced } from "../db/server-replaced.port.ts";
import type { ServerWatch } from "../db/server-watch.postgres.ts";
import { attempts, lanes, NO_CALL_DATA, nonceUsers, slots } from "./payments.tables.ts";
import { isReconciledOn, SERVER_IDENTITY, SERVER_START, SLOT, slotOf } from "./slot-rows.postgres.ts";
import { insertNewAttempts, noteBroadcasts, reserveSlots, restoreSlot } from "./slots-together.postgres.ts";

interface Lane extends Record<string, unknown> {
  readonly chainId: number;
  readonly sender: Address;
}
const isLane = (p: Params<Lane>) => and(eq(lanes.chainId, p.chainId), eq(lanes.sender, p.sender));
const openLane = defineWrite("lane_open", (db, p: Params<Lane & { readonly nonce: number }>) =>
  db.insert(lanes).values({ chainId: p.chainId, sender: p.sender, nextNonce: p.nonce }).onConflictDoNothing(),
);
const lockLane = defineQuery("lane_lock", (db, p: Params<Lane>) =>
  db
    .select({
      server: text`${SERVER_START}`.mapWith(String),
      identity: text`${SERVER_IDENTITY}`.mapWith(String),
      reconciledOn: lanes.server,
    })
    .from(lanes)
    .where(isLane(p))
    .for("update"),
);
const noteSearchFrom = defineWrite(
  "lane_note_search_from",
  (db, p: Params<Lane & { readonly block: bigint }>) =>
    db
      .update(lanes)
      .set({ searchFrom: p.block })
      .where(and(isLane(p), isNull(lanes.searchFrom))),
);
const raise = defineWrite("lane_raise", (db, p: Params<Lane & { readonly nonce: number }>) =>
  db
    .update(lanes)
    .set({ nextNonce: p.nonce, searchFrom: null })
    .where(and(isLane(p), lt(lanes.nextNonce, p.nonce))),
);
const noteReconciled = defineWrite("lane_note_reconciled", (db, p: Params<Lane>) =>
  db
    .update(lanes)
    .set({ server: SERVER_IDENTITY, quietSince: null, heldSinceMs: null })
    .where(and(isLane(p), text`${lanes.server} is distinct from (${SERVER_IDENTITY})`)),
);
/** No server has this identity. */
const NO_SERVER = "held";
const hold = defineWrite("lane_hold", (db, p: Params<Lane>) =>
  db.update(lanes).set({ server: NO_SERVER, quietSince: null }).where(isLane(p)),
);
const noteHeld = defineWrite("lane_note_held", (db, p: Params<Lane & { readonly atMs: number }>) =>
  db
    .update(lanes)
    .set({ heldSinceMs: p.atMs })
    .where(and(isLane(p), isNull(lanes.heldSinceMs))),
);
const noteQuiet = defineWrite("lane_note_quiet", (db, p: Params<Lane & { readonly block: bigint | null }>) =>
  db
    .update(lanes)
    .set({ quietSince: text`${p.block}` })
    .where(isLane(p)),
);
const skipTo = defineWrite("lane_skip_to", (db, p: Params<Lane & { readonly nonce: number }>) =>
  db
    .update(lanes)
    .set({ nextNonce: p.nonce })
    .where(and(isLane(p), lt(lanes.nextNonce, p.nonce))),
);
interface NonceUser extends Lane {
  readonly nonce: number;
  readonly txHash: TxHash;
  readonly pays: string | null;
  readonly inputEnd: Hex | null;
}
const noteNonceUser = defineWrite(
  "lane_note_nonce_user",
  (db, { chainId, sender, nonce, txHash, pays, inputEnd }: Params<NonceUser>) =>
    db
      .insert(nonceUsers)
      .values({ chainId, sender, nonce, txHash, pays, inputEnd })
      .onConflictDoUpdate({
        target: [nonceUsers.chainId, nonceUsers.sender, nonceUsers.nonce],
        set: { txHash, pays, inputEnd },
      }),
);
// Final slots are older than any balance in use; the others are few and indexed. Native tokens that a payment
// in another currency carries are reserved with its gas.
const reserved = defineSql(
  "lane_reserved",
  { amount: BigInt, gasWei: BigInt },
  (p: Params<Lane & { readonly currency: Address; readonly balanceBlock: bigint }>) => text`
    select coalesce(sum(${slots.outflowAmount}) filter (where ${slots.outflowCurrency} = ${p.currency}), 0) as amount,
      coalesce(sum(${slots.gasLimit} * ${slots.maxFeePerGas}
        + case when ${slots.outflowCurrency} = ${text.raw(`'${NATIVE_CURRENCY}'`)} then 0 else ${slots.callValue} end), 0) as gas_wei
    from ${slots} where ${slots.chainId} = ${p.chainId} and ${slots.sender} = ${p.sender}
      and (${slots.state} = 'open' or (${slots.state} = 'mined' and ${slots.minedBlockNumber} > ${p.balanceBlock}))`,
);
const liveOfLeg = defineQuery("slot_live_of_leg", (db, p: Params<{ kind: string; legId: string }>) =>
  db
    .select({ id: slots.id })
    .from(slots)
    .where(and(eq(slots.legKind, p.kind), eq(slots.legId, p.legId), text`${slots.state} <> 'dead'`)),
);
interface Id extends Record<string, unknown> {
  readonly slotId: string;
}
interface Ids extends Record<string, unknown> {
  readonly slotIds: readonly string[];
}
const lockSlots = defineQuery("slots_lock", (db, { slotIds }: Params<Ids>) =>
  db
    .select(SLOT)
    .from(slots)
    .where(text`${slots.id} = any(${slotIds}::bigint[])`)
    .orderBy(asc(slots.id))
    .for("update"),
);
const attemptsOf = defineQuery("slots_attempts", (db, { slotIds }: Params<Ids>) =>
  db
    .select()
    .from(attempts)
    .where(text`${attempts.slotId} = any(${slotIds}::bigint[])`)
    .orderBy(asc(attempts.slotId), asc(attempts.n)),
);
const renameAttempt = defineWrite(
  "attempt_rename",
  (db, p: Params<{ slotId: string; n: number; txHash: TxHash }>) =>
    db
      .update(attempts)
      .set({ txHash: p.txHash })
      .where(and(eq(attempts.slotId, p.slotId), eq(attempts.n, p.n))),
);
const noteRefused = defineWrite(
  "attempt_refused",
  (db, p: Params<Id & { readonly n: number; readonly atMs: number }>) =>
    db
      .update(attempts)
      .set({ broadcastAtMs: p.atMs })
      .where(and(eq(attempts.slotId, p.slotId), eq(attempts.n, p.n))),
);
const forgetBroadcasts = defineWrite("attempts_forget", (db, { slotIds }: Params<Ids>) =>
  db
    .update(attempts)
    .set({ broadcastAtMs: null, offeredSinceMs: null })
    .where(text`${attempts.slotId} = any(${slotIds}::bigint[])`),
);
const MINED = {
  id: slots.id,
  minedAttempt: slots.minedAttempt,
  minedBlockNumber: slots.minedBlockNumber,
  minedBlockHash: slots.minedBlockHash,
  minedStatus: slots.minedStatus,
  gasUsed: slots.gasUsed,
  effectiveGasPrice: slots.effectiveGasPrice,
};
const { id: _id, ...OUTCOME } = MINED;
const setMined = defineSqlWrite(
  "slots_mined",
  (p: Params<Ids & { readonly mined: string; readonly atMs: number }>) => {
    const outcome = Object.values(OUTCOME).map((column) => text`${nameOf(column)} = given.${nameOf(column)}`);
    return text`
    update ${slots} set ${nameOf(slots.state)} = 'mined', ${nameOf(slots.minedAtMs)} = ${p.atMs},
      ${nameOf(slots.unexplainedSince)} = null, ${nameOf(slots.unexplainedConfirmed)} = false,
      ${text.join(outcome, text`, `)}
    from ${recordset(p.mined, MINED)} where ${slots.id} = given.id and ${slots.id} = any(${p.slotIds}::bigint[])`;
  },
);
const setOpen = defineWrite("slot_open", (db, { slotId }: Params<Id>) =>
  db
    .update(slots)
    .set({
      state: "open",
      minedAttempt: null,
      minedBlockNumber: null,
      minedBlockHash: null,
      minedStatus: null,
      minedAtMs: null,
      gasUsed: null,
      effectiveGasPrice: null,
    })
    .where(eq(slots.id, slotId)),
);
const setFinal = defineWrite("slots_final", (db, p: Params<Ids & { readonly atMs: number }>) =>
  db
    .update(slots)
    .set({ state: "final", finalAtMs: p.atMs })
    .where(text`${slots.id} = any(${p.slotIds}::bigint[])`),
);
// Nothing broadcasts an ended payment again. Its nonce and its hashes stay, so a variant that a reorg below
// finality mines is still known, and its nonce never pays anything else.
const dropBytes = defineSql(
  "attempt_drop_bytes",
  { dropped: Number },
  (p: Params<{ beforeMs: number; limit: number }>) => text`
    with due as materialized (
      select ${attempts}.ctid as place, ${attempts.slotId} from ${attempts} join ${slots} on ${slots.id} = ${attempts.slotId}
      where ${attempts.raw} <> '0x' and ${attempts.createdAtMs} < ${p.beforeMs} and ${slots.state} in ('final', 'dead')
        and coalesce(${slots.finalAtMs}, ${attempts.createdAtMs}) < ${p.beforeMs}
      order by ${attempts.createdAtMs} limit ${p.limit} for update of ${attempts} skip locked),
    emptied as (
      update ${attempts} set ${nameOf(attempts.raw)} = '0x' where ctid = any(array(select place from due)) returning 1),
    -- The calls of these kinds are not archived.
    without_call as (
      update ${slots} set ${nameOf(slots.callData)} = ${NO_CALL_DATA}
      where ${slots.id} in (select slot_id from due) and ${slots.legKind} in ('hub', 'payout'))
    select count(*) as dropped from emptied`,
);
const setDead = defineWrite("slot_dead", (db, p: Params<Id & { readonly reason: string }>) =>
  db.update(slots).set({ state: "dead", deadReason: p.reason }).where(eq(slots.id, p.slotId)),
);
const isOpen = text`${slots.state} = 'open'`;
const noteUnexplained = defineWrite(
  "slot_note_unexplained",
  (db, p: Params<Id & { readonly head: bigint }>) =>
    db
      .update(slots)
      .set({
        unexplainedSince: text`coalesce(${slots.unexplainedSince}, ${p.head})`,
        unexplainedConfirmed: text`coalesce(${slots.unexplainedSince} < ${p.head}, false)`,
      })
      .where(and(eq(slots.id, p.slotId), isOpen, ne(slots.unexplainedConfirmed, true))),
);
const clearUnexplained = defineWrite("slot_clear_unexplained", (db, { slotId }: Params<Id>) =>
  db.update(slots).set({ unexplainedSince: null, unexplainedConfirmed: false }).where(eq(slots.id, slotId)),
);
const cancel = defineWrite("slot_cancel", (db, p: Params<Id & { readonly reason: FailReason }>) =>
  db
    .update(slots)
    .set({ cancelReason: p.reason })
    .where(and(eq(slots.id, p.slotId), isOpen, isNull(slots.cancelReason))),
);

/** Lanes, slots and attempts inside one transaction. */
export function laneWrites(sql: Sql, servers: ServerWatch): LaneWrites {
  const lockedLanes = new Set<string>();
  /** @param isToPay whether the lane will pay, which only a reconciled lane may */
  const lockOnce = async (chainId: number, sender: Address, isToPay: boolean): Promise<void> => {
    const lane = `${chainId} ${sender}`;
    if (lockedLanes.has(lane)) return;
    const [row] = await lockLane(sql, { chainId, sender });
    if (row === undefined) return;
    servers.noteIdentity(row.identity);
    if (servers.isNew(row.server)) throw new ServerReplaced();
    if (isToPay && !isReconciledOn(row.identity, row.reconciledOn)) throw new LaneHeld(chainId, sender);
    lockedLanes.add(lane);
  };
  return {
    async open(chainId, sender, nonce): Promise<void> {
      await lockOnce(chainId, sender, false);
      await openLane(sql, { chainId, sender, nonce });
      await raise(sql, { chainId, sender, nonce });
      await noteReconciled(sql, { chainId, sender });
    },
    async hold(chainId, sender): Promise<void> {
      await hold(sql, { chainId, sender });
    },
    async noteHeld(chainId, sender, atMs): Promise<void> {
      await noteHeld(sql, { chainId, sender, atMs });
    },
    async noteQuiet(chainId, sender, block): Promise<void> {
      await noteQuiet(sql, { chainId, sender, block: block ?? null });
    },
    async restore({ plan, nonce, attempts: signed }, atMs) {
      const { chainId, sender } = plan;
      // Another process may restore the same payment.
      await lockLane(sql, { chainId, sender });
      const slot = await restoreSlot(sql, plan, nonce, atMs);
      if (slot === undefined) return undefined;
      await skipTo(sql, { chainId, sender, nonce: nonce + 1 });
      await insertNewAttempts(
        sql,
        signed.map((attempt, n) => ({ slotId: slot.id, attempt: { ...attempt, n } })),
        { isRestored: true },
      );
      return slot;
    },
    async skip(chainId, sender, nonce, user): Promise<void> {
      await noteNonceUser(sql, {
        chainId,
        sender,
        nonce,
        txHash: user.txHash,
        pays: user.pays ?? null,
        inputEnd: user.inputEnd ?? null,
      });
      await skipTo(sql, { chainId, sender, nonce: nonce + 1 });
    },
    async noteSearchFrom(chainId, sender, block): Promise<void> {
      await noteSearchFrom(sql, { chainId, sender, block });
    },
    async noteNonceUser(chainId, sender, nonce, { txHash, pays, inputEnd }): Promise<void> {
      const user = { chainId, sender, nonce, txHash, pays: pays ?? null, inputEnd: inputEnd ?? null };
      await noteNonceUser(sql, user);
    },
    async reserve(plans, atMs) {
      const [first] = plans;
      if (first === undefined) return [];
      // While the lane is locked, no other process can reserve another nonce for the legs.
      await lockOnce(first.chainId, first.sender, true);
      if (!lockedLanes.has(`${first.chainId} ${first.sender}`))
        throw new Error(`invariant violated: lane not opened on chain ${first.chainId}`);
      return await reserveSlots(sql, plans, atMs);
    },
    addAttempts: async (signed) => await insertNewAttempts(sql, signed, { isRestored: false }),
    restoreAttempts: async (lost) => await insertNewAttempts(sql, lost, { isRestored: true }),
    setBroadcasts: async (sent, atMs) => await noteBroadcasts(sql, sent, atMs),
    async reserved(chainId, sender, currency, balanceBlock): Promise<{ amount: bigint; gasWei: bigint }> {
      const [row] = await reserved(sql, { chainId, sender, currency, balanceBlock });
      return row ?? { amount: 0n, gasWei: 0n };
    },
    lockLane: async (chainId, sender) => await lockOnce(chainId, sender, true),
    async hasLiveSlot(leg): Promise<boolean> {
      return (await liveOfLeg(sql, { kind: leg.kind, legId: leg.id })).length > 0;
    },
    async lockSlots(slotIds): Promise<Map<string, Slot>> {
      const rows = await lockSlots(sql, { slotIds });
      const signed = Map.groupBy(await attemptsOf(sql, { slotIds }), ({ slotId }) => slotId);
      return new Map(rows.map((row) => [String(row.id), slotOf(row, signed.get(row.id) ?? [])]));
    },
    async renameAttempt(slotId, n, txHash): Promise<void> {
      await renameAttempt(sql, { slotId, n, txHash });
    },
    async noteRefused(slotId, n, atMs): Promise<void> {
      await noteRefused(sql, { slotId, n, atMs });
    },
    async forgetBroadcasts(slotIds): Promise<void> {
      await forgetBroadcasts(sql, { slotIds });
    },
    async setMined(mined, atMs): Promise<void> {
      const rows = mined.map(({ slotId, attempt, blockNumber, blockHash, status, ...cost }) => ({
        id: Number(slotId),
        minedAttempt: attempt,
        minedBlockNumber: Number(blockNumber),
        minedBlockHash: blockHash,
        minedStatus: status,
        ...cost,
      }));
      await setMined(sql, {
        mined: rowsJson(MINED, rows),
        slotIds: mined.map(({ slotId }) => slotId),
        atMs,
      });
    },
    async setOpen(slotId): Promise<void> {
      await setOpen(sql, { slotId });
    },
    async setFinal(slotIds, atMs): Promise<void> {
      await setFinal(sql, { slotIds, atMs });
    },
    async dropBytes(beforeMs, limit): Promise<number> {
      return (await dropBytes(sql, { beforeMs, limit }))[0]?.dropped ?? 0;
    },
    async setDead(slotId, reason): Promise<void> {
      await setDead(sql, { slotId, reason });
    },
    async noteUnexplained(slotId, headNumber): Promise<void> {
      await noteUnexplained(sql, { slotId, head: headNumber });
    },
    async clearUnexplained(slotId): Promise<void> {
      await clearUnexplained(sql, { slotId });
    },
    async cancel(slotId, reason): Promise<void> {
      await cancel(sql, { slotId, reason });
    },
  };
}
