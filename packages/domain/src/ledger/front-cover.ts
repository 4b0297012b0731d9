import { BPS, bpsOfDown } from "../money/bps.ts";
import { mulDivDown } from "../money/mul-div.ts";
import { amountToUsdDown, amountToUsdUp } from "../money/usd.ts";
import type { PricedUnit } from "../money/usd.ts";

/** What both ends of a request are worth at one moment. */
export interface EndPrices {
  readonly origin: PricedUnit;
  readonly destination: PricedUnit;
}

/**
 * How much less a deposit covers of a fast fill than when the fill was accepted, because prices moved against
 * it; USD with 18 decimals at today's prices. The app vouched for the deposit, so it pays the difference:
 * otherwise the deposit would be made only when it is worth less.
 * @param amount what was paid, smallest units of the destination's currency
 * @param toleranceBps moves of at most this part are the solver's
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
 * What the part of a deposit that the fill was not priced on is worth: at the lesser price of then and now.
 * USD with 18 decimals, rounded down.
 */
export function surplusUsd(amount: bigint, then: PricedUnit, now: PricedUnit): bigint {
  return amountToUsdDown(amount, then.priceUsd < now.priceUsd ? then : now);
}

/**
 * More than the quoted deposit by this part is credited to the app automatically: the luck of a swap before
 * the deposit.
 */
const MAX_UNQUOTED_BPS = 1_000;

/**
 * How much of a deposit goes to the app that vouched, smallest units of the origin's currency. Far more than
 * was quoted would be a trade of any size that no limit of the quote has seen, so `beyond` waits for the
 * operator.
 * @param quoted the deposit that the quote expects
 * @param input what the fill was priced on
 */
export function surplusUnits(
  deposited: bigint,
  quoted: bigint,
  input: bigint,
): { readonly credited: bigint; readonly beyond: bigint } {
  const most = quoted + bpsOfDown(quoted, MAX_UNQUOTED_BPS);
  const counted = deposited < most ? deposited : most;
  return { credited: counted > input ? counted - input : 0n, beyond: deposited - counted };
}

/**
 * What is owed for a fill whose deposit never came: at the greater price of then and now. USD with 18
 * decimals, rounded up.
 */
export function unpaidFillUsd(amount: bigint, then: PricedUnit, now: PricedUnit): bigint {
  return amountToUsdUp(amount, then.priceUsd > now.priceUsd ? then : now);
}
