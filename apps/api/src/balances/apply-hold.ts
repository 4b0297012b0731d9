import { isCoverDue, unpaidFillUsd, unreachable } from "@causeway/domain";
import type { Effect, RequestId, RequestState, RequestTerms } from "@causeway/domain";
import type { FastFillRecord } from "./fast-fill.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { debitKey, makeHoldPermanent, reinstateHold, releaseHold } from "./move-hold.ts";
import { chargeRevertedFill } from "./charge-reverted-fill.ts";
import { coverFastFill, priceOf, uncoverFastFill, worthOf } from "./cover-fast-fill.ts";
import type { CoverServices } from "./cover-fast-fill.ts";

/** The services that moving a hold needs. */
export type HoldServices = CoverServices;

/** Effects on the hold that backs a fast fill. */
export type HoldEffect = Extract<
  Effect,
  { readonly kind: "releaseHold" | "reinstateHold" | "debitHold" | "returnHold" }
>;

/**
 * Applies the effect of a request's transition to its hold, in the same commit.
 * @param next the state of the request after the transition
 * @throws ServiceError PRICE_FETCH_FAILED when a debit cannot be priced now
 */
export async function applyHold(
  services: HoldServices,
  tx: Tx,
  terms: RequestTerms,
  next: RequestState,
  effect: HoldEffect,
): Promise<void> {
  const { requestId } = terms;
  if ((await tx.ledger.walletOfHold(requestId)) === undefined) {
    tx.events.alarm("hold_move_rejected", { requestId, act: effect.kind, state: "none" });
    return;
  }
  switch (effect.kind) {
    case "returnHold":
    case "releaseHold":
      if (isCoverDue(next) && next.depositId !== undefined)
        return await coverFastFill(services, tx, terms, next.depositId);
      return await releaseUnpaid(services, tx, requestId);
    case "reinstateHold":
      if ((await uncoverFastFill(services, tx, requestId)) === "undone")
        await reinstateHold(services, tx, requestId);
      return;
    case "debitHold":
      return await chargeFastFill(services, tx, terms);
    default:
      return unreachable(effect);
  }
}

/**
 * Releases the hold of a request whose recipient was not paid. The gas of reverted fills is charged first,
 * and the hold stays until that succeeds. Idempotent.
 */
export async function releaseUnpaid(services: HoldServices, tx: Tx, requestId: RequestId): Promise<void> {
  if ((await chargeRevertedFill(services, tx, requestId)) === "due") return;
  await releaseHold(services, tx, requestId);
}

/** Charges the app for the fill and its gas. */
async function chargeFastFill(services: HoldServices, tx: Tx, terms: RequestTerms): Promise<void> {
  const { requestId } = terms;
  const fastFill = await tx.fastFills.find(requestId);
  const usd = fastFill && usdToCharge(services, terms, fastFill);
  const result = await makeHoldPermanent(services, tx, requestId, usd);
  if (result !== "applied") return;
  const hold = await tx.ledger.lockHold(requestId);
  if (hold === undefined) return;
  const entries = await tx.ledger.entriesOf(debitKey(requestId, hold.debits));
  const charged = entries.filter(({ account }) => account === "fronted");
  await tx.fastFills.setDebited(requestId, worthOf(services, charged));
}

/**
 * What the app owes for the fill, USD with 18 decimals. Undefined if the prices at acceptance are unknown:
 * the held amount is then due.
 */
function usdToCharge(
  services: HoldServices,
  { destination }: RequestTerms,
  { amount, prices, spentUsd }: FastFillRecord,
): bigint | undefined {
  if (prices.destinationUsd === 0n) return undefined;
  const current = priceOf(services, destination);
  return unpaidFillUsd(amount, { ...current, priceUsd: prices.destinationUsd }, current) + spentUsd;
}
