import { limitsFees, judgeFees, transferredUsd } from "@causeway/domain";
import type { RequestId, RequestState, RequestTerms } from "@causeway/domain";
import type { Services } from "../db/services.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { utcDay } from "../db/utc-day.ts";
import { payFees } from "./pay-fees.ts";
import { shortfallText } from "./sponsorship-shortfall.ts";
import { releaseFees } from "./release-fees.ts";
import { reserveFees } from "./reserve-fees.ts";

/** `refused`: the sponsor cannot pay its share; `why` is the reason. */
export type SponsoredFees =
  | { readonly kind: "reserved" }
  | { readonly kind: "refused"; readonly why: string };

type SponsoredTerms = Pick<RequestTerms, "requestId" | "user" | "keyId" | "sponsorship">;

/**
 * Reserves the sponsor's share of a fill in the commit that plans the fill: the whole share, under the key's
 * current rules, or nothing. Planning again replaces an open reservation of a different amount.
 * @param usd USD with 18 decimals
 * @throws ServiceError PRICE_FETCH_FAILED when a balance that might suffice has no fresh price
 */
export async function reserveSponsorship(
  services: Pick<Services, "clock" | "prices" | "quotePolicy" | "chains" | "appBalance">,
  tx: Pick<Tx, "ledger" | "executions" | "sponsors" | "fillBurns">,
  { requestId, user, keyId, sponsorship }: SponsoredTerms,
  usd: bigint,
): Promise<SponsoredFees> {
  if (sponsorship === undefined) return { kind: "reserved" };
  const { wallet } = sponsorship;
  const key = keyId === undefined ? undefined : await tx.sponsors.key(keyId);
  if (key?.fundingAddress !== wallet)
    return { kind: "refused", why: "the sponsoring API key is no longer funded by that wallet" };
  const reservation = await tx.ledger.lockReservation(requestId, "fees");
  if (reservation?.state === "open" && reservation.usd === usd) return { kind: "reserved" };
  if (reservation?.state === "open") await release(services, tx, requestId, wallet, reservation.round);

  const budget = { keyId: key.id, day: utcDay(services.clock.nowMs()), user };
  const round = (reservation?.round ?? 0) + 1;
  const fees = { wallet, requestId, purpose: "fees", round, budget } as const;
  const movementKey = `fees:${requestId}:reserve:${round}`;
  const refuse = async (why: string): Promise<SponsoredFees> => {
    // Gas of earlier reverted fills stays reserved: it is charged when the request is refunded.
    const usedUsd = reservation?.state === "open" ? await tx.fillBurns.unchargedUsd(requestId) : 0n;
    const keptUsd = reservation !== undefined && usedUsd > reservation.usd ? reservation.usd : usedUsd;
    if (keptUsd > 0n)
      await reserveFees(services, tx, { ...fees, usd: keptUsd, transferredUsd: 0n, movementKey });
    return { kind: "refused", why };
  };
  if (limitsFees(key.rules)) {
    const spending = await tx.executions.lockSpending({ ...budget, target: undefined }, undefined);
    const refusal = judgeFees(key.rules, usd, spending);
    if (refusal !== undefined) return await refuse(`${refusal.rule}: ${refusal.message}`);
  }
  const reserved = await reserveFees(services, tx, {
    ...fees,
    usd,
    transferredUsd: transferredUsd(sponsorship, usd),
    isTransferStable: true,
    movementKey,
  });
  if (reserved.kind === "insufficient")
    return await refuse(`not sponsored: ${shortfallText(services, wallet, reserved)}`);
  if (reserved.kind === "closed")
    throw new Error(`invariant violated: fee reservation of ${requestId} was closed under its lock`);
  return { kind: "reserved" };
}

/** Charges the sponsor the reserved amount. Call once the fill is final. Idempotent. */
export async function chargeSponsorship(
  services: Pick<Services, "clock">,
  tx: Pick<Tx, "ledger">,
  { requestId, sponsorship }: SponsoredTerms,
): Promise<void> {
  if (sponsorship === undefined) return;
  const { wallet } = sponsorship;
  const reservation = await tx.ledger.lockReservation(requestId, "fees");
  if (reservation?.state !== "open") return;
  const payer = { requestId, wallet };
  await payFees(services, tx, payer, { usd: reservation.usd }, `fees:${requestId}:pay`, "fees");
}

/**
 * Releases the sponsor's reservation when the request is no longer being filled. Charges the gas of fills
 * that reverted in a block first: the sponsor agreed to pay it, and it may cost more than the deposit is
 * worth.
 */
export async function settleSponsorship(
  services: Pick<Services, "clock">,
  tx: Pick<Tx, "ledger" | "fillBurns">,
  { requestId, sponsorship }: SponsoredTerms,
  { name }: RequestState,
): Promise<void> {
  if (sponsorship === undefined) return;
  if (name === "fillable" || name === "filling" || name === "submitted" || name === "filled") return;
  const reservation = await tx.ledger.lockReservation(requestId, "fees");
  if (reservation?.state !== "open") return;
  const usedUsd = await tx.fillBurns.unchargedUsd(requestId);
  if (usedUsd === 0n) return await release(services, tx, requestId, sponsorship.wallet, reservation.round);
  const paidUsd = usedUsd < reservation.usd ? usedUsd : reservation.usd;
  const payer = { requestId, wallet: sponsorship.wallet };
  await payFees(
    services,
    tx,
    payer,
    { usd: paidUsd },
    `fees:${requestId}:burnt:${reservation.round}`,
    "fees",
  );
  await tx.fillBurns.noteCharged(requestId, { paidUsd, usedUsd });
}

async function release(
  services: Pick<Services, "clock">,
  tx: Pick<Tx, "ledger">,
  requestId: RequestId,
  wallet: NonNullable<SponsoredTerms["sponsorship"]>["wallet"],
  round: number,
): Promise<void> {
  await releaseFees(services, tx, { requestId, wallet }, `fees:${requestId}:release:${round}`, "fees");
}
