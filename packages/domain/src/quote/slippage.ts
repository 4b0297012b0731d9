import { formatFixed, formatUsd } from "../money/decimal-text.ts";
import { amountToUsdDown } from "../money/usd.ts";
import type { PricedUnit } from "../money/usd.ts";

/** How far one side may fall short: USD, smallest units, percent. */
export interface SlippageSide {
  readonly usd: string;
  readonly value: string;
  readonly percent: string;
}

/** `details.slippageTolerance` of a quote. */
export interface SlippageDetails {
  readonly origin: SlippageSide;
  readonly destination: SlippageSide;
  /** bps, of both sides together. */
  readonly total: string;
}

const NONE: SlippageSide = { usd: "0.000000", value: "0", percent: "0.00" };

/**
 * What the promise of a trade leaves open. There is no swap on the origin, so only the destination may fall short, by `slippageBps`
 * (0 for an EXACT_OUTPUT, whatever was asked).
 */
export function slippageDetails(
  expected: bigint,
  minimum: bigint,
  slippageBps: number,
  destination: PricedUnit,
): SlippageDetails {
  const value = expected - minimum;
  return {
    origin: NONE,
    destination: {
      usd: formatUsd(amountToUsdDown(value, destination)),
      value: value.toString(),
      percent: formatFixed(BigInt(slippageBps), 2, 2),
    },
    total: slippageBps.toString(),
  };
}
