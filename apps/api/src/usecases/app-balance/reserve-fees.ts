import type { Address, RequestId } from "@causeway/domain";
import { availableFor, mergeEntries, splitCharge } from "@causeway/domain";
import type { Reservation } from "../../ports/ledger.ts";
import type { Services } from "../../ports/services.ts";
import type { Tx } from "../../ports/unit-of-work.ts";
import { appraise } from "./appraise.ts";

export interface FeeCharge {
  readonly wallet: Address;
  /** USD with 18 decimals. */
  readonly usd: bigint;
  readonly requestId: RequestId;
  readonly movementKey: string;
}

/** `closed`: fees of this request were reserved before, and paid or released, or by another wallet; a request reserves once. */
export type ReservedFees =
  | { readonly kind: "reserved"; readonly reservation: Reservation }
  | { readonly kind: "insufficient"; readonly availableUsd: bigint }
  | { readonly kind: "closed" };

/**
 * Sets the fees of a request aside, all or nothing: balance → pending. Holds do not stand in the way. Asked again while the reservation is open, it answers the same.
 * @throws ServiceError PRICE_FETCH_FAILED when a balance that might have sufficed has no fresh price
 */
export async function reserveFees(
  services: Pick<Services, "clock" | "prices" | "appBalance">,
  tx: Pick<Tx, "ledger">,
  { wallet, usd, requestId, movementKey }: FeeCharge,
): Promise<ReservedFees> {
  const atMs = services.clock.nowMs();
  const book = await tx.ledger.lockWallet(wallet, atMs);
  const known = await tx.ledger.reservation(requestId);
  if (known !== undefined)
    return known.state === "open" && known.wallet === wallet
      ? { kind: "reserved", reservation: known }
      : { kind: "closed" };

  const { balances, standing, unpriced } = appraise(services, book);
  const availableUsd = availableFor("sponsorship", standing);
  const { parts, uncoveredUsd } = splitCharge(usd, balances);
  if (availableUsd < usd || uncoveredUsd > 0n) {
    if (unpriced) throw unpriced;
    return { kind: "insufficient", availableUsd };
  }
  const entries = mergeEntries(
    parts.flatMap(({ asset, amount }) => [
      { account: "balance", asset, amount: -amount },
      { account: "pending", asset, amount },
    ]),
  );
  if (entries.length > 0) {
    const posted = await tx.ledger.post(
      {
        key: movementKey,
        context: "set-pending-amount",
        reason: "fees reserved",
        wallet,
        requestId,
        entries,
      },
      atMs,
    );
    if (posted === "already") throw new Error(`${movementKey} reserved the fees of another request`);
  }
  return {
    kind: "reserved",
    reservation: await tx.ledger.addReservation({ requestId, wallet, parts, usd }, atMs),
  };
}
