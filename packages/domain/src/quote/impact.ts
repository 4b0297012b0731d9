import { formatFixed, formatPercent, formatUsd, toWrittenUsd } from "../money/decimal-text.ts";
import { pow10 } from "../money/pow10.ts";
import { amountToUsdDown } from "../money/usd.ts";
import type { PricedUnit } from "../money/usd.ts";

/** A change of value in API format: USD with six decimals and percent with two, both negative for a loss. */
export interface Impact {
  readonly usd: string;
  readonly percent: string;
}

/** How the input's value changed, in USD and percent of the input. */
export interface TradeImpact {
  readonly totalImpact: Impact;
  /**
   * The part that is not a fee: swap costs, conversion at the price, and rounding. 0 if nothing is swapped.
   */
  readonly swapImpact: Impact;
  readonly expandedPriceImpact: {
    readonly swap: { readonly usd: string };
    readonly execution: { readonly usd: string };
    readonly service: { readonly usd: string };
    /** Same as `service`, under the name that existing clients read. */
    readonly relay: { readonly usd: string };
    readonly app: { readonly usd: string };
    readonly sponsored: { readonly usd: string };
  };
}

/** The amounts of a trade in base units; fees in the deposited currency. */
export interface TradeAmounts {
  readonly input: bigint;
  readonly execution: bigint;
  readonly service: bigint;
  readonly app: bigint;
  /** The sponsor's payment, and the cost of the gas top-up. Absent: none. */
  readonly sponsored?: bigint | undefined;
  readonly topup?: bigint | undefined;
  /** Whether something is swapped, or converted at the price. Absent: true. */
  readonly hasSwap?: boolean;
  readonly expected: bigint;
}

/**
 * Values the parts of a trade, each truncated as written, so that the texts add up: the total is the written
 * output less the written input, and the swap part is the total less the written fees. If a side has no
 * price (0), only the fees are known.
 * @param deposited the currency of the fees: the input's own unless a swap precedes the deposit
 */
export function tradeImpact(
  trade: TradeAmounts,
  origin: PricedUnit,
  destination: PricedUnit,
  deposited: PricedUnit = origin,
): TradeImpact {
  const written = (amount: bigint, unit: PricedUnit): bigint => toWrittenUsd(amountToUsdDown(amount, unit));
  const inputUsd = written(trade.input, origin);
  const gasUsd = -written(trade.execution, deposited);
  const serviceUsd = -written(trade.service, deposited);
  const appUsd = -written(trade.app, deposited);
  const sponsoredUsd = trade.sponsored === undefined ? 0n : written(trade.sponsored, deposited);
  const topupUsd = trade.topup === undefined ? 0n : written(trade.topup, deposited);
  const feesUsd = gasUsd + serviceUsd + appUsd + sponsoredUsd;
  const isKnown = origin.priceUsd !== 0n && destination.priceUsd !== 0n;
  const totalUsd = isKnown ? written(trade.expected, destination) + topupUsd - inputUsd : feesUsd;
  const restUsd = totalUsd - feesUsd;
  // Without a swap the rest is rounding: count it as execution, not as a swap cost.
  const [swapUsd, executionUsd] = trade.hasSwap === false ? [0n, gasUsd + restUsd] : [restUsd, gasUsd];
  return {
    totalImpact: { usd: formatUsd(totalUsd), percent: formatPercent(totalUsd, inputUsd) },
    swapImpact: { usd: formatUsd(swapUsd), percent: formatPercent(swapUsd, inputUsd) },
    expandedPriceImpact: {
      swap: { usd: formatUsd(swapUsd) },
      execution: { usd: formatUsd(executionUsd) },
      service: { usd: formatUsd(serviceUsd) },
      relay: { usd: formatUsd(serviceUsd) },
      app: { usd: formatUsd(appUsd) },
      sponsored: { usd: formatUsd(sponsoredUsd) },
    },
  };
}

/** Whole tokens of output per whole token of input, up to 18 decimals, truncated. */
export function tradeRate(
  input: bigint,
  originDecimals: number,
  output: bigint,
  destinationDecimals: number,
): string {
  if (input === 0n) return "0";
  const scaled = (output * pow10(originDecimals) * pow10(18)) / (input * pow10(destinationDecimals));
  return formatFixed(scaled, 18, 18).replace(/\.?0+$/, "");
}
