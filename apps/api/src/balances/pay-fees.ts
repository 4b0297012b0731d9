import type { LedgerAsset } from "@causeway/domain";
import { assetKey, mergeEntries, shareOfParts } from "@causeway/domain";
import type { FeePurpose, Reservation } from "./ledger.port.ts";
import type { Services } from "../db/services.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { creditEntries } from "./credit-entries.ts";

/**
 * The amount due: USD with 18 decimals, converted at the rates of the reservation; or exact amounts per
 * asset.
 */
export type FeesDue =
  | { readonly usd: bigint }
  | { readonly amounts: ReadonlyArray<{ readonly asset: LedgerAsset; readonly amount: bigint }> };

/**
 * `already`: the reservation was paid or released before; nothing changes. `uncoveredUsd`: the amount due
 * beyond the reservation, which is not charged.
 */
export type PaidFees =
  | { readonly kind: "paid"; readonly uncoveredUsd: bigint }
  | { readonly kind: "already" };

/**
 * Pays the fees of a request from its reservation (pending → fees), at most what was reserved; returns the
 * rest (pending → balance).
 */
export async function payFees(
  services: Pick<Services, "clock">,
  tx: Pick<Tx, "ledger">,
  { requestId, wallet }: Pick<Reservation, "requestId" | "wallet">,
  due: FeesDue,
  movementKey: string,
  purpose: FeePurpose = "execution",
): Promise<PaidFees> {
  const atMs = services.clock.nowMs();
  const book = await tx.ledger.lockWallet(wallet, atMs);
  const reservation = await tx.ledger.lockReservation(requestId, purpose);
  if (reservation?.wallet !== wallet || reservation.state !== "open") return { kind: "already" };

  const dueByAsset = new Map(
    ("usd" in due ? shareOfParts(due.usd, reservation.parts) : due.amounts).map(({ asset, amount }) => [
      assetKey(asset),
      amount,
    ]),
  );
  const shares = reservation.parts.map(({ asset, amount }) => {
    const amountDue = dueByAsset.get(assetKey(asset)) ?? 0n;
    const paid = amountDue < amount ? amountDue : amount;
    return { asset, paid, unspent: amount - paid };
  });
  const paying = mergeEntries(
    shares.flatMap(({ asset, paid }) => [
      { account: "pending", asset, amount: -paid },
      { account: "fees", asset, amount: paid },
    ]),
  );
  const returning = mergeEntries(
    shares.flatMap(({ asset, unspent }) => [
      { account: "pending", asset, amount: -unspent },
      ...creditEntries(book, asset, unspent),
    ]),
  );
  const owner = { wallet, requestId };
  if (paying.length > 0)
    await tx.ledger.post(
      { key: movementKey, context: "pay-fees", reason: "fees paid", ...owner, entries: paying },
      atMs,
    );
  if (returning.length > 0)
    await tx.ledger.post(
      {
        key: `${movementKey}:rest`,
        context: "unset-pending-amount",
        reason: "fees were lower than reserved",
        ...owner,
        entries: returning,
      },
      atMs,
    );
  const paidUsd = "usd" in due && due.usd < reservation.usd ? due.usd : undefined;
  await tx.ledger.closeReservation(reservation.id, "paid", atMs, paidUsd);
  const uncoveredUsd = "usd" in due && due.usd > reservation.usd ? due.usd - reservation.usd : 0n;
  return { kind: "paid", uncoveredUsd };
}
