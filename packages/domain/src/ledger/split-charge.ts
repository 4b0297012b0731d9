import { divUp } from "../money/mul-div.ts";
import { amountToUsdDown, usdToAmountUp } from "../money/usd.ts";
import type { PricedUnit } from "../money/usd.ts";
import type { LedgerAsset } from "./asset.ts";

/** A balance that a charge may use. */
export interface ChargeableBalance {
  readonly asset: LedgerAsset;
  /** Base units, not negative. */
  readonly amount: bigint;
  readonly unit: PricedUnit;
}

/** A part of a charge: `amount` base units of the asset pay `usd` (18 decimals). */
export interface ChargePart {
  readonly asset: LedgerAsset;
  readonly amount: bigint;
  readonly usd: bigint;
}

/** Whether {@link splitCharge} could have made this part from a balance with this price. */
export function isConvertedAt(
  { amount, usd }: Pick<ChargePart, "amount" | "usd">,
  unit: PricedUnit,
): boolean {
  return amount === usdToAmountUp(usd, unit) || usd === amountToUsdDown(amount, unit);
}

/** The parts of a charge, and the rest that no balance covers (USD with 18 decimals). */
export interface SplitCharge {
  readonly parts: readonly ChargePart[];
  readonly uncoveredUsd: bigint;
}

/**
 * Charges `usd` to the balances in order, emptying each before using the next. The amount from an asset is
 * rounded up, but never exceeds its balance; the parts' `usd` and the uncovered rest add up exactly to the
 * charge.
 * @param cap the balances to which it `applies` may together pay at most `cap.usd`
 */
export function splitCharge<Balance extends ChargeableBalance>(
  usd: bigint,
  balances: readonly Balance[],
  cap?: { readonly usd: bigint; readonly applies: (balance: Balance) => boolean },
): SplitCharge {
  const parts: ChargePart[] = [];
  let remainingUsd = usd;
  let cappedUsd = cap?.usd ?? 0n;
  for (const balance of balances) {
    const { asset, amount, unit } = balance;
    const isCapped = cap?.applies(balance) === true;
    const dueUsd = isCapped && cappedUsd < remainingUsd ? cappedUsd : remainingUsd;
    const worthUsd = amountToUsdDown(amount, unit);
    if (dueUsd === 0n || worthUsd === 0n) continue;
    const partUsd = worthUsd < dueUsd ? worthUsd : dueUsd;
    parts.push({ asset, amount: worthUsd < dueUsd ? amount : usdToAmountUp(dueUsd, unit), usd: partUsd });
    remainingUsd -= partUsd;
    if (isCapped) cappedUsd -= partUsd;
  }
  return { parts, uncoveredUsd: remainingUsd };
}

/**
 * The amounts that pay `usd` out of reserved parts, in their order and at the rate of the reservation,
 * regardless of price moves since. Rounded up, at most each part; a `usd` above their sum uses all parts.
 */
export function shareOfParts(
  usd: bigint,
  parts: readonly ChargePart[],
): Array<{ readonly asset: LedgerAsset; readonly amount: bigint }> {
  let remainingUsd = usd;
  return parts.map(({ asset, amount, usd: partUsd }) => {
    if (remainingUsd >= partUsd) {
      remainingUsd -= partUsd;
      return { asset, amount };
    }
    const share = divUp(amount * remainingUsd, partUsd);
    remainingUsd = 0n;
    return { asset, amount: share };
  });
}
