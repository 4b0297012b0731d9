import type { Address, Hex, HoldState, LedgerEntry } from "@causeway/domain";
import type {
  HoldRecord,
  LedgerWrites,
  Reservation,
  ReservationRecord,
  ReservationState,
} from "./ledger.port.ts";
import { BOOK_QUERY, HELD_QUERY, bookOf } from "./ledger-rows.postgres.ts";
import type { BookRow, HeldRow } from "./ledger-rows.postgres.ts";
import { statement } from "../db/pool.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { reserveTogether } from "./reserved-fees.postgres.ts";

const knowWallet = statement(
  "ledger_know_wallet",
  "insert into app_wallets (wallet, created_at_ms) values ($1, $2) on conflict do nothing",
);
const lockWallet = statement(
  "ledger_lock_wallet",
  "select wallet from app_wallets where wallet = $1 for update",
);
const book = statement("ledger_book_locked", BOOK_QUERY);
const held = statement("ledger_held_locked", HELD_QUERY);
const addMovement = statement(
  "ledger_add_movement",
  `insert into ledger_movements (movement_key, context, reason, wallet, request_id, created_at_ms)
   values ($1, $2, $3, $4, $5, $6) on conflict (movement_key) do nothing returning id`,
);
const addEntries = statement(
  "ledger_add_entries",
  `insert into ledger_entries (movement_id, account, wallet, chain_id, currency, amount)
   select $1, account, case when account in ('balance', 'pending', 'owed') then $2 end, chain_id, currency, amount
   from unnest($3::text[], $4::bigint[], $5::text[], $6::numeric[]) as e (account, chain_id, currency, amount)`,
);
const entriesOf = statement(
  "ledger_entries_of",
  `select e.account, e.chain_id, e.currency, e.amount from ledger_entries e join ledger_movements m on m.id = e.movement_id
   where m.movement_key = $1 order by e.id`,
);
const reservation = statement(
  "fee_reservation_read",
  `select id, request_id, wallet, usd, state, round from fee_reservations where request_id = $1 and purpose = $2
   order by round desc limit 1 for update`,
);
const reservationParts = statement(
  "fee_reservation_parts_read",
  "select chain_id, currency, amount, usd from fee_reservation_parts where reservation_id = $1 order by n",
);
const addReservation = statement(
  "fee_reservation_add",
  `insert into fee_reservations (request_id, wallet, usd, created_at_ms, purpose, round, key_id, day, user_address)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning id`,
);
const addParts = statement(
  "fee_reservation_parts_add",
  `insert into fee_reservation_parts (reservation_id, n, chain_id, currency, amount, usd)
   select $1, n, chain_id, currency, amount, usd
   from unnest($2::bigint[], $3::text[], $4::numeric[], $5::numeric[]) with ordinality as p (chain_id, currency, amount, usd, n)`,
);
const closeReservation = statement(
  "fee_reservation_close",
  "update fee_reservations set state = $2, closed_at_ms = $3, paid_usd = $4 where id = $1 and state = 'open'",
);
const noteFeesDue = statement(
  "app_fees_due_note",
  "insert into app_fees_due (request_id, since_ms) values ($1, $2) on conflict do nothing",
);
const feesCredited = statement("app_fees_due_forget", "delete from app_fees_due where request_id = $1");
export const HOLD_COLUMNS =
  "request_id, wallet, key_id, state, usd, chain_id, currency, amount, debits, placed_at_ms, resolved_at_ms";
const holdWallet = statement("hold_wallet", "select wallet from holds where request_id = $1");
const hold = statement("hold_read", `select ${HOLD_COLUMNS} from holds where request_id = $1 for update`);
const addHold = statement(
  "hold_add",
  `insert into holds (request_id, wallet, key_id, usd, chain_id, currency, amount, placed_at_ms, surplus_usd)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);
const setHold = statement(
  "hold_set",
  `update holds set state = $2, debits = $3, resolved_at_ms = case when $2 = 'active' then null else $4::bigint end
   where request_id = $1`,
);
const exposure = statement(
  "hold_exposure",
  "select coalesce(sum(usd + surplus_usd), 0) as usd from holds where key_id = $1 and state = 'active'",
);

interface EntryRow {
  account: string;
  chain_id: number;
  currency: string;
  amount: bigint;
}

interface ReservationRow {
  id: number;
  request_id: string;
  wallet: string;
  usd: bigint;
  state: string;
  round: number;
}

interface PartRow {
  chain_id: number;
  currency: string;
  amount: bigint;
  usd: bigint;
}

export interface HoldRow {
  request_id: string;
  wallet: string;
  key_id: string;
  state: string;
  usd: bigint;
  chain_id: number;
  currency: string;
  amount: bigint;
  debits: number;
  placed_at_ms: number;
  resolved_at_ms: number | null;
}

/** The ledger inside one transaction. */
export function ledgerWrites(sql: Sql): LedgerWrites {
  return {
    async lockWallet(wallet, atMs) {
      await sql.query(knowWallet, [wallet, atMs]);
      await sql.query(lockWallet, [wallet]);
      const lines = await sql.query<BookRow>(book, [wallet]);
      return bookOf(wallet, lines, await sql.query<HeldRow>(held, [wallet]));
    },
    async post({ key, context, reason, wallet, requestId, entries }, atMs) {
      const [movement] = await sql.query<{ id: number }>(addMovement, [
        key,
        context,
        reason,
        wallet,
        requestId ?? null,
        atMs,
      ]);
      if (movement === undefined) return "already";
      await sql.query(addEntries, [
        movement.id,
        wallet,
        entries.map(({ account }) => account),
        entries.map(({ asset }) => asset.chainId),
        entries.map(({ asset }) => asset.currency),
        entries.map(({ amount }) => amount),
      ]);
      return "posted";
    },
    async entriesOf(movementKey) {
      const rows = await sql.query<EntryRow>(entriesOf, [movementKey]);
      return rows.map(({ account, chain_id, currency, amount }) => ({
        account: account as LedgerEntry["account"],
        asset: { chainId: chain_id, currency: currency as Address },
        amount,
      }));
    },
    async reservation(requestId, purpose = "execution"): Promise<ReservationRecord | undefined> {
      const [row] = await sql.query<ReservationRow>(reservation, [requestId, purpose]);
      if (row === undefined) return undefined;
      const parts = await sql.query<PartRow>(reservationParts, [row.id]);
      return {
        id: String(row.id),
        requestId: row.request_id as Hex,
        wallet: row.wallet as Address,
        usd: row.usd,
        state: row.state as ReservationState,
        round: row.round,
        parts: parts.map(({ chain_id, currency, amount, usd }) => ({
          asset: { chainId: chain_id, currency: currency as Address },
          amount,
          usd,
        })),
      };
    },
    async addReservation(added, atMs): Promise<Reservation> {
      const { requestId, wallet, usd, parts, purpose = "execution", round = 1, budget } = added;
      const [row] = await sql.query<{ id: number }>(addReservation, [
        requestId,
        wallet,
        usd,
        atMs,
        purpose,
        round,
        budget?.keyId ?? null,
        budget?.day ?? null,
        budget?.user ?? null,
      ]);
      if (row === undefined)
        throw new Error(`invariant violated: fee reservation of ${requestId} was not inserted`);
      await sql.query(addParts, [
        row.id,
        parts.map(({ asset }) => asset.chainId),
        parts.map(({ asset }) => asset.currency),
        parts.map(({ amount }) => amount),
        parts.map((part) => part.usd),
      ]);
      return { id: String(row.id), requestId, wallet, usd, parts };
    },
    reserveTogether: async (wallet, fees, atMs) => await reserveTogether(sql, wallet, fees, atMs),
    async closeReservation(id, state, atMs, paidUsd) {
      await sql.query(closeReservation, [id, state, atMs, paidUsd ?? null]);
    },
    async noteFeesDue(requestId, atMs) {
      await sql.query(noteFeesDue, [requestId, atMs]);
    },
    async feesCredited(requestId) {
      await sql.query(feesCredited, [requestId]);
    },
    async holdWallet(requestId) {
      const [row] = await sql.query<{ wallet: string }>(holdWallet, [requestId]);
      return row?.wallet as Address | undefined;
    },
    async hold(requestId) {
      const [row] = await sql.query<HoldRow>(hold, [requestId]);
      return row && holdOf(row);
    },
    async addHold({ requestId, wallet, keyId, usd, chainId, currency, amount, placedAtMs, surplusUsd = 0n }) {
      await sql.query(addHold, [
        requestId,
        wallet,
        keyId,
        usd,
        chainId,
        currency,
        amount,
        placedAtMs,
        surplusUsd,
      ]);
    },
    async setHold(requestId, state, debits, atMs) {
      await sql.query(setHold, [requestId, state, debits, atMs]);
    },
    async exposureUsd(keyId) {
      const [row] = await sql.query<{ usd: bigint }>(exposure, [keyId]);
      return row?.usd ?? 0n;
    },
  };
}

export function holdOf(row: HoldRow): HoldRecord {
  return {
    requestId: row.request_id as Hex,
    wallet: row.wallet as Address,
    keyId: row.key_id,
    state: row.state as HoldState,
    usd: row.usd,
    chainId: row.chain_id,
    currency: row.currency as Address,
    amount: row.amount,
    debits: row.debits,
    placedAtMs: row.placed_at_ms,
    resolvedAtMs: row.resolved_at_ms ?? undefined,
  };
}
