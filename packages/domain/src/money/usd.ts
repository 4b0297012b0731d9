import { divUp } from "./mul-div.ts";
import { pow10 } from "./pow10.ts";

/**
 * USD values and prices are integers with this many decimals; a price is USD per whole unit of a currency.
 */
export const USD_DECIMALS = 18;

export const ONE_USD = pow10(USD_DECIMALS);

/** What conversions need to know about a currency: its decimals and its price. */
export interface PricedUnit {
  readonly decimals: number;
  /** USD per whole token, 18 decimals, positive. */
  readonly priceUsd: bigint;
}

/** Value of `amount` base units, USD with 18 decimals, rounded down. */
export function amountToUsdDown(amount: bigint, unit: PricedUnit): bigint {
  return (amount * unit.priceUsd) / pow10(unit.decimals);
}

/** Value of `amount` base units, USD with 18 decimals, rounded up. */
export function amountToUsdUp(amount: bigint, unit: PricedUnit): bigint {
  return divUp(amount * unit.priceUsd, pow10(unit.decimals));
}

/** Base units worth `usd` (18 decimals), rounded down. */
export function usdToAmountDown(usd: bigint, unit: PricedUnit): bigint {
  return (usd * pow10(unit.decimals)) / unit.priceUsd;
}

/** Base units worth `usd` (18 decimals), rounded up. */
export function usdToAmountUp(usd: bigint, unit: PricedUnit): bigint {
  return divUp(usd * pow10(unit.decimals), unit.priceUsd);
}

/** Converts `amount` of `from` to an amount of `to` with the same value, rounded down once. */
export function convertDown(amount: bigint, from: PricedUnit, to: PricedUnit): bigint {
  return (amount * from.priceUsd * pow10(to.decimals)) / (to.priceUsd * pow10(from.decimals));
}

/** Converts `amount` of `from` to an amount of `to` with the same value, rounded up once. */
export function convertUp(amount: bigint, from: PricedUnit, to: PricedUnit): bigint {
  return divUp(amount * from.priceUsd * pow10(to.decimals), to.priceUsd * pow10(from.decimals));
}
