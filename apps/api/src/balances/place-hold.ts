import { availableFor } from "@causeway/domain";
import type { HoldRecord, NewHold } from "./ledger.port.ts";
import type { Services } from "../db/services.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { appraise, heldKind, worthOf } from "./appraise.ts";

export type HoldInput = Omit<NewHold, "placedAtMs"> & {
  /** Limit of this key's active holds, USD with 18 decimals. Undefined: only the balance limits them. */
  readonly maxExposureUsd?: bigint | undefined;
};

/**
 * `insufficient`: `requiredUsd` is the new hold plus the margin for price moves. `taken`: the request already
 * has a hold that is resolved, belongs to another wallet or has another amount.
 */
export type PlacedHold =
  | { readonly kind: "placed" }
  | { readonly kind: "insufficient"; readonly availableUsd: bigint; readonly requiredUsd: bigint }
  | { readonly kind: "overExposure"; readonly exposureUsd: bigint }
  | { readonly kind: "taken"; readonly hold: HoldRecord };

/**
 * Holds a part of the app's balance; moves no funds. Returns `placed` again if the same hold is already
 * active.
 * @throws ServiceError PRICE_FETCH_FAILED when the balance might suffice, but a balance or a hold has no
 * fresh price
 */
export async function placeHold(
  services: Pick<Services, "clock" | "prices" | "quotePolicy" | "chains" | "appBalance">,
  tx: Pick<Tx, "ledger">,
  { maxExposureUsd, ...input }: HoldInput,
): Promise<PlacedHold> {
  const atMs = services.clock.nowMs();
  const book = await tx.ledger.lockWallet(input.wallet, atMs);
  const existing = await tx.ledger.lockHold(input.requestId);
  if (existing !== undefined) {
    const isSame =
      existing.state === "active" && existing.wallet === input.wallet && existing.usd === input.usd;
    return isSame ? { kind: "placed" } : { kind: "taken", hold: existing };
  }
  const exposureUsd = await tx.ledger.exposureUsd(input.keyId);
  const addedUsd = input.usd + (input.surplusUsd ?? 0n);
  if (maxExposureUsd !== undefined && exposureUsd + addedUsd > maxExposureUsd)
    return { kind: "overExposure", exposureUsd };
  const { balances, held, standing, unpriced, unpricedHold } = appraise(services, book);
  const availableUsd = availableFor("fastFill", standing);
  const added = { ...heldKind(services, input), heldUsd: input.usd };
  const requiredUsd = input.usd + worthOf(balances, [...held, added]).haircutUsd - standing.haircutUsd;
  if (availableUsd < requiredUsd) {
    const missingPrice = unpriced ?? unpricedHold;
    if (missingPrice) throw missingPrice;
    return { kind: "insufficient", availableUsd, requiredUsd };
  }
  await tx.ledger.addHold({ ...input, placedAtMs: atMs });
  return { kind: "placed" };
}
