import type { Address } from "@causeway/domain";
import { mergeEntries } from "@causeway/domain";
import { sql as text } from "drizzle-orm";
import type { FeesToReserve } from "./ledger.port.ts";
import { namesOf, recordset, rowsJson, type Params, defineSqlWrite } from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { ledgerEntries, ledgerMovements } from "./ledger.tables.ts";
import { feeReservationParts, feeReservations } from "./reservations.tables.ts";

const RESERVATION = {
  movementKey: ledgerMovements.movementKey,
  requestId: feeReservations.requestId,
  usd: feeReservations.usd,
};
const PART = {
  n: feeReservationParts.n,
  chainId: feeReservationParts.chainId,
  currency: feeReservationParts.currency,
  amount: feeReservationParts.amount,
  usd: feeReservationParts.usd,
};
const PARTS = { requestId: feeReservations.requestId, ...PART };
const ENTRY = {
  account: ledgerEntries.account,
  chainId: ledgerEntries.chainId,
  currency: ledgerEntries.currency,
  amount: ledgerEntries.amount,
};
const ENTRIES = { requestId: feeReservations.requestId, ...ENTRY };

interface ReserveParams extends Record<string, unknown> {
  readonly wanted: string;
  readonly parts: string;
  readonly entries: string;
  readonly wallet: Address;
  readonly atMs: number;
}
// One statement can write movements and entries: the trigger on entries sees both.
const reserve = defineSqlWrite("ledger_reserve_many", (p: Params<ReserveParams>) => {
  const { movementKey, context, reason, wallet, requestId, createdAtMs, id } = ledgerMovements;
  const [part, entry] = [namesOf(...Object.values(PART)), namesOf(...Object.values(ENTRY))];
  return text`
    with wanted as (select * from ${recordset(p.wanted, RESERVATION)}),
    moved as (
      insert into ${ledgerMovements} (${namesOf(movementKey, requestId, context, reason, wallet, createdAtMs)})
      select ${namesOf(movementKey, requestId)}, 'set-pending-amount', 'fees reserved', ${p.wallet}::text, ${p.atMs}::bigint
      from wanted returning ${id}, ${requestId}),
    reserved as (
      insert into ${feeReservations} (${namesOf(feeReservations.requestId, feeReservations.usd, feeReservations.wallet, feeReservations.createdAtMs)})
      select ${namesOf(feeReservations.requestId, feeReservations.usd)}, ${p.wallet}::text, ${p.atMs}::bigint
      from wanted returning ${feeReservations.id}, ${feeReservations.requestId}),
    parted as (
      insert into ${feeReservationParts} (${namesOf(feeReservationParts.reservationId)}, ${part})
      select r.id, ${text.join(
        Object.values(PART).map((column) => text`given.${namesOf(column)}`),
        text`, `,
      )}
      from ${recordset(p.parts, PARTS)} join reserved r on r.request_id = given.request_id)
    insert into ${ledgerEntries} (${namesOf(ledgerEntries.movementId, ledgerEntries.wallet)}, ${entry})
    select m.id, ${p.wallet}::text, ${entry}
    from ${recordset(p.entries, ENTRIES)} join moved m using (request_id)`;
});

/**
 * Reserves the fees of several requests, each with its own movement.
 * @throws if a request already has a reservation, or the wallet would be overdrawn
 */
export async function reserveTogether(
  sql: Sql,
  wallet: Address,
  fees: readonly FeesToReserve[],
  atMs: number,
): Promise<void> {
  const parts = fees.flatMap((fee) =>
    fee.parts.map(({ asset, amount, usd }, index) => ({
      requestId: fee.requestId,
      n: index + 1,
      ...asset,
      amount,
      usd,
    })),
  );
  const entries = fees.flatMap((fee) =>
    mergeEntries(
      fee.parts.flatMap(({ asset, amount }) => [
        { account: "balance", asset, amount: -amount },
        { account: "pending", asset, amount },
      ]),
    ).map(({ account, asset, amount }) => ({ requestId: fee.requestId, account, ...asset, amount })),
  );
  await reserve(sql, {
    wanted: rowsJson(RESERVATION, fees),
    parts: rowsJson(PARTS, parts),
    entries: rowsJson(ENTRIES, entries),
    wallet,
    atMs,
  });
}
