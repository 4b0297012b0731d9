import { totalOf } from "@causeway/domain";
import type { Address, HoldReason, OrderId, RequestId, TxHash } from "@causeway/domain";
import { and, eq, sql as text, type SQL } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { CurrencyAt, DepositAddressWrites, SweepState } from "./deposit-addresses.port.ts";
import { storeAnnouncements } from "../../db/announcements.postgres.ts";
import {
  defineQuery,
  defineSql,
  nameOf,
  namesOf,
  type Params,
  defineWrite,
  defineSqlWrite,
} from "../../db/define-query.postgres.ts";
import type { Sql } from "../../db/pool.postgres.ts";
import { slots } from "../../payments/payments.tables.ts";
import {
  deliveriesOfEvent,
  insertStatusEvents,
  STATUS_CHANNEL,
  WEBHOOK_CHANNEL,
} from "../../requests/request-save.postgres.ts";
import {
  listRequests,
  toNewlyListed,
  selectUnlisted,
  UNLISTED,
  updateListed,
} from "../../requests/history/history-writes.postgres.ts";
import { requests } from "../../requests/requests.tables.ts";
import { chainCursors, nonEvmCursors } from "../deposits.tables.ts";
import {
  ADDRESS,
  addressOf,
  FUNDS,
  fundsOf,
  layersText,
  refundColumn,
  SWEEP,
  sweepOf,
} from "./deposit-address-rows.postgres.ts";
import {
  depositAddresses as addresses,
  depositAddressFunds as funds,
  depositSweeps as sweeps,
} from "./deposit-addresses.tables.ts";
import { sumUnderWay } from "./deposit-sweeps-under-way.postgres.ts";

const find = defineQuery("deposit_address_read", (db, p: Params<{ address: Address }>) =>
  db.select(ADDRESS).from(addresses).where(eq(addresses.address, p.address)),
);
const insert = defineWrite("deposit_address_insert", (db, p: Params<typeof addresses.$inferSelect>) =>
  db.insert(addresses).values({
    address: p.address,
    requestId: p.requestId,
    orderId: p.orderId,
    depositor: p.depositor,
    recovery: p.recovery,
    strict: p.strict,
    boundToOrder: p.boundToOrder,
    refundTo: p.refundTo,
    keyId: p.keyId,
    createdAtMs: p.createdAtMs,
    activeAtMs: p.activeAtMs,
    quotedChainId: p.quotedChainId,
    quotedCurrency: p.quotedCurrency,
    question: p.question,
  }),
);
type ByAddress = Params<{ address: Address }>;
const lock = defineQuery("deposit_address_lock", (db, { address }: ByAddress) =>
  db.select(ADDRESS).from(addresses).where(eq(addresses.address, address)).for("update"),
);
const setActive = defineWrite("deposit_address_active", (db, p: Params<{ address: Address; atMs: number }>) =>
  db
    .update(addresses)
    .set({ activeAtMs: text`greatest(${addresses.activeAtMs}, ${p.atMs})` })
    .where(eq(addresses.address, p.address)),
);

const fundsOn = defineQuery(
  "deposit_address_funds_locked",
  (db, p: Params<{ chainId: number; address: Address }>) =>
    db
      .select(FUNDS)
      .from(funds)
      .where(and(eq(funds.chainId, p.chainId), eq(funds.address, p.address))),
);
interface Place extends Record<string, unknown> {
  readonly address: Address;
  readonly chainId: number;
  readonly currency: Address;
}
const isAt = (p: Params<Place>): SQL =>
  text`${funds.address} = ${p.address} and ${funds.chainId} = ${p.chainId} and ${funds.currency} = ${p.currency}`;
interface ObservedRow extends Place {
  readonly amount: bigint;
  readonly layers: string;
  readonly seenBlock: bigint;
  readonly seenAtMs: number;
  readonly isReported: boolean;
}
const observe = defineWrite(
  "deposit_address_observe",
  (
    db,
    { address, chainId, currency, amount, layers, seenBlock, seenAtMs, isReported }: Params<ObservedRow>,
  ) => {
    const set = { amount, layers, seenBlock, seenAtMs, speaks: isReported };
    return db
      .insert(funds)
      .values({ address, chainId, currency, ...set })
      .onConflictDoUpdate({
        target: [funds.address, funds.chainId, funds.currency],
        set: { ...set, observation: text`excluded.${nameOf(funds.observation)}`, heldReason: null },
      });
  },
);
const forget = defineWrite("deposit_address_forget", (db, p: Params<Place>) =>
  db.delete(funds).where(isAt(p)),
);
const lockFunds = defineQuery(
  "deposit_address_lock_funds",
  (db, p: Params<Place & { readonly observation: number }>) =>
    db
      .select(FUNDS)
      .from(funds)
      .where(and(isAt(p), eq(funds.observation, p.observation)))
      .for("update"),
);
const hold = defineWrite("deposit_address_hold", (db, p: Params<Place & { readonly reason: HoldReason }>) =>
  db.update(funds).set({ heldReason: p.reason, alarmedReason: p.reason }).where(isAt(p)),
);
const release = defineWrite(
  "deposit_address_release",
  (db, p: Params<{ chainId: number; address: Address }>) =>
    db
      .update(funds)
      .set({ heldReason: null })
      .where(and(eq(funds.chainId, p.chainId), eq(funds.address, p.address))),
);

const announceEvents = text`select ${text.raw(`'${STATUS_CHANNEL}'`)}, concat(request_id, ' ', seq, ' ', key_id) from event`;
/** The status of these requests mentions the funds at their deposit address. */
const isUnpaid = text`${requests.state} in ('quoted', 'accepted', 'depositing', 'expired')`;
const isMoving = text`${sweeps.state} in ('planned', 'sent', 'mined')`;
const isVoid = text`${sweeps.state} = 'void'`;
/**
 * Part of the origin in the terms, found by the form in which `termsToJson` writes it before any text of
 * callers. The terms are not cast to JSON: such text may hold characters that Postgres refuses there, and the
 * statement would fail.
 */
const inOrigin = (pattern: string): SQL =>
  text`substring(${requests.terms} from ${text.raw(String.raw`'"origin":\{"chainId":\d+,"currency":${pattern}'`)})`;
const originCurrency = inOrigin(String.raw`"([^"]+)"`);
const originAmount = inOrigin(String.raw`"[^"]+","amount":\{"\$n":"(\d+)"`);

const noteFunds = defineSql(
  "deposit_address_note_funds",
  UNLISTED,
  (p: Params<{ address: Address; atMs: number }>) => {
    const [isSeen, isHeld] = [
      text`(s.is_moving or (s.is_awaiting and p.is_seen))`,
      text`(s.is_awaiting and (p.is_held or s.is_whole))`,
    ];
    return text`
      with place as (
        select coalesce(bool_or(${funds.heldReason} is null and ${funds.speaks}), false) as is_seen,
          coalesce(bool_or(${funds.heldReason} <> 'AMOUNT_TOO_LOW' and ${funds.speaks}), false) as is_held
        from ${funds} where ${funds.address} = ${p.address}),
      moving as (select ${sweeps.requestId} from ${sweeps} where ${sweeps.address} = ${p.address} and ${isMoving}),
      voided as (select ${sweeps.requestId} from ${sweeps} where ${sweeps.address} = ${p.address} and ${isVoid}),
      concerned as (
        select ${addresses.requestId} from ${addresses} where ${addresses.address} = ${p.address}
        union select request_id from moving union select request_id from voided
        union select ${requests.requestId} from ${requests}
          where ${requests.depositAddress} = ${p.address} and (${requests.fundsSeen} or ${requests.fundsHeld})),
      stands as (
        select ${requests.requestId}, ${requests.fundsSeen} as was_seen, ${requests.fundsHeld} as was_held,
          ${requests.requestId} in (select request_id from moving) as is_moving,
          ${requests.supersededBy} is null
            and (exists (select from ${addresses} where ${addresses.address} = ${p.address} and ${addresses.requestId} = ${requests.requestId})
              or (${requests.requestId} in (select request_id from voided) and ${requests.depositId} is null and ${requests.front} = 'none'))
            and not exists (select from ${sweeps} where ${sweeps.requestId} = ${requests.requestId} and not ${isVoid}) as is_awaiting,
          -- Too little to move at current fees, but the whole quoted amount: it must not be paid again.
          exists (select from ${funds} where ${funds.address} = ${p.address} and ${funds.speaks}
            and ${funds.heldReason} = 'AMOUNT_TOO_LOW' and ${funds.chainId} = ${requests.originChainId}
            and ${funds.currency} = ${originCurrency} and ${funds.amount} >= ${originAmount}::numeric) as is_whole
        from concerned join ${requests} using (request_id)),
      noted as (
        update ${requests} set ${nameOf(requests.fundsSeen)} = ${isSeen}, ${nameOf(requests.fundsHeld)} = ${isHeld},
          ${nameOf(requests.statusSeq)} = ${requests.statusSeq} + case when ${isUnpaid} then 1 else 0 end,
          ${nameOf(requests.updatedAtMs)} = case when ${isUnpaid}
            then greatest(${requests.updatedAtMs}, ${p.atMs}) else ${requests.updatedAtMs} end
        from stands s, place p where ${requests.requestId} = s.request_id
          and (s.was_seen, s.was_held) is distinct from (${isSeen}, ${isHeld})
        returning ${requests}.*, s.was_seen),
      event as (${insertStatusEvents(text`noted as ${requests} where ${isUnpaid}`, {
        atMs: text`${requests.updatedAtMs}`,
        // The status word stays the same, so webhooks have nothing to deliver.
        onlyFinal: text`${requests.state} not in ('quoted', 'accepted') or ${requests}.was_seen = ${requests.fundsSeen}`,
      })}),
      delivered as (${deliveriesOfEvent(p.atMs)}),
      announced as (
        ${storeAnnouncements(text`${announceEvents}
        union all select ${text.raw(`'${WEBHOOK_CHANNEL}'`)}, '' where exists (select from delivered)`)}),
      ${updateListed(text`noted`)}
      ${selectUnlisted(text`noted`)}`;
  },
  { announces: true },
);

async function noteFundsAt(sql: Sql, address: Address, atMs: number): Promise<void> {
  const unlisted = await noteFunds(sql, { address, atMs });
  await listRequests(sql, unlisted.map(toNewlyListed));
}

interface SweepRow extends Place {
  readonly observation: number;
  readonly amount: bigint;
  readonly excess: bigint;
  readonly orderId: OrderId;
  readonly requestId: RequestId;
  readonly arrivedAtMs: number;
  readonly createdAtMs: number;
  readonly layers: string;
}
const addSweep = defineQuery("deposit_sweep_insert", (db, p: Params<SweepRow>) =>
  db
    .insert(sweeps)
    .values({
      observation: p.observation,
      address: p.address,
      chainId: p.chainId,
      currency: p.currency,
      amount: p.amount,
      excess: p.excess,
      orderId: p.orderId,
      requestId: p.requestId,
      arrivedAtMs: p.arrivedAtMs,
      createdAtMs: p.createdAtMs,
      layers: p.layers,
    })
    .returning({ id: sweeps.id }),
);
const lockSweep = defineQuery("deposit_sweep_lock", (db, { id }: Params<{ id: string }>) =>
  db.select(SWEEP).from(sweeps).where(eq(sweeps.id, id)).for("update"),
);
interface SweepChange extends Record<string, unknown> {
  readonly id: string;
  readonly state: SweepState;
  readonly blockNumber: bigint | null;
  readonly txHash: TxHash | null;
}
const setSweep = defineWrite("deposit_sweep_set", (db, p: Params<SweepChange>) =>
  db
    .update(sweeps)
    .set({
      state: p.state,
      blockNumber: text`${p.blockNumber}`,
      txHash: text`coalesce(${p.txHash}, ${sweeps.txHash})`,
    })
    .where(eq(sweeps.id, p.id)),
);
const setRefusedSince = defineWrite(
  "deposit_sweep_refused_since",
  (db, p: Params<{ id: string; sinceMs: number | null }>) =>
    db.update(sweeps).set({ refusedSinceMs: p.sinceMs }).where(eq(sweeps.id, p.id)),
);
// The funds count from the next block: a scan that read balances before the sweep ended must not decide on
// them. The sender is still searched for in the original block.
const seeAgain = defineSqlWrite(
  "deposit_sweep_see_again",
  (p: Params<Place & { readonly sweepId: string; readonly amount: bigint; readonly seenAtMs: number }>) => {
    const { address, chainId, currency, amount, layers, seenBlock, seenAtMs, speaks } = funds;
    const excluded = (name: SQL): SQL => text`excluded.${name}`;
    return text`
      with cursor as (
        select coalesce(
          (select ${chainCursors.blockNumber} from ${chainCursors} where ${chainCursors.chainId} = ${p.chainId}),
          (select ${nonEvmCursors.blockNumber} from ${nonEvmCursors} where ${nonEvmCursors.chainId} = ${p.chainId}), 0) as number),
      moved as (
        select jsonb_array_elements(${sweeps.layers}::jsonb) as layer from ${sweeps}
        where ${sweeps.id} = ${p.sweepId} and ${sweeps.layers} is not null),
      back as (
        select coalesce(
          (select jsonb_agg(jsonb_build_array(layer->0, (number + 1)::text, layer->2, layer->3, coalesce(nullif(layer->4, 'null'), layer->1))) from moved),
          jsonb_build_array(jsonb_build_array(${p.amount}::text, (number + 1)::text, null, ${p.seenAtMs}::bigint)))::text as layers, number
        from cursor)
      insert into ${funds} (${namesOf(address, chainId, currency, amount, layers, seenBlock, seenAtMs, speaks)})
      select ${p.address}::text, ${p.chainId}::bigint, ${p.currency}::text, ${p.amount}::text::numeric, layers, number, ${p.seenAtMs}::bigint, true
      from back
      on conflict (${namesOf(address, chainId, currency)}) do update set
        ${nameOf(amount)} = ${amount} + ${excluded(nameOf(amount))},
        ${nameOf(layers)} = (${layers}::jsonb || ${excluded(nameOf(layers))}::jsonb)::text,
        ${nameOf(seenBlock)} = greatest(${seenBlock}, ${excluded(nameOf(seenBlock))}),
        ${nameOf(seenAtMs)} = least(${seenAtMs}, ${excluded(nameOf(seenAtMs))}),
        ${nameOf(funds.observation)} = ${excluded(nameOf(funds.observation))}, ${nameOf(funds.heldReason)} = null,
        ${nameOf(speaks)} = true`;
  },
);

const successor = alias(requests, "r");
/** Whether a request has no live sweep, no deposit and no fast fill. */
const isUnfunded = (table: typeof requests | typeof successor): SQL => text`
  ${table.depositId} is null and ${table.front} = 'none'
  and not exists (select from ${sweeps} where ${sweeps.requestId} = ${table.requestId} and not ${isVoid})`;
// Announced by `noteFunds` in the same commit.
const reinstate = defineSqlWrite(
  "requests_reinstate",
  (p: Params<{ address: Address; successorId: RequestId }>) => text`
    update ${requests} set ${nameOf(requests.supersededBy)} = null
    where ${requests.depositAddress} = ${p.address} and ${requests.supersededBy} = ${p.successorId}
      and exists (select from ${requests} ${successor} where ${successor.requestId} = ${p.successorId} and ${isUnfunded(successor)})`,
);
const hasSweep = defineQuery("deposit_sweep_any", (db, { requestId }: Params<{ requestId: RequestId }>) =>
  db
    .select({ id: sweeps.id })
    .from(sweeps)
    .where(text`${sweeps.requestId} = ${requestId} and not ${isVoid}`)
    .limit(1),
);
const sweepsWithNonce = defineQuery(
  "deposit_sweeps_with_nonce",
  (db, { requestId }: Params<{ requestId: RequestId }>) =>
    db
      .select(SWEEP)
      .from(sweeps)
      .where(
        text`${sweeps.requestId} = ${requestId} and not ${isVoid} and exists (select from ${slots}
          where ${slots.legKind} = 'sweep' and ${slots.legId} = ${sweeps.id}::text and ${slots.state} <> 'dead')`,
      ),
);
const setAddress = defineWrite(
  "request_set_deposit_address",
  (db, p: Params<{ requestId: RequestId; address: Address }>) =>
    db.update(requests).set({ depositAddress: p.address }).where(eq(requests.requestId, p.requestId)),
);

/** Sets the successor of requests, stores their status and announces it; webhooks have nothing to deliver. */
const supersedeWhere = (successorId: SQL, atMs: SQL, where: SQL): SQL => text`
  saved as (
    update ${requests} set ${nameOf(requests.supersededBy)} = ${successorId}, ${nameOf(requests.statusSeq)} = ${requests.statusSeq} + 1
    where ${where} returning ${requests}.*),
  event as (${insertStatusEvents(text`saved as ${requests}`, { atMs: text`${atMs}::bigint`, onlyFinal: text`true` })})
  ${storeAnnouncements(announceEvents)}`;
const supersede = defineSqlWrite(
  "request_supersede",
  (p: Params<{ requestId: RequestId; successorId: RequestId; atMs: number }>) =>
    text`with ${supersedeWhere(p.successorId, p.atMs, text`${requests.requestId} = ${p.requestId} and ${requests.supersededBy} is null`)}`,
  { announces: true },
);
// Includes the requests that these had superseded: statuses follow one step, so a successor must not be
// superseded itself.
const supersedeVoided = defineSqlWrite(
  "requests_supersede_voided",
  (p: Params<{ address: Address; successorId: RequestId; atMs: number }>) => text`
    with voided as (
      select ${requests.requestId} from ${requests}
      where ${requests.depositAddress} = ${p.address} and ${requests.requestId} <> ${p.successorId} and ${requests.supersededBy} is null
        and ${requests.state} in ('quoted', 'expired') and ${isUnfunded(requests)}
        and exists (select from ${sweeps} where ${sweeps.requestId} = ${requests.requestId})),
    ${supersedeWhere(
      p.successorId,
      p.atMs,
      text`${requests.depositAddress} = ${p.address} and (${requests.requestId} in (select request_id from voided)
        or ${requests.supersededBy} in (select request_id from voided))`,
    )}`,
  { announces: true },
);
const supersededBy = defineQuery(
  "request_superseded_by",
  (db, { requestId }: Params<{ requestId: RequestId }>) =>
    db
      .select({ supersededBy: requests.supersededBy })
      .from(requests)
      .where(eq(requests.requestId, requestId)),
);

/** Deposit addresses inside one transaction. */
export function depositAddressWrites(sql: Sql): DepositAddressWrites {
  const placeOf = ({ address, chainId, currency }: CurrencyAt): Place => ({ address, chainId, currency });
  return {
    async insert({ key, refundTo, quoted, question, ...fields }) {
      await insert(sql, {
        address: fields.address,
        requestId: fields.requestId,
        orderId: key.id,
        depositor: key.depositor,
        recovery: key.recovery,
        strict: fields.strict,
        boundToOrder: key.strict,
        refundTo: refundColumn(refundTo),
        keyId: fields.keyId ?? null,
        createdAtMs: fields.createdAtMs,
        activeAtMs: fields.activeAtMs,
        quotedChainId: quoted.chainId,
        quotedCurrency: quoted.currency,
        question,
      });
    },
    async find(address) {
      const [row] = await find(sql, { address });
      return row && addressOf(row);
    },
    async lock(address) {
      const [row] = await lock(sql, { address });
      return row && addressOf(row);
    },
    async setActive(address, atMs) {
      await setActive(sql, { address, atMs });
    },
    funds: async (chainId, address) => (await fundsOn(sql, { chainId, address })).map(fundsOf),
    async observe(place, layers, changedBlock, isReported) {
      const [oldest] = layers;
      if (oldest === undefined) await forget(sql, placeOf(place));
      else
        await observe(sql, {
          ...placeOf(place),
          amount: totalOf(layers),
          layers: layersText(layers),
          seenBlock: changedBlock,
          seenAtMs: oldest.seenAtMs,
          isReported,
        });
    },
    underWay: async (chainId, watchedAddresses, balanceBlock) =>
      await sumUnderWay(sql, chainId, watchedAddresses, balanceBlock),
    async lockFunds(place, observation) {
      const [row] = await lockFunds(sql, { ...placeOf(place), observation });
      return row && fundsOf(row);
    },
    async hold(place, reason) {
      await hold(sql, { ...placeOf(place), reason });
    },
    async release(chainId, address) {
      await release(sql, { chainId, address });
    },
    async noteFunds(address, atMs) {
      await noteFundsAt(sql, address, atMs);
    },
    async addSweep({ observation, amount, excess, orderId, requestId, arrivedAtMs, createdAtMs, ...sweep }) {
      const [row] = await addSweep(sql, {
        ...placeOf(sweep),
        observation,
        amount,
        excess,
        orderId,
        requestId,
        arrivedAtMs,
        createdAtMs,
        layers: layersText(sweep.layers),
      });
      if (row === undefined) throw new Error("invariant violated: sweep was not stored");
      return String(row.id);
    },
    async lockSweep(id) {
      const [row] = await lockSweep(sql, { id });
      return row && sweepOf(row);
    },
    async setSweep(id, state, mined) {
      await setSweep(sql, {
        id,
        state,
        blockNumber: mined?.blockNumber ?? null,
        txHash: mined?.txHash ?? null,
      });
    },
    async setRefusedSince(id, sinceMs) {
      await setRefusedSince(sql, { id, sinceMs: sinceMs ?? null });
    },
    async voidSweep(sweep, atMs) {
      const { id, address, requestId } = sweep;
      await setSweep(sql, { id, state: "void", blockNumber: null, txHash: null });
      const seen = { amount: sweep.amount + sweep.excess, seenAtMs: sweep.arrivedAtMs };
      await seeAgain(sql, { ...placeOf(sweep), sweepId: id, ...seen });
      await reinstate(sql, { address, successorId: requestId });
      await noteFundsAt(sql, address, atMs);
    },
    hasSweep: async (requestId) => (await hasSweep(sql, { requestId })).length > 0,
    sweepsWithNonce: async (requestId) => (await sweepsWithNonce(sql, { requestId })).map(sweepOf),
    async setAddress(requestId, address) {
      await setAddress(sql, { requestId, address });
    },
    async supersede(requestId, successorId, atMs) {
      await supersede(sql, { requestId, successorId, atMs });
    },
    async supersedeVoided(address, successorId, atMs) {
      await supersedeVoided(sql, { address, successorId, atMs });
    },
    supersededBy: async (requestId) => (await supersededBy(sql, { requestId }))[0]?.supersededBy ?? undefined,
  };
}
