import { formatFixed, formatPercent, formatUsd, toWrittenUsd } from "../money/decimal-text.ts";
import { pow10 } from "../money/pow10.ts";
import { amountToUsdDown } from "../money/usd.ts";
import type { PricedUnit } from "../money/usd.ts";

/** A change of value as the wire writes it: USD with six decimals and percent with two, both negative for a loss. */
export interface Impact {
  readonly usd: string;
  readonly percent: string;
}

/** What became of the input's value, in USD and percent of the input. */
export interface TradeImpact {
  readonly totalImpact: Impact;
  /** The part that is no fee: converting at the price and rounding. */
  readonly swapImpact: Impact;
  readonly expandedPriceImpact: {
    readonly swap: { readonly usd: string };
    readonly execution: { readonly usd: string };
    readonly service: { readonly usd: string };
    readonly app: { readonly usd: string };
    readonly sponsored: { readonly usd: string };
  };
}

/** The amounts of a trade, in smallest units; fees in the input currency. */
export interface TradeAmounts {
  readonly input: bigint;
  readonly execution: bigint;
  readonly service: bigint;
  readonly app: bigint;
  readonly expected: bigint;
}

/**
 * Values the parts of a trade, each cut to what is written before it is used further: the total is the written value of the output less that of the input, and the swap part is what
 * the written fees do not explain, so the texts add up as they stand.
 */
export function tradeImpact(trade: TradeAmounts, origin: PricedUnit, destination: PricedUnit): TradeImpact {
  const written = (amount: bigint, unit: PricedUnit): bigint => toWrittenUsd(amountToUsdDown(amount, unit));
  const inputUsd = written(trade.input, origin);
  const totalUsd = written(trade.expected, destination) - inputUsd;
  const executionUsd = -written(trade.execution, origin);
  const serviceUsd = -written(trade.service, origin);
  const appUsd = -written(trade.app, origin);
  const swapUsd = totalUsd - executionUsd - serviceUsd - appUsd;
  return {
    totalImpact: { usd: formatUsd(totalUsd), percent: formatPercent(totalUsd, inputUsd) },
    swapImpact: { usd: formatUsd(swapUsd), percent: formatPercent(swapUsd, inputUsd) },
    expandedPriceImpact: {
      swap: { usd: formatUsd(swapUsd) },
      execution: { usd: formatUsd(executionUsd) },
      service: { usd: formatUsd(serviceUsd) },
      app: { usd: formatUsd(appUsd) },
      sponsored: { usd: formatUsd(0n) },
    },
  };
}

/** Whole units of output for one whole unit of input, up to 18 decimals, cut. */
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
