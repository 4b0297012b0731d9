import { formatPercent, formatUsd } from "../money/decimal-text.ts";
import { amountToUsdDown } from "../money/usd.ts";
import type { PricedUnit } from "../money/usd.ts";

/** How far one side may fall short: USD, base units, percent. */
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

/** The slippage of one side: the possible shortfall of a total, base units. */
export interface Shortfall {
  readonly missing: bigint;
  readonly total: bigint;
  readonly unit: PricedUnit;
}

const NONE: SlippageSide = { usd: "0.000000", value: "0", percent: "0.00" };

/** @param origin undefined without a swap before the deposit: then nothing can fall short on the origin */
export function slippageDetails(
  totalBps: number,
  destination: Shortfall,
  origin: Shortfall | undefined,
): SlippageDetails {
  return {
    origin: origin === undefined ? NONE : sideOf(origin),
    destination: sideOf(destination),
    total: totalBps.toString(),
  };
}

function sideOf({ missing, total, unit }: Shortfall): SlippageSide {
  if (missing === 0n) return NONE;
  return {
    usd: formatUsd(amountToUsdDown(missing, unit)),
    value: missing.toString(),
    percent: formatPercent(missing, total),
  };
}
