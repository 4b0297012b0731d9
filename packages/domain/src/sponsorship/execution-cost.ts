import { amountToUsdUp } from "../money/usd.ts";
import type { PricedUnit } from "../money/usd.ts";

/** The native token of a chain, for gas and for what a call carries. */
export interface ExecutionPrices extends PricedUnit {
  /** USD per whole native token that a call carries, the fee for selling it included. Absent: `priceUsd`. */
  readonly salePriceUsd?: bigint | undefined;
}

/** What one transaction takes out of the executor, and what the service asks for sending it. */
export interface ExecutionSpending {
  /** Gas units: the limit before it is sent, what was used afterwards. */
  readonly gas: bigint;
  /** Wei per unit: the most that may be offered before it is sent, what was paid afterwards. */
  readonly weiPerGas: bigint;
  /**
   * What a rollup takes for the transaction's bytes, wei; charged like gas. Absent: none, or part of
   * `weiPerGas`.
   */
  readonly dataFeeWei?: bigint;
  /** Native token that the call carries, wei. */
  readonly valueWei: bigint;
  /** Flat fee of the service, USD with 18 decimals. */
  readonly flatUsd: bigint;
}

/** USD with 18 decimals, each part rounded up; the total is their sum. */
export interface ExecutionCost {
  readonly gasUsd: bigint;
  readonly valueUsd: bigint;
  readonly flatUsd: bigint;
  readonly totalUsd: bigint;
}

/**
 * What an execution costs its sponsor. The same for the most that it may cost and for what it did cost, so
 * that with less gas, a lower price and the same value, flat fee and USD price the second never exceeds the
 * first.
 */
export function executionCost(
  { gas, weiPerGas, dataFeeWei = 0n, valueWei, flatUsd }: ExecutionSpending,
  { decimals, priceUsd, salePriceUsd = priceUsd }: ExecutionPrices,
): ExecutionCost {
  const gasUsd = amountToUsdUp(gas * weiPerGas + dataFeeWei, { decimals, priceUsd });
  const valueUsd = amountToUsdUp(valueWei, { decimals, priceUsd: salePriceUsd });
  return { gasUsd, valueUsd, flatUsd, totalUsd: gasUsd + valueUsd + flatUsd };
}
