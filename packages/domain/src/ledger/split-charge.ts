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

/** What could be taken, and the part of the charge that no balance covers (USD with 18 decimals, zero when all is covered). */
export interface SplitCharge {
  readonly parts: readonly ChargePart[];
  readonly uncoveredUsd: bigint;
}

/**
 * Takes `usd` from the balances in their given order, each emptied before the next is touched. The amount taken from an asset is rounded up, and never more
 * than there is; the parts' `usd` and the uncovered rest are together exactly the charge.
 */
export function splitCharge(usd: bigint, balances: readonly ChargeableBalance[]): SplitCharge {
  const parts: ChargePart[] = [];
  let restUsd = usd;
  for (const { asset, amount, unit } of balances) {
    if (restUsd === 0n) break;
    const worthUsd = amountToUsdDown(amount, unit);
    if (worthUsd === 0n) continue;
    if (worthUsd >= restUsd) {
      parts.push({ asset, amount: usdToAmountUp(restUsd, unit), usd: restUsd });
      restUsd = 0n;
    } else {
      parts.push({ asset, amount, usd: worthUsd });
      restUsd -= worthUsd;
    }
  }
  return { parts, uncoveredUsd: restUsd };
}

/**
 * The amounts that pay `usd` out of parts set aside, in their order and at the rate at which they were set aside: what was reserved for a dollar pays a dollar,
 * wherever prices went. Rounded up, at most what there is; `usd` beyond the parts takes them whole.
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
