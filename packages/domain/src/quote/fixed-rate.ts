import { divUp } from "../money/mul-div.ts";
import { parseDecimal } from "../money/decimal-text.ts";
import { pow10 } from "../money/pow10.ts";
import type { PricedUnit } from "../money/usd.ts";

/**
 * A rate that is guaranteed at any cost to the sponsor: `input` whole tokens buy `output` whole tokens. Both
 * are positive and have the same number of decimals.
 */
export interface FixedRate {
  readonly input: bigint;
  readonly output: bigint;
}

/** A rate that is further from the prices, in bps, must be a mistake. */
export const MAX_RATE_DEVIATION_BPS = 500n;

const RATE_DECIMALS = 30;

/**
 * Parses `"in:out"`, with optional decimals: `"1:1"`, `"1:0.999"`. Undefined if a side is missing or zero.
 */
export function parseFixedRate(text: string): FixedRate | undefined {
  const [input, output, ...extraSides] = text.split(":").map((side) => parseDecimal(side, RATE_DECIMALS));
  if (input === undefined || output === undefined || extraSides.length > 0) return undefined;
  return input > 0n && output > 0n ? { input, output } : undefined;
}

type Sides = { readonly origin: PricedUnit; readonly destination: PricedUnit };

/** What an input buys at the rate, in base units, rounded down. */
export function outputAt(rate: FixedRate, input: bigint, sides: Sides): bigint {
  return (
    (input * rate.output * pow10(sides.destination.decimals)) / (rate.input * pow10(sides.origin.decimals))
  );
}

/** The smallest input that buys an output at the rate. */
export function inputAt(rate: FixedRate, output: bigint, sides: Sides): bigint {
  return divUp(
    output * rate.input * pow10(sides.origin.decimals),
    rate.output * pow10(sides.destination.decimals),
  );
}

/** How far the rate deviates from prices, bps, rounded up; never negative. */
export function rateDeviationBps({ input, output }: FixedRate, { origin, destination }: Sides): bigint {
  const outputUsd = output * destination.priceUsd;
  const inputUsd = input * origin.priceUsd;
  const differenceUsd = outputUsd > inputUsd ? outputUsd - inputUsd : inputUsd - outputUsd;
  return divUp(differenceUsd * 10_000n, inputUsd);
}
