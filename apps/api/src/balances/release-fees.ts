import { mergeEntries } from "@causeway/domain";
import type { FeePurpose, Reservation } from "./ledger.port.ts";
import type { Services } from "../db/services.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { creditEntries } from "./credit-entries.ts";

/**
 * Releases the fees that were reserved for a request, because none became due: pending → balance. `already`:
 * the reservation was closed before.
 */
export async function releaseFees(
  services: Pick<Services, "clock">,
  tx: Pick<Tx, "ledger">,
  { requestId, wallet }: Pick<Reservation, "requestId" | "wallet">,
  movementKey: string,
  purpose: FeePurpose = "execution",
): Promise<"released" | "already"> {
  const atMs = services.clock.nowMs();
  const book = await tx.ledger.lockWallet(wallet, atMs);
  const reservation = await tx.ledger.lockReservation(requestId, purpose);
  if (reservation?.wallet !== wallet || reservation.state !== "open") return "already";
  const entries = mergeEntries(
    reservation.parts.flatMap(({ asset, amount }) => [
      { account: "pending", asset, amount: -amount },
      ...creditEntries(book, asset, amount),
    ]),
  );
  if (entries.length > 0)
    await tx.ledger.post(
      {
        key: movementKey,
        context: "unset-pending-amount",
        reason: "no fees became due",
        wallet,
        requestId,
        entries,
      },
      atMs,
    );
  await tx.ledger.closeReservation(reservation.id, "released", atMs);
  return "released";
}
