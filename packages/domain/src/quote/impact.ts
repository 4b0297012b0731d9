import { formatFixed, formatPercent, formatUsd, toWrittenUsd } from "../money/decimal-text.ts";
import { pow10 } from "../money/pow10.ts";
import { amountToUsdDown } from "../money/usd.ts";
import type { PricedUnit } from "../money/usd.ts";

/**
 * A change of value as the wire writes it: USD with six decimals and percent with two, both negative for a
 * loss.
 */
export interface Impact {
  readonly usd: string;
  readonly percent: string;
}

/** What became of the input's value, in USD and percent of the input. */
export interface TradeImpact {
  readonly totalImpact: Impact;
  /**
   * The part that is no fee: what swaps cost, converting at the price, and rounding. 0 when nothing is
   * swapped.
   */
  readonly swapImpact: Impact;
  readonly expandedPriceImpact: {
    readonly swap: { readonly usd: string };
    readonly execution: { readonly usd: string };
    readonly service: { readonly usd: string };
    /** Same as `service`, under the name that clients of this API family read. */
    readonly relay: { readonly usd: string };
    readonly app: { readonly usd: string };
    readonly sponsored: { readonly usd: string };
  };
}

/** The amounts of a trade, in smallest units; fees in the currency that is deposited. */
export interface TradeAmounts {
  readonly input: bigint;
  readonly execution: bigint;
  readonly service: bigint;
  readonly app: bigint;
  /**
   * What somebody else paid of the fees, and what the recipient's coin for gas was taken for; absent:
   * nothing.
   */
  readonly sponsored?: bigint | undefined;
  readonly topup?: bigint | undefined;
  /** Something is swapped, or converted at the price; absent: true. */
  readonly hasSwap?: boolean;
  readonly expected: bigint;
}

/**
 * Values the parts of a trade, each cut to what is written before it is used further: the total is the
 * written value of the output less that of the input, and the swap part is what the written fees do not
 * explain, so the texts add up as they stand. A side without a price (0) says nothing about a loss: then the
 * fees are all that is known.
 * @param deposited the currency that fees are taken in; the input's own without a swap before the deposit
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
  // Without a swap the rest is rounding, which clients must not take for the cost of one.
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
