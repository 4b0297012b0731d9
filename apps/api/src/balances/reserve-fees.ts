import type { Address, ChargePart, RequestId } from "@causeway/domain";
import { amountToUsdDown, assetKey, availableFor, mergeEntries, splitCharge } from "@causeway/domain";
import type { FeeBudget, FeePurpose, Reservation } from "./ledger.port.ts";
import type { Services } from "../db/services.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { appraise, worthOf } from "./appraise.ts";
import type { Appraisal, AppraisedBalance } from "./appraise.ts";

export interface FeeCharge {
  readonly wallet: Address;
  /** USD with 18 decimals. */
  readonly usd: bigint;
  /** The part that is transferred to others. As for a claim, it must not come out of funds under holds. */
  readonly transferredUsd: bigint;
  /**
   * Only stablecoins may pay the transferred part: it is charged without a spread, so other assets would be
   * sold without one. Default: any balance may pay it.
   */
  readonly isTransferStable?: boolean;
  readonly requestId: RequestId;
  readonly movementKey: string;
  /** Default: `execution`. */
  readonly purpose?: FeePurpose;
  /**
   * Number of this reservation among those of the request, which must be closed before the next. Default: 1.
   */
  readonly round?: number;
  readonly budget?: FeeBudget;
}

/** The missing amount for a charge; USD with 18 decimals. */
export interface Shortfall {
  readonly kind: "insufficient";
  readonly availableUsd: bigint;
  readonly requiredUsd: bigint;
  /**
   * `unheld`: the balance suffices, but it is held for fast fills and must not be transferred to others.
   * `stablecoins`: the balance suffices, but only stablecoins may pay the transferred part.
   */
  readonly missing: "balance" | "unheld" | "stablecoins";
}

/** `closed`: fees of this request and round were already paid, released, or reserved by another wallet. */
export type ReservedFees =
  | { readonly kind: "reserved"; readonly reservation: Reservation }
  | Shortfall
  | { readonly kind: "closed" };

/**
 * Reserves all fees of a request or nothing: balance → pending. Holds limit the transferred part only.
 * Repeating the call while the reservation is open returns the same result.
 * @throws ServiceError PRICE_FETCH_FAILED if it might suffice with a fresh price of a balance or a hold
 */
export async function reserveFees(
  services: Pick<Services, "clock" | "prices" | "quotePolicy" | "chains" | "appBalance">,
  tx: Pick<Tx, "ledger">,
  {
    wallet,
    usd,
    transferredUsd,
    isTransferStable = false,
    requestId,
    movementKey,
    purpose = "execution",
    round = 1,
    budget,
  }: FeeCharge,
): Promise<ReservedFees> {
  const atMs = services.clock.nowMs();
  const book = await tx.ledger.lockWallet(wallet, atMs);
  const existing = await tx.ledger.lockReservation(requestId, purpose);
  if (existing !== undefined && existing.round >= round)
    return existing.state === "open" && existing.wallet === wallet
      ? { kind: "reserved", reservation: existing }
      : { kind: "closed" };

  const planned = planCharge(appraise(services, book), { usd, transferredUsd, isTransferStable });
  if (planned.kind === "insufficient") return planned;
  const { parts } = planned;
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
    if (posted === "already")
      throw new Error(`invariant violated: movement ${movementKey} belongs to another request`);
  }
  return {
    kind: "reserved",
    reservation: await tx.ledger.addReservation(
      { requestId, wallet, parts, usd, purpose, round, ...(budget !== undefined && { budget }) },
      atMs,
    ),
  };
}

export type PlannedCharge =
  | {
      readonly kind: "planned";
      readonly parts: readonly ChargePart[];
      /** What remains after the charge. */
      readonly remaining: Appraisal;
    }
  | Shortfall;

/**
 * Splits a charge among the balances of an appraised wallet, in full or not at all. Pure.
 * @throws ServiceError PRICE_FETCH_FAILED if it might suffice with a fresh price of a balance or a hold
 */
export function planCharge(
  appraisal: Appraisal,
  {
    usd,
    transferredUsd,
    isTransferStable = false,
  }: Pick<FeeCharge, "usd" | "transferredUsd" | "isTransferStable">,
): PlannedCharge {
  const { balances, held, standing, unpriced, unpricedHold } = appraisal;
  const availableUsd = availableFor("sponsorship", standing);
  const transferableUsd = availableFor("claim", standing);
  const isVolatile = ({ class: currencyClass }: AppraisedBalance): boolean => currencyClass !== "stable";
  const { parts, uncoveredUsd } = splitCharge(
    usd,
    balances,
    isTransferStable ? { usd: usd - transferredUsd, applies: isVolatile } : undefined,
  );
  const isCovered = availableUsd >= usd;
  if (!isCovered || transferableUsd < transferredUsd || uncoveredUsd > 0n) {
    const missingPrice = unpriced ?? (isCovered ? unpricedHold : undefined);
    if (missingPrice) throw missingPrice;
    if (!isCovered) return { kind: "insufficient", availableUsd, requiredUsd: usd, missing: "balance" };
    const requiredUsd = transferredUsd;
    if (transferableUsd < transferredUsd)
      return { kind: "insufficient", availableUsd: transferableUsd, requiredUsd, missing: "unheld" };
    const stableUsd = balances
      .filter((balance) => !isVolatile(balance))
      .reduce((sum, { amount, unit }) => sum + amountToUsdDown(amount, unit), 0n);
    return { kind: "insufficient", availableUsd: stableUsd, requiredUsd, missing: "stablecoins" };
  }
  const charged = new Map(parts.map(({ asset, amount }) => [assetKey(asset), amount]));
  const remainingBalances = balances.map((balance) => ({
    ...balance,
    amount: balance.amount - (charged.get(assetKey(balance.asset)) ?? 0n),
  }));
  return {
    kind: "planned",
    parts,
    remaining: {
      ...appraisal,
      balances: remainingBalances,
      standing: { ...standing, ...worthOf(remainingBalances, held) },
    },
  };
}
