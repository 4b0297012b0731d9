import { BPS, bpsOfDown } from "../money/bps.ts";
import { mulDivDown } from "../money/mul-div.ts";
import { amountToUsdDown, amountToUsdUp } from "../money/usd.ts";
import type { PricedUnit } from "../money/usd.ts";

/** Prices of both ends of a request at one moment. */
export interface EndPrices {
  readonly origin: PricedUnit;
  readonly destination: PricedUnit;
}

/**
 * How much less of a fast fill a deposit covers than at acceptance, because prices moved; USD with 18
 * decimals at current prices. The guaranteeing app pays the difference: otherwise it could deposit only when
 * that is cheaper.
 * @param amount what was paid, base units of the destination's currency
 * @param toleranceBps price moves up to this are at the solver's cost
 */
export function shortfallUsd(amount: bigint, then: EndPrices, now: EndPrices, toleranceBps: number): bigint {
  const isNoWorse =
    now.origin.priceUsd * then.destination.priceUsd >= then.origin.priceUsd * now.destination.priceUsd;
  if (isNoWorse) return 0n;
  const paidUsd = amountToUsdUp(amount, now.destination);
  const coveredUsd = mulDivDown(
    amountToUsdDown(amount, then.destination),
    now.origin.priceUsd,
    then.origin.priceUsd,
  );
  const missingUsd = paidUsd - coveredUsd;
  return missingUsd * BPS <= paidUsd * BigInt(toleranceBps) ? 0n : missingUsd;
}

/**
 * Value of the part of a deposit that the fill was not priced on, at the lower price of then and now. USD
 * with 18 decimals, rounded down.
 */
export function surplusUsd(amount: bigint, then: PricedUnit, now: PricedUnit): bigint {
  return amountToUsdDown(amount, then.priceUsd < now.priceUsd ? then : now);
}

/**
 * The maximum surplus over the quoted deposit that is credited automatically: a swap before the deposit may
 * yield more.
 */
const MAX_UNQUOTED_BPS = 1_000;

/**
 * How much of a deposit is credited to the guaranteeing app, base units of the origin's currency. Much more
 * than quoted would be a trade that no limit of the quote has checked, so `beyond` waits for the operator.
 * @param quoted the deposit that the quote expects
 * @param input what the fill was priced on
 */
export function surplusUnits(
  deposited: bigint,
  quoted: bigint,
  input: bigint,
): { readonly credited: bigint; readonly beyond: bigint } {
  const max = quoted + bpsOfDown(quoted, MAX_UNQUOTED_BPS);
  const counted = deposited < max ? deposited : max;
  return { credited: counted > input ? counted - input : 0n, beyond: deposited - counted };
}

/**
 * What an app owes for a fill whose deposit never came, at the higher price of then and now. USD with 18
 * decimals, rounded up.
 */
export function unpaidFillUsd(amount: bigint, then: PricedUnit, now: PricedUnit): bigint {
  return amountToUsdUp(amount, then.priceUsd > now.priceUsd ? then : now);
}
