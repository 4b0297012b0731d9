import { totalOf } from "@causeway/domain";
import type { RequestId } from "@causeway/domain";
import type { DepositAddressWrites, CurrencyAt } from "./deposit-addresses.port.ts";
import {
  ADDRESS_COLUMNS,
  addressOf,
  FUNDS_COLUMNS,
  fundsOf,
  layersText,
  NEW_ADDRESS_COLUMNS,
  refundColumn,
  SWEEP_COLUMNS,
  sweepOf,
} from "./deposit-address-rows.postgres.ts";
import type { AddressRow, FundsRow, SweepRow } from "./deposit-address-rows.postgres.ts";
import { sumUnderWay } from "./deposit-sweeps-under-way.postgres.ts";
import { announcing } from "../../db/announcements.postgres.ts";
import { statement } from "../../db/pool.postgres.ts";
import type { Sql } from "../../db/pool.postgres.ts";
import { STATUS_CHANNEL, WEBHOOK_CHANNEL } from "../../requests/request-save.postgres.ts";
import { webhookDeliveries } from "../../requests/rows.postgres.ts";

const insert = statement(
  "deposit_address_insert",
  `insert into deposit_addresses (${NEW_ADDRESS_COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
);
const lock = statement(
  "deposit_address_lock",
  `select ${ADDRESS_COLUMNS} from deposit_addresses where address = $1 for update`,
);
const setActive = statement(
  "deposit_address_active",
  "update deposit_addresses set active_at_ms = greatest(active_at_ms, $2) where address = $1",
);
const fundsOn = statement(
  "deposit_address_funds_locked",
  `select ${FUNDS_COLUMNS} from deposit_address_funds where chain_id = $1 and address = $2`,
);
const observe = statement(
  "deposit_address_observe",
  `insert into deposit_address_funds as f (address, chain_id, currency, amount, layers, seen_block, seen_at_ms, speaks)
   values ($1, $2, $3, $4, $5, $6, $7, $8)
   on conflict (address, chain_id, currency) do update set amount = excluded.amount, layers = excluded.layers,
     seen_block = excluded.seen_block, seen_at_ms = excluded.seen_at_ms, observation = excluded.observation, held_reason = null,
     speaks = excluded.speaks`,
);
const forget = statement(
  "deposit_address_forget",
  "delete from deposit_address_funds where address = $1 and chain_id = $2 and currency = $3",
);
const lockFunds = statement(
  "deposit_address_lock_funds",
  `select ${FUNDS_COLUMNS} from deposit_address_funds
   where address = $1 and chain_id = $2 and currency = $3 and observation = $4 for update`,
);
const hold = statement(
  "deposit_address_hold",
  "update deposit_address_funds set held_reason = $4, alarmed_reason = $4 where address = $1 and chain_id = $2 and currency = $3",
);
const release = statement(
  "deposit_address_release",
  "update deposit_address_funds set held_reason = null where chain_id = $1 and address = $2",
);
/**
 * Writes the status of the requests `told` down as it stands, with what the words of a change do not hold:
 * what lies at the deposit address, and the successor. `onlyFinal`: SQL on `t`, whether webhooks hear nothing
 * of it, because no word of theirs has changed.
 */
function toldAgain(atMs: string, onlyFinal: string): string {
  return `event as (
     insert into status_events (request_id, seq, key_id, at_ms, only_final, state, deposit_id, fail_reason, refund_fail_reason, final,
       front, in_tx_hashes, tx_hashes, refund_tx_hashes, funds_seen, funds_held)
     select t.request_id, t.status_seq, substring(t.terms from '"keyId":"([^"]+)"'), ${atMs}, ${onlyFinal}, t.state, t.deposit_id, t.fail_reason,
       t.refund_fail_reason, t.final, t.front, t.in_tx_hashes, t.tx_hashes, t.refund_tx_hashes, t.funds_seen, t.funds_held
     from told t returning request_id, seq, key_id, only_final)`;
}
const SAID = `select '${STATUS_CHANNEL}', concat(request_id, ' ', seq, ' ', key_id) from event`;
/** States of a request whose status tells what lies at its deposit address. */
const UNPAID = "('quoted', 'accepted', 'depositing', 'expired')";
/**
 * What is paid on the origin chain, by the form in which `termsToJson` writes it ahead of all text of
 * callers. Never by a cast of the terms: that text may hold what Postgres refuses in JSON, and the statement
 * would fail.
 */
const ORIGIN = {
  currency: String.raw`substring(r.terms from '"origin":\{"chainId":\d+,"currency":"([^"]+)"')`,
  amount: String.raw`substring(r.terms from '"origin":\{"chainId":\d+,"currency":"[^"]+","amount":\{"\$n":"(\d+)"')::numeric`,
} as const;
const noteFunds = announcing(
  "deposit_address_note_funds",
  `with place as (
     select coalesce(bool_or(held_reason is null and speaks), false) as is_seen,
       coalesce(bool_or(held_reason <> 'AMOUNT_TOO_LOW' and speaks), false) as is_held
     from deposit_address_funds where address = $1),
   moving as (select request_id from deposit_sweeps where address = $1 and state in ('planned', 'sent', 'mined')),
   voided as (select request_id from deposit_sweeps where address = $1 and state = 'void'),
   concerned as (
     select request_id from deposit_addresses where address = $1 union select request_id from moving union select request_id from voided
     union select request_id from requests where deposit_address = $1 and (funds_seen or funds_held)),
   stands as (
     select r.request_id, r.funds_seen as was_seen, r.funds_held as was_held,
       r.request_id in (select request_id from moving) as is_moving,
       r.superseded_by is null
         and (exists (select from deposit_addresses a where a.address = $1 and a.request_id = r.request_id)
           or (r.request_id in (select request_id from voided) and r.deposit_id is null and r.front = 'none'))
         and not exists (select from deposit_sweeps s where s.request_id = r.request_id and s.state <> 'void') as is_awaiting,
       -- Too little to be moved at today's fees, and yet all that was asked for: a second payment would be one too many.
       exists (select from deposit_address_funds f where f.address = $1 and f.speaks and f.held_reason = 'AMOUNT_TOO_LOW'
         and f.chain_id = r.origin_chain_id and f.currency = ${ORIGIN.currency} and f.amount >= ${ORIGIN.amount}) as is_whole
     from concerned join requests r using (request_id)),
   noted as (
     update requests r set funds_seen = s.is_moving or (s.is_awaiting and p.is_seen), funds_held = s.is_awaiting and (p.is_held or s.is_whole),
       status_seq = status_seq + case when r.state in ${UNPAID} then 1 else 0 end,
       updated_at_ms = case when r.state in ${UNPAID} then greatest(updated_at_ms, $2) else updated_at_ms end
     from stands s, place p where r.request_id = s.request_id
       and (s.was_seen, s.was_held) is distinct from (s.is_moving or (s.is_awaiting and p.is_seen), s.is_awaiting and (p.is_held or s.is_whole))
     returning r.*, s.was_seen),
   told as (select * from noted where state in ${UNPAID}),
   ${toldAgain("t.updated_at_ms", "t.state not in ('quoted', 'accepted') or t.was_seen = t.funds_seen")},
   delivered as (${webhookDeliveries("$2")})`,
  `${SAID} union all select '${WEBHOOK_CHANNEL}', '' where exists (select from delivered)`,
);
const addSweep = statement(
  "deposit_sweep_insert",
  `insert into deposit_sweeps (observation, address, chain_id, currency, amount, excess, order_id, request_id, arrived_at_ms, created_at_ms, layers)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning id`,
);
const lockSweep = statement(
  "deposit_sweep_lock",
  `select ${SWEEP_COLUMNS} from deposit_sweeps where id = $1 for update`,
);
const setSweep = statement(
  "deposit_sweep_set",
  "update deposit_sweeps set state = $2, block_number = $3, tx_hash = coalesce($4, tx_hash) where id = $1",
);
const setRefusedSince = statement(
  "deposit_sweep_refused_since",
  "update deposit_sweeps set refused_since_ms = $2 where id = $1",
);
/** No live sweep, no deposit, no fast fill: nothing pays this request `r` any more. */
const HAS_NOTHING = `r.deposit_id is null and r.front = 'none'
  and not exists (select from deposit_sweeps s where s.request_id = r.request_id and s.state <> 'void')`;
// Counted from the next block: a look that read balances before the end of the sweep must not decide by this.
// Who sent it is still found in its own block.
const seeAgain = statement(
  "deposit_sweep_see_again",
  `with cursor as (select coalesce(max(block_number), 0) as number from chain_cursors where chain_id = $2),
   moved as (select jsonb_array_elements(layers::jsonb) as layer from deposit_sweeps where id = $6 and layers is not null),
   back as (
     select coalesce(
       (select jsonb_agg(jsonb_build_array(layer->0, (number + 1)::text, layer->2, layer->3, coalesce(nullif(layer->4, 'null'), layer->1))) from moved),
       jsonb_build_array(jsonb_build_array($4::text, (number + 1)::text, null, $5::bigint)))::text as layers, number from cursor)
   insert into deposit_address_funds as f (address, chain_id, currency, amount, layers, seen_block, seen_at_ms, speaks)
   select $1, $2, $3, $4::numeric, layers, number, $5, true from back
   on conflict (address, chain_id, currency) do update set amount = f.amount + excluded.amount,
     layers = (f.layers::jsonb || excluded.layers::jsonb)::text, seen_block = greatest(f.seen_block, excluded.seen_block),
     seen_at_ms = least(f.seen_at_ms, excluded.seen_at_ms), observation = excluded.observation, held_reason = null, speaks = true`,
);
// Announced with what lies at the address, in the same commit.
const reinstate = statement(
  "requests_reinstate",
  `update requests set superseded_by = null where deposit_address = $1 and superseded_by = $2
     and exists (select from requests r where r.request_id = $2 and ${HAS_NOTHING})`,
);
const hasSweep = statement(
  "deposit_sweep_any",
  "select from deposit_sweeps where request_id = $1 and state <> 'void' limit 1",
);
const sweepsWithNonce = statement(
  "deposit_sweeps_with_nonce",
  `select ${SWEEP_COLUMNS} from deposit_sweeps w where request_id = $1 and state <> 'void'
     and exists (select from slots s where s.leg_kind = 'sweep' and s.leg_id = w.id::text and s.state <> 'dead')`,
);
// The hash is unique, so that this reads one row.
const sweepBy = statement(
  "deposit_sweep_of_attempt",
  `select ${SWEEP_COLUMNS} from deposit_sweeps where request_id = $2 and id::text in (
     select s.leg_id from attempts a join slots s on s.id = a.slot_id where a.tx_hash = $1 and s.leg_kind = 'sweep')`,
);
const setAddress = statement(
  "request_set_deposit_address",
  "update requests set deposit_address = $2 where request_id = $1",
);
const supersede = announcing(
  "request_supersede",
  `with told as (
     update requests set superseded_by = $2, status_seq = status_seq + 1 where request_id = $1 and superseded_by is null returning *),
   ${toldAgain("$3", "true")}`,
  SAID,
);
// With those that it had superseded: statuses follow one step, so a successor is never superseded itself.
const supersedeVoided = announcing(
  "requests_supersede_voided",
  `with voided as (
     select r.request_id from requests r
     where deposit_address = $1 and request_id <> $2 and superseded_by is null and state in ('quoted', 'expired') and ${HAS_NOTHING}
       and exists (select from deposit_sweeps s where s.request_id = r.request_id)),
   told as (
     update requests set superseded_by = $2, status_seq = status_seq + 1
     where deposit_address = $1 and (request_id in (select request_id from voided) or superseded_by in (select request_id from voided)) returning *),
   ${toldAgain("$3", "true")}`,
  SAID,
);
const supersededBy = statement(
  "request_superseded_by",
  "select superseded_by from requests where request_id = $1",
);

/** Deposit addresses inside one transaction. */
export function depositAddressWrites(sql: Sql): DepositAddressWrites {
  const keyOf = ({ address, chainId, currency }: CurrencyAt): [string, number, string] => [
    address,
    chainId,
    currency,
  ];
  return {
    async insert({
      address,
      requestId,
      key,
      strict,
      refundTo,
      quoted,
      question,
      keyId,
      createdAtMs,
      activeAtMs,
    }) {
      await sql.query(insert, [
        address,
        requestId,
        key.id,
        key.depositor,
        key.recovery,
        strict,
        key.strict,
        refundColumn(refundTo),
        keyId ?? null,
        createdAtMs,
        activeAtMs,
        quoted?.chainId ?? null,
        quoted?.currency ?? null,
        JSON.stringify(question),
      ]);
    },
    async lock(address) {
      const [row] = await sql.query<AddressRow>(lock, [address]);
      return row && addressOf(row);
    },
    async setActive(address, atMs) {
      await sql.query(setActive, [address, atMs]);
    },
    funds: async (chainId, address) => (await sql.query<FundsRow>(fundsOn, [chainId, address])).map(fundsOf),
    async observe(place, layers, changedBlock, speaks) {
      const [oldest] = layers;
      if (oldest === undefined) await sql.query(forget, keyOf(place));
      else
        await sql.query(observe, [
          ...keyOf(place),
          totalOf(layers),
          layersText(layers),
          changedBlock,
          oldest.seenAtMs,
          speaks,
        ]);
    },
    underWay: async (chainId, addresses, balanceBlock) =>
      await sumUnderWay(sql, chainId, addresses, balanceBlock),
    async lockFunds(place, observation) {
      const [row] = await sql.query<FundsRow>(lockFunds, [...keyOf(place), observation]);
      return row && fundsOf(row);
    },
    async hold(place, reason) {
      await sql.query(hold, [...keyOf(place), reason]);
    },
    async release(chainId, address) {
      await sql.query(release, [chainId, address]);
    },
    async noteFunds(address, atMs) {
      await sql.query(noteFunds, [address, atMs]);
    },
    async addSweep(sweep) {
      const [row] = await sql.query<{ id: number }>(addSweep, [
        sweep.observation,
        ...keyOf(sweep),
        sweep.amount,
        sweep.excess,
        sweep.orderId,
        sweep.requestId,
        sweep.arrivedAtMs,
        sweep.createdAtMs,
        layersText(sweep.layers),
      ]);
      if (row === undefined) throw new Error("invariant violated: sweep was not stored");
      return String(row.id);
    },
    async lockSweep(id) {
      const [row] = await sql.query<SweepRow>(lockSweep, [id]);
      return row && sweepOf(row);
    },
    async setSweep(id, state, mined) {
      await sql.query(setSweep, [id, state, mined?.blockNumber ?? null, mined?.txHash ?? null]);
    },
    async setRefusedSince(id, sinceMs) {
      await sql.query(setRefusedSince, [id, sinceMs ?? null]);
    },
    async voidSweep(sweep, atMs) {
      await sql.query(setSweep, [sweep.id, "void", null, null]);
      await sql.query(seeAgain, [...keyOf(sweep), sweep.amount + sweep.excess, sweep.arrivedAtMs, sweep.id]);
      await sql.query(reinstate, [sweep.address, sweep.requestId]);
      await sql.query(noteFunds, [sweep.address, atMs]);
    },
    async hasSweep(requestId) {
      return (await sql.query(hasSweep, [requestId])).length > 0;
    },
    sweepsWithNonce: async (requestId) =>
      (await sql.query<SweepRow>(sweepsWithNonce, [requestId])).map(sweepOf),
    async sweepBy(requestId, txHash) {
      const [row] = await sql.query<SweepRow>(sweepBy, [txHash, requestId]);
      return row && sweepOf(row);
    },
    async setAddress(requestId, address) {
      await sql.query(setAddress, [requestId, address]);
    },
    async supersede(requestId, by, atMs) {
      await sql.query(supersede, [requestId, by, atMs]);
    },
    async supersedeVoided(address, by, atMs) {
      await sql.query(supersedeVoided, [address, by, atMs]);
    },
    async supersededBy(requestId) {
      const [row] = await sql.query<{ superseded_by: string | null }>(supersededBy, [requestId]);
      return (row?.superseded_by as RequestId | null | undefined) ?? undefined;
    },
  };
}
