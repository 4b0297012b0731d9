import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Address } from "@causeway/domain";
import type { Attempt, Slot, SlotPlan } from "../db/records.port.ts";
import { LegTaken } from "./leg-taken.port.ts";
import { ServerReplaced } from "../db/server-replaced.port.ts";
import { legId } from "../db/leg.port.ts";
import type { LaneWrites } from "../db/unit-of-work.port.ts";
import { statement } from "../db/pool.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { ATTEMPT_COLUMNS, SLOT_COLUMNS, slotOf } from "../requests/rows.postgres.ts";
import type { AttemptRow, SlotRow } from "../requests/rows.postgres.ts";
import type { ServerWatch } from "../db/server-watch.postgres.ts";
import { insertNewAttempts, noteBroadcasts, reserveSlots } from "./slots-together.postgres.ts";

const openLane = statement(
  "lane_open",
  "insert into lanes (chain_id, sender, next_nonce) values ($1, $2, $3) on conflict do nothing",
);
const takeNonce = statement(
  "lane_take_nonce",
  `update lanes set next_nonce = next_nonce + 1 where chain_id = $1 and sender = $2 returning next_nonce - 1 as nonce`,
);
const lockLane = statement(
  "lane_lock",
  "select extract(epoch from pg_postmaster_start_time())::text as server from lanes where chain_id = $1 and sender = $2 for update",
);
const noteSearchFrom = statement(
  "lane_note_search_from",
  "update lanes set search_from = $3 where chain_id = $1 and sender = $2 and search_from is null",
);
const noteNonceUser = statement(
  "lane_note_nonce_user",
  `insert into nonce_users (chain_id, sender, nonce, tx_hash, pays, input_end) values ($1, $2, $3, $4, $5, $6)
   on conflict (chain_id, sender, nonce) do update
     set tx_hash = excluded.tx_hash, pays = excluded.pays, input_end = excluded.input_end`,
);
const raise = statement(
  "lane_raise",
  "update lanes set next_nonce = $3, search_from = null where chain_id = $1 and sender = $2 and next_nonce < $3",
);
// Final slots are older than any balance in use; the rest is few and has an index.
/**
 * Coin that a payment in a token carries, for calls or a recipient's gas, goes with its gas: of what is paid
 * in coin it is a part.
 */
const reserved = statement(
  "lane_reserved",
  `select coalesce(sum(outflow_amount) filter (where outflow_currency = $3), 0) as amount,
     coalesce(sum(gas_limit * max_fee_per_gas + case when outflow_currency = '${NATIVE_CURRENCY}' then 0 else call_value end), 0) as gas_wei
   from slots where chain_id = $1 and sender = $2
     and (state = 'open' or (state = 'mined' and mined_block_number > $4))`,
);
const insertSlot = statement(
  "slot_insert",
  `insert into slots (chain_id, sender, nonce, leg_kind, leg_id, request_id, call_to, call_data, call_value, gas_limit,
     max_fee_per_gas, max_priority_fee_per_gas, outflow_currency, outflow_amount, state, cancel_after_ms, created_at_ms,
     call_authorizations, settlement_noted)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, 'open', $15, $16, $17, $4 not in ('fill', 'refund'))
   returning ${SLOT_COLUMNS}`,
);
const liveOfLeg = statement(
  "slot_live_of_leg",
  "select id from slots where leg_kind = $1 and leg_id = $2 and state <> 'dead'",
);
// The hash is unique, so that this reads one row.
const attemptOfLeg = statement(
  "attempt_of_leg",
  `select from attempts a join slots s on s.id = a.slot_id
   where a.tx_hash = $1 and s.leg_kind = $2 and s.leg_id = $3`,
);
const lockSlot = statement("slot_lock", `select ${SLOT_COLUMNS} from slots where id = $1 for update`);
const attemptsOf = statement(
  "slot_attempts",
  `select ${ATTEMPT_COLUMNS} from attempts where slot_id = $1 order by n`,
);
const addAttempt = statement(
  "attempt_insert",
  `insert into attempts (slot_id, n, kind, raw, tx_hash, max_fee_per_gas, max_priority_fee_per_gas, created_at_ms)
   values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing returning n`,
);
const setBroadcast = statement(
  "attempt_broadcast",
  `update attempts set broadcast_at_ms = $3, first_broadcast_at_ms = coalesce(first_broadcast_at_ms, $3),
     offered_since_ms = coalesce(offered_since_ms, $3)
   where slot_id = $1 and n = $2`,
);
const forgetBroadcast = statement(
  "attempt_forget",
  "update attempts set broadcast_at_ms = null, offered_since_ms = null where slot_id = $1",
);
const setMined = statement(
  "slot_mined",
  `update slots set state = 'mined', mined_attempt = $2, mined_block_number = $3, mined_block_hash = $4, mined_status = $5,
     gas_used = $6, effective_gas_price = $7, unexplained_since = null, unexplained_confirmed = false where id = $1`,
);
const setOpen = statement(
  "slot_open",
  `update slots set state = 'open', mined_attempt = null, mined_block_number = null, mined_block_hash = null,
     mined_status = null, gas_used = null, effective_gas_price = null where id = $1`,
);
const setFinal = statement("slot_final", "update slots set state = 'final' where id = $1");
const setDead = statement("slot_dead", "update slots set state = 'dead', dead_reason = $2 where id = $1");
const noteUnexplained = statement(
  "slot_note_unexplained",
  `update slots set unexplained_since = coalesce(unexplained_since, $2), unexplained_confirmed = coalesce(unexplained_since < $2, false)
   where id = $1 and state = 'open' and not unexplained_confirmed`,
);
const clearUnexplained = statement(
  "slot_clear_unexplained",
  "update slots set unexplained_since = null, unexplained_confirmed = false where id = $1",
);
const cancel = statement(
  "slot_cancel",
  "update slots set cancel_reason = $2 where id = $1 and state = 'open' and cancel_reason is null",
);

/** Nonces inside one transaction. */
export function laneWrites(sql: Sql, servers: ServerWatch): LaneWrites {
  const locked = async (chainId: number, sender: Address): Promise<void> => {
    const [row] = await sql.query<{ server: string }>(lockLane, [chainId, sender]);
    if (row !== undefined && servers.isNew(row.server)) throw new ServerReplaced();
  };
  return {
    async open(chainId, sender, chainNonce): Promise<void> {
      await locked(chainId, sender);
      await sql.query(openLane, [chainId, sender, chainNonce]);
      await sql.query(raise, [chainId, sender, chainNonce]);
    },
    async noteSearchFrom(chainId, sender, block): Promise<void> {
      await sql.query(noteSearchFrom, [chainId, sender, block]);
    },
    async noteNonceUser(chainId, sender, nonce, { txHash, pays, inputEnd }): Promise<void> {
      await sql.query(noteNonceUser, [chainId, sender, nonce, txHash, pays ?? null, inputEnd ?? null]);
    },
    async reserve(plan: SlotPlan, atMs: number): Promise<Slot> {
      const { leg } = plan;
      const id = legId(leg);
      // The lane's row lock makes "is the leg paid already" and "take a nonce" one act.
      await locked(plan.chainId, plan.sender);
      if ((await sql.query(liveOfLeg, [leg.kind, id])).length > 0) throw new LegTaken(leg);
      const [taken] = await sql.query<{ nonce: number }>(takeNonce, [plan.chainId, plan.sender]);
      if (!taken) throw new Error(`invariant violated: lane not opened on chain ${plan.chainId}`);
      const [row] = await sql.query<SlotRow>(insertSlot, [
        plan.chainId,
        plan.sender,
        taken.nonce,
        leg.kind,
        id,
        leg.requestId ?? null,
        plan.call.to,
        plan.call.data,
        plan.call.value,
        plan.gasLimit,
        plan.maxFeePerGas,
        plan.maxPriorityFeePerGas,
        plan.outflow.currency,
        plan.outflow.amount,
        plan.cancelAfterMs,
        atMs,
        plan.call.authorizationList === undefined ? null : JSON.stringify(plan.call.authorizationList),
      ]);
      if (!row) throw new Error("invariant violated: slot was not stored");
      return slotOf(row, []);
    },
    reserveTogether: async (plans, atMs) => await reserveSlots(sql, plans, atMs),
    addAttempts: async (attempts) => await insertNewAttempts(sql, attempts),
    setBroadcasts: async (sent, atMs) => await noteBroadcasts(sql, sent, atMs),
    async reserved(chainId, sender, currency, balanceBlock): Promise<{ amount: bigint; gasWei: bigint }> {
      const [row] = await sql.query<{ amount: bigint; gas_wei: bigint }>(reserved, [
        chainId,
        sender,
        currency,
        balanceBlock,
      ]);
      return { amount: row?.amount ?? 0n, gasWei: row?.gas_wei ?? 0n };
    },
    lockLane: locked,
    async hasLiveSlot(leg): Promise<boolean> {
      return (await sql.query(liveOfLeg, [leg.kind, legId(leg)])).length > 0;
    },
    async isAttemptOf(leg, txHash): Promise<boolean> {
      return (await sql.query(attemptOfLeg, [txHash, leg.kind, legId(leg)])).length > 0;
    },
    async lockSlot(slotId): Promise<Slot | undefined> {
      const [row] = await sql.query<SlotRow>(lockSlot, [slotId]);
      if (!row) return undefined;
      return slotOf(row, await sql.query<AttemptRow>(attemptsOf, [slotId]));
    },
    async addAttempt(slotId: string, attempt: Attempt): Promise<boolean> {
      const rows = await sql.query(addAttempt, [
        slotId,
        attempt.n,
        attempt.kind,
        attempt.raw,
        attempt.txHash,
        attempt.maxFeePerGas,
        attempt.maxPriorityFeePerGas,
        attempt.createdAtMs,
      ]);
      return rows.length > 0;
    },
    async setBroadcast(slotId, n, atMs): Promise<void> {
      await sql.query(setBroadcast, [slotId, n, atMs]);
    },
    async forgetBroadcast(slotId): Promise<void> {
      await sql.query(forgetBroadcast, [slotId]);
    },
    async setMined(slotId, mined): Promise<void> {
      await sql.query(setMined, [
        slotId,
        mined.attempt,
        mined.blockNumber,
        mined.blockHash,
        mined.status,
        mined.gasUsed,
        mined.effectiveGasPrice,
      ]);
    },
    async setOpen(slotId): Promise<void> {
      await sql.query(setOpen, [slotId]);
    },
    async setFinal(slotId): Promise<void> {
      await sql.query(setFinal, [slotId]);
    },
    async setDead(slotId, reason): Promise<void> {
      await sql.query(setDead, [slotId, reason]);
    },
    async noteUnexplained(slotId, headNumber): Promise<void> {
      await sql.query(noteUnexplained, [slotId, headNumber]);
    },
    async clearUnexplained(slotId): Promise<void> {
      await sql.query(clearUnexplained, [slotId]);
    },
    async cancel(slotId, reason): Promise<void> {
      await sql.query(cancel, [slotId, reason]);
    },
  };
}
