import { divUp } from "../money/mul-div.ts";
import { parseDecimal } from "../money/decimal-text.ts";
import { pow10 } from "../money/pow10.ts";
import type { PricedUnit } from "../money/usd.ts";

/**
 * A guaranteed rate, at any cost to the sponsor: whole tokens of input for whole tokens of output. Both
 * positive, with the same number of decimals.
 */
export interface FixedRate {
  readonly input: bigint;
  readonly output: bigint;
}

/** A rate that is further from the prices, in bps, must be a mistake. */
export const MAX_RATE_OFF_BPS = 500n;

const RATE_DECIMALS = 30;

/**
 * Parses `"in:out"`, with optional decimals: `"1:1"`, `"1:0.999"`. Undefined if a side is missing or zero.
 */
export function parseFixedRate(text: string): FixedRate | undefined {
  const [input, output, ...more] = text.split(":").map((side) => parseDecimal(side, RATE_DECIMALS));
  if (input === undefined || output === undefined || more.length > 0) return undefined;
  return input > 0n && output > 0n ? { input, output } : undefined;
}

type Sides = { readonly origin: PricedUnit; readonly destination: PricedUnit };

/** What an input buys at the rate, in base units, rounded down. */
export function outputAt({ input: per, output: gives }: FixedRate, input: bigint, sides: Sides): bigint {
  return (input * gives * pow10(sides.destination.decimals)) / (per * pow10(sides.origin.decimals));
}

/** The smallest input that buys an output at the rate. */
export function inputAt({ input: per, output: gives }: FixedRate, output: bigint, sides: Sides): bigint {
  return divUp(output * per * pow10(sides.origin.decimals), gives * pow10(sides.destination.decimals));
}

/** How far the rate deviates from prices, bps, rounded up; never negative. */
export function rateOffBps({ input, output }: FixedRate, { origin, destination }: Sides): bigint {
  const outputValue = output * destination.priceUsd;
  const inputValue = input * origin.priceUsd;
  const off = outputValue > inputValue ? outputValue - inputValue : inputValue - outputValue;
  return divUp(off * 10_000n, inputValue);
}
