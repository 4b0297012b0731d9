import type { Address, RequestId } from "@causeway/domain";
import type { CoverState, FastFillRecord, FastFillWrites } from "../balances/fast-fill.port.ts";
import { statement } from "../db/pool.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";

interface FastFillRow {
  request_id: string;
  key_id: string;
  wallet: string;
  amount: bigint;
  input_amount: bigint;
  surplus_chain_id: number;
  surplus_currency: string;
  surplus_amount: bigint;
  surplus_moves: number;
  accepted_at_ms: number;
  origin_price_usd: bigint;
  destination_price_usd: bigint;
  native_price_usd: bigint;
  tolerance_bps: number;
  deposit_until_ms: number | null;
  spent_usd: bigint;
  debited_usd: bigint;
  burnt_usd: bigint;
  burnt_slot_id: number | null;
  burnt_charged: boolean;
  cover_state: string;
}

const add = statement(
  "fast_fill_add",
  `insert into fast_fills (request_id, key_id, wallet, amount, input_amount, surplus_chain_id, surplus_currency, surplus_amount,
     origin_price_usd, destination_price_usd, native_price_usd, tolerance_bps, deposit_until_ms, accepted_at_ms)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
);
const find = statement(
  "fast_fill_find",
  `select request_id, key_id, wallet, amount, input_amount, surplus_chain_id, surplus_currency, surplus_amount, surplus_moves, accepted_at_ms,
     origin_price_usd, destination_price_usd, native_price_usd, tolerance_bps, deposit_until_ms, spent_usd, debited_usd, burnt_usd,
     burnt_slot_id, burnt_charged, cover_state
   from fast_fills where request_id = $1`,
);
const setCover = statement(
  "fast_fill_set_cover",
  "update fast_fills set cover_state = $2, surplus_credited = $2 = 'booked', surplus_moves = $3 where request_id = $1",
);
const setSpent = statement(
  "fast_fill_set_spent",
  "update fast_fills set spent_usd = $2 where request_id = $1",
);
const setDebited = statement(
  "fast_fill_set_debited",
  "update fast_fills set debited_usd = $2 where request_id = $1",
);
const setBurnt = statement(
  "fast_fill_set_burnt",
  "update fast_fills set burnt_slot_id = $2, burnt_usd = $3, burnt_at_ms = $4 where request_id = $1",
);
const setBurntCharged = statement(
  "fast_fill_set_burnt_charged",
  "update fast_fills set burnt_charged = true where request_id = $1",
);
const burntUsd = statement(
  "fast_fill_burnt_usd",
  // Reverted fills count from their block on, or many could be asked for before the first is final.
  `select coalesce(sum(usd), 0) as usd from (
     select burnt_usd as usd from fast_fills where wallet = $1 and burnt_usd > 0 and burnt_at_ms >= $2
     union all
     select ceil(s.gas_used * s.effective_gas_price * f.native_price_usd / 1e18) from fast_fills f
       join slots s on s.leg_kind = 'fill' and s.leg_id = f.request_id and s.state = 'mined' and s.mined_status = 'reverted'
     where f.wallet = $1
   ) burnt`,
);
const due = statement(
  "fast_fills_due",
  `select request_id from fast_fills where cover_state = 'due' or (burnt_usd > 0 and not burnt_charged)
   order by tried_at_ms, accepted_at_ms limit $1`,
);
const noteTried = statement(
  "fast_fills_note_tried",
  "update fast_fills set tried_at_ms = $2 where request_id = any($1::text[])",
);
const rememberOrigin = statement(
  "origin_transaction_remember",
  "insert into origin_transactions (request_id, tx_hash, reported_at_ms) values ($1, $2, $3) on conflict do nothing",
);

/** Fast fills inside one transaction. */
export function fastFillWrites(sql: Sql): FastFillWrites {
  return {
    async add({ surplus, prices, ...fastFill }): Promise<void> {
      await sql.query(add, [
        fastFill.requestId,
        fastFill.keyId,
        fastFill.wallet,
        fastFill.amount,
        fastFill.inputAmount,
        surplus.asset.chainId,
        surplus.asset.currency,
        surplus.amount,
        prices.originUsd,
        prices.destinationUsd,
        prices.nativeUsd,
        fastFill.toleranceBps,
        fastFill.depositUntilMs ?? null,
        fastFill.acceptedAtMs,
      ]);
    },
    find: (requestId) => findFastFill(sql, requestId),
    async setCover(requestId, state, moves): Promise<void> {
      await sql.query(setCover, [requestId, state, moves]);
    },
    async setSpent(requestId, usd): Promise<void> {
      await sql.query(setSpent, [requestId, usd]);
    },
    async setDebited(requestId, usd): Promise<void> {
      await sql.query(setDebited, [requestId, usd]);
    },
    async setBurnt(requestId, slotId, usd, atMs): Promise<void> {
      await sql.query(setBurnt, [requestId, slotId, usd, atMs]);
    },
    async setBurntCharged(requestId): Promise<void> {
      await sql.query(setBurntCharged, [requestId]);
    },
    async burntUsd(wallet, sinceMs): Promise<bigint> {
      const [row] = await sql.query<{ usd: bigint }>(burntUsd, [wallet, sinceMs]);
      return row?.usd ?? 0n;
    },
    async noteTried(requestIds, atMs): Promise<void> {
      await sql.query(noteTried, [requestIds, atMs]);
    },
    async rememberOrigin(requestId, txHash, atMs): Promise<void> {
      await sql.query(rememberOrigin, [requestId, txHash, atMs]);
    },
  };
}

/** Undefined when the request was never fast filled. */
export async function findFastFill(sql: Sql, requestId: RequestId): Promise<FastFillRecord | undefined> {
  const [row] = await sql.query<FastFillRow>(find, [requestId]);
  return row && fastFillOf(row);
}

/**
 * Fast fills whose deposit waits for a price to be booked, or whose burnt gas is not charged yet; those not
 * tried for longest first.
 */
export async function fastFillsDue(sql: Sql, limit: number): Promise<RequestId[]> {
  const rows = await sql.query<{ request_id: string }>(due, [limit]);
  return rows.map((row) => row.request_id as RequestId);
}

function fastFillOf(row: FastFillRow): FastFillRecord {
  return {
    requestId: row.request_id as RequestId,
    keyId: row.key_id,
    wallet: row.wallet as Address,
    amount: row.amount,
    inputAmount: row.input_amount,
    surplus: {
      asset: { chainId: row.surplus_chain_id, currency: row.surplus_currency as Address },
      amount: row.surplus_amount,
    },
    prices: {
      originUsd: row.origin_price_usd,
      destinationUsd: row.destination_price_usd,
      nativeUsd: row.native_price_usd,
    },
    toleranceBps: row.tolerance_bps,
    depositUntilMs: row.deposit_until_ms ?? undefined,
    acceptedAtMs: row.accepted_at_ms,
    spentUsd: row.spent_usd,
    debitedUsd: row.debited_usd,
    burnt:
      row.burnt_slot_id === null
        ? undefined
        : { slotId: String(row.burnt_slot_id), usd: row.burnt_usd, isCharged: row.burnt_charged },
    coverState: row.cover_state as CoverState,
    coverMoves: row.surplus_moves,
  };
}
