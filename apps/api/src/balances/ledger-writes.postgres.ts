import type { Address, Hex, HoldState, MovementContext, RequestId } from "@causeway/domain";
import { and, asc, desc, eq, sql as text } from "drizzle-orm";
import type { LedgerWrites, Reservation, ReservationRecord, ReservationState } from "./ledger.port.ts";
import {
  defineQuery,
  defineSql,
  namesOf,
  type Params,
  defineWrite,
  defineSqlWrite,
} from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { bookOf, HOLD, holdOf, readBook, readHeld } from "./ledger-rows.postgres.ts";
import { appWallets, ledgerEntries, ledgerMovements } from "./ledger.tables.ts";
import { appFeesDue, feeReservationParts, feeReservations, holds } from "./reservations.tables.ts";
import { reserveTogether } from "./ledger-writes-together.postgres.ts";

const addWallet = defineWrite(
  "ledger_add_wallet",
  (db, { wallet, createdAtMs }: Params<{ wallet: Address; createdAtMs: number }>) =>
    db.insert(appWallets).values({ wallet, createdAtMs }).onConflictDoNothing(),
);
const lockWallet = defineQuery("ledger_lock_wallet", (db, { wallet }: Params<{ wallet: Address }>) =>
  db
    .select({ wallet: appWallets.wallet })
    .from(appWallets)
    .where(eq(appWallets.wallet, wallet))
    .for("update"),
);
interface Movement extends Record<string, unknown> {
  readonly movementKey: string;
  readonly context: MovementContext;
  readonly reason: string;
  readonly wallet: Address;
  readonly requestId: Hex | null;
  readonly createdAtMs: number;
}
const addMovement = defineQuery(
  "ledger_add_movement",
  (db, { movementKey, context, reason, wallet, requestId, createdAtMs }: Params<Movement>) =>
    db
      .insert(ledgerMovements)
      .values({ movementKey, context, reason, wallet, requestId, createdAtMs })
      .onConflictDoNothing({ target: ledgerMovements.movementKey })
      .returning({ id: ledgerMovements.id }),
);
interface Entries extends Record<string, unknown> {
  readonly movementId: number;
  readonly wallet: Address;
  readonly accounts: readonly string[];
  readonly chainIds: readonly number[];
  readonly currencies: readonly Address[];
  readonly amounts: readonly bigint[];
}
const addEntries = defineSqlWrite("ledger_add_entries", (p: Params<Entries>) => {
  const { movementId, wallet, account, chainId, currency, amount } = ledgerEntries;
  const columns = namesOf(account, chainId, currency, amount);
  return text`insert into ${ledgerEntries} (${namesOf(movementId, wallet)}, ${columns})
    select ${p.movementId}::bigint, case when account in ('balance', 'pending', 'owed') then ${p.wallet}::text end, ${columns}
    from unnest(${p.accounts}::text[], ${p.chainIds}::bigint[], ${p.currencies}::text[], ${p.amounts}::numeric[]) as e (${columns})`;
});
const entriesOf = defineQuery("ledger_entries_of", (db, p: Params<{ movementKey: string }>) =>
  db
    .select({
      account: ledgerEntries.account,
      chainId: ledgerEntries.chainId,
      currency: ledgerEntries.currency,
      amount: ledgerEntries.amount,
    })
    .from(ledgerEntries)
    .innerJoin(ledgerMovements, eq(ledgerMovements.id, ledgerEntries.movementId))
    .where(eq(ledgerMovements.movementKey, p.movementKey))
    .orderBy(asc(ledgerEntries.id)),
);

const selectReservation = defineQuery(
  "fee_reservation_lock",
  (db, p: Params<{ requestId: RequestId; purpose: "execution" | "fees" }>) =>
    db
      .select({
        id: feeReservations.id,
        requestId: feeReservations.requestId,
        wallet: feeReservations.wallet,
        usd: feeReservations.usd,
        state: feeReservations.state,
        round: feeReservations.round,
      })
      .from(feeReservations)
      .where(and(eq(feeReservations.requestId, p.requestId), eq(feeReservations.purpose, p.purpose)))
      .orderBy(desc(feeReservations.round))
      .limit(1)
      .for("update"),
);
const partsOf = defineQuery("fee_reservation_parts_read", (db, p: Params<{ reservationId: number }>) =>
  db
    .select({
      chainId: feeReservationParts.chainId,
      currency: feeReservationParts.currency,
      amount: feeReservationParts.amount,
      usd: feeReservationParts.usd,
    })
    .from(feeReservationParts)
    .where(eq(feeReservationParts.reservationId, p.reservationId))
    .orderBy(asc(feeReservationParts.n)),
);
interface ReservationRow extends Record<string, unknown> {
  readonly requestId: RequestId;
  readonly wallet: Address;
  readonly usd: bigint;
  readonly createdAtMs: number;
  readonly purpose: "execution" | "fees";
  readonly round: number;
  readonly keyId: string | null;
  readonly day: number | null;
  readonly userAddress: Address | null;
}
const addReservation = defineQuery(
  "fee_reservation_add",
  (
    db,
    { requestId, wallet, usd, createdAtMs, purpose, round, keyId, day, userAddress }: Params<ReservationRow>,
  ) =>
    db
      .insert(feeReservations)
      .values({ requestId, wallet, usd, createdAtMs, purpose, round, keyId, day, userAddress })
      .returning({ id: feeReservations.id }),
);
interface Parts extends Record<string, unknown> {
  readonly reservationId: number;
  readonly chainIds: readonly number[];
  readonly currencies: readonly Address[];
  readonly amounts: readonly bigint[];
  readonly usd: readonly bigint[];
}
const addParts = defineSqlWrite("fee_reservation_parts_add", (p: Params<Parts>) => {
  const { reservationId, chainId, currency, amount, usd, n } = feeReservationParts;
  const columns = namesOf(chainId, currency, amount, usd, n);
  return text`insert into ${feeReservationParts} (${namesOf(reservationId)}, ${columns})
    select ${p.reservationId}::bigint, ${columns}
    from unnest(${p.chainIds}::bigint[], ${p.currencies}::text[], ${p.amounts}::numeric[], ${p.usd}::numeric[])
      with ordinality as p (${columns})`;
});
const closeReservation = defineWrite(
  "fee_reservation_close",
  (db, p: Params<{ id: string; state: ReservationState; atMs: number; paidUsd: bigint | null }>) =>
    db
      .update(feeReservations)
      .set({ state: p.state, closedAtMs: p.atMs, paidUsd: p.paidUsd })
      .where(and(eq(feeReservations.id, p.id), text`${feeReservations.state} = 'open'`)),
);
const noteFeesDue = defineWrite(
  "app_fees_due_note",
  (db, { requestId, sinceMs }: Params<{ requestId: RequestId; sinceMs: number }>) =>
    db.insert(appFeesDue).values({ requestId, sinceMs }).onConflictDoNothing(),
);

type OfRequest = Params<{ requestId: RequestId }>;
const deleteFeesDue = defineWrite("app_fees_due_forget", (db, { requestId }: OfRequest) =>
  db.delete(appFeesDue).where(eq(appFeesDue.requestId, requestId)),
);
const holdWallet = defineQuery("hold_wallet", (db, { requestId }: OfRequest) =>
  db.select({ wallet: holds.wallet }).from(holds).where(eq(holds.requestId, requestId)),
);
const selectHold = defineQuery("hold_lock", (db, { requestId }: OfRequest) =>
  db.select(HOLD).from(holds).where(eq(holds.requestId, requestId)).for("update"),
);
interface NewHold extends Record<string, unknown> {
  readonly requestId: RequestId;
  readonly wallet: Address;
  readonly keyId: string;
  readonly usd: bigint;
  readonly chainId: number;
  readonly currency: Address;
  readonly amount: bigint;
  readonly placedAtMs: number;
  readonly surplusUsd: bigint;
}
const addHold = defineWrite(
  "hold_add",
  (
    db,
    { requestId, wallet, keyId, usd, chainId, currency, amount, placedAtMs, surplusUsd }: Params<NewHold>,
  ) =>
    db
      .insert(holds)
      .values({ requestId, wallet, keyId, usd, chainId, currency, amount, placedAtMs, surplusUsd }),
);
const setHold = defineWrite(
  "hold_set",
  (db, p: Params<{ requestId: RequestId; state: HoldState; debits: number; atMs: number }>) =>
    db
      .update(holds)
      .set({
        state: p.state,
        debits: p.debits,
        resolvedAtMs: text`case when ${p.state}::text <> 'active' then ${p.atMs}::bigint end`,
      })
      .where(eq(holds.requestId, p.requestId)),
);
const exposure = defineSql(
  "hold_exposure",
  { usd: BigInt },
  ({ keyId }: Params<{ keyId: string }>) => text`
    select coalesce(sum(${holds.usd} + ${holds.surplusUsd}), 0) as usd from ${holds}
    where ${holds.keyId} = ${keyId} and ${holds.state} = 'active'`,
);

export function ledgerWrites(sql: Sql): LedgerWrites {
  return {
    async lockWallet(wallet, atMs) {
      await addWallet(sql, { wallet, createdAtMs: atMs });
      await lockWallet(sql, { wallet });
      const lines = await readBook(sql, { wallet });
      return bookOf(wallet, lines, await readHeld(sql, { wallet }));
    },
    async post({ key, context, reason, wallet, requestId = null, entries }, atMs) {
      const added = { movementKey: key, context, reason, wallet, requestId, createdAtMs: atMs };
      const [movement] = await addMovement(sql, added);
      if (movement === undefined) return "already";
      await addEntries(sql, {
        movementId: movement.id,
        wallet,
        accounts: entries.map(({ account }) => account),
        chainIds: entries.map(({ asset }) => asset.chainId),
        currencies: entries.map(({ asset }) => asset.currency),
        amounts: entries.map(({ amount }) => amount),
      });
      return "posted";
    },
    async entriesOf(movementKey) {
      const rows = await entriesOf(sql, { movementKey });
      return rows.map(({ account, chainId, currency, amount }) => ({
        account,
        asset: { chainId, currency },
        amount,
      }));
    },
    async lockReservation(requestId, purpose = "execution"): Promise<ReservationRecord | undefined> {
      const [row] = await selectReservation(sql, { requestId, purpose });
      if (row === undefined) return undefined;
      const parts = await partsOf(sql, { reservationId: row.id });
      return {
        ...row,
        id: String(row.id),
        parts: parts.map(({ chainId, currency, amount, usd }) => ({
          asset: { chainId, currency },
          amount,
          usd,
        })),
      };
    },
    async addReservation(added, atMs): Promise<Reservation> {
      const { requestId, wallet, usd, parts, purpose = "execution", round = 1, budget } = added;
      const [row] = await addReservation(sql, {
        requestId,
        wallet,
        usd,
        createdAtMs: atMs,
        purpose,
        round,
        keyId: budget?.keyId ?? null,
        day: budget?.day ?? null,
        userAddress: budget?.user ?? null,
      });
      if (row === undefined)
        throw new Error(`invariant violated: fee reservation of ${requestId} was not inserted`);
      await addParts(sql, {
        reservationId: row.id,
        chainIds: parts.map(({ asset }) => asset.chainId),
        currencies: parts.map(({ asset }) => asset.currency),
        amounts: parts.map(({ amount }) => amount),
        usd: parts.map((part) => part.usd),
      });
      return { id: String(row.id), requestId, wallet, usd, parts };
    },
    reserveTogether: async (wallet, fees, atMs) => await reserveTogether(sql, wallet, fees, atMs),
    async closeReservation(id, state, atMs, paidUsd) {
      await closeReservation(sql, { id, state, atMs, paidUsd: paidUsd ?? null });
    },
    async noteFeesDue(requestId, atMs) {
      await noteFeesDue(sql, { requestId, sinceMs: atMs });
    },
    async clearFeesDue(requestId) {
      await deleteFeesDue(sql, { requestId });
    },
    walletOfHold: async (requestId) => (await holdWallet(sql, { requestId }))[0]?.wallet,
    async lockHold(requestId) {
      const [row] = await selectHold(sql, { requestId });
      return row && holdOf(row);
    },
    async addHold({ surplusUsd = 0n, ...hold }) {
      await addHold(sql, { ...hold, surplusUsd });
    },
    async setHold(requestId, state, debits, atMs) {
      await setHold(sql, { requestId, state, debits, atMs });
    },
    exposureUsd: async (keyId) => (await exposure(sql, { keyId }))[0]?.usd ?? 0n,
  };
}
