import { divUp } from "../money/mul-div.ts";
import { amountToUsdDown, usdToAmountUp } from "../money/usd.ts";
import type { PricedUnit } from "../money/usd.ts";
import type { LedgerAsset } from "./asset.ts";

/** A balance that a charge may take from. */
export interface ChargeableBalance {
  readonly asset: LedgerAsset;
  /** Smallest units, not negative. */
  readonly amount: bigint;
  readonly unit: PricedUnit;
}

/** A piece of a charge: `amount` smallest units of the asset stand for `usd` (18 decimals). */
export interface ChargePart {
  readonly asset: LedgerAsset;
  readonly amount: bigint;
  readonly usd: bigint;
}

/** Whether {@link splitCharge} can have made the part of a balance with this price. */
export function isConvertedAt(
  { amount, usd }: Pick<ChargePart, "amount" | "usd">,
  unit: PricedUnit,
): boolean {
  return amount === usdToAmountUp(usd, unit) || usd === amountToUsdDown(amount, unit);
}

/**
 * What could be taken, and the part of the charge that no balance covers (USD with 18 decimals, zero when all
 * is covered).
 */
export interface SplitCharge {
  readonly parts: readonly ChargePart[];
  readonly uncoveredUsd: bigint;
}

/**
 * Takes `usd` from the balances in their given order, each emptied before the next is touched. The amount
 * taken from an asset is rounded up, and never more than there is; the parts' `usd` and the uncovered rest
 * are together exactly the charge.
 * @param cap balances that together may pay at most `usd` of the charge
 */
export function splitCharge<Balance extends ChargeableBalance>(
  usd: bigint,
  balances: readonly Balance[],
  cap?: { readonly usd: bigint; readonly applies: (balance: Balance) => boolean },
): SplitCharge {
  const parts: ChargePart[] = [];
  let restUsd = usd;
  let cappedUsd = cap?.usd ?? 0n;
  for (const balance of balances) {
    const { asset, amount, unit } = balance;
    const isCapped = cap?.applies(balance) === true;
    const dueUsd = isCapped && cappedUsd < restUsd ? cappedUsd : restUsd;
    const worthUsd = amountToUsdDown(amount, unit);
    if (dueUsd === 0n || worthUsd === 0n) continue;
    const partUsd = worthUsd < dueUsd ? worthUsd : dueUsd;
    parts.push({ asset, amount: worthUsd < dueUsd ? amount : usdToAmountUp(dueUsd, unit), usd: partUsd });
    restUsd -= partUsd;
    if (isCapped) cappedUsd -= partUsd;
  }
  return { parts, uncoveredUsd: restUsd };
}

/**
 * The amounts that pay `usd` out of parts set aside, in their order and at the rate at which they were set
 * aside: what was reserved for a dollar pays a dollar, wherever prices went. Rounded up, at most what there
 * is; `usd` beyond the parts takes them whole.
 */
export function shareOfParts(
  usd: bigint,
  parts: readonly ChargePart[],
): Array<{ readonly asset: LedgerAsset; readonly amount: bigint }> {
  let restUsd = usd;
  return parts.map(({ asset, amount, usd: partUsd }) => {
    if (restUsd >= partUsd) {
      restUsd -= partUsd;
      return { asset, amount };
    }
    const share = divUp(amount * restUsd, partUsd);
    restUsd = 0n;
    return { asset, amount: share };
  });
}
