import { amountToUsdUp } from "../money/usd.ts";
import type { PricedUnit } from "../money/usd.ts";

/** The price of a chain's native token, for gas and for the value of a call. */
export interface ExecutionPrices extends PricedUnit {
  /** USD per whole native token sent as value, including the fee for selling it. Absent: `priceUsd`. */
  readonly salePriceUsd?: bigint | undefined;
}

/** The cost of one transaction to the executor, and the service's charge for sending it. */
export interface ExecutionSpending {
  /** Gas units: the limit before it is sent, the gas used afterwards. */
  readonly gas: bigint;
  /** Wei per unit: the maximum before it is sent, the price paid afterwards. */
  readonly weiPerGas: bigint;
  /**
   * A rollup's fee for the transaction's data, wei; charged like gas. Absent: none, or included in
   * `weiPerGas`.
   */
  readonly dataFeeWei?: bigint;
  /** Native tokens sent as the call's value, wei. */
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
 * What an execution costs its sponsor; used for the maximum and for the final cost. The final cost never
 * exceeds the maximum if gas and gas price do not, and value, flat fee and USD price are the same.
 */
export function executionCost(
  { gas, weiPerGas, dataFeeWei = 0n, valueWei, flatUsd }: ExecutionSpending,
  { decimals, priceUsd, salePriceUsd = priceUsd }: ExecutionPrices,
): ExecutionCost {
  const gasUsd = amountToUsdUp(gas * weiPerGas + dataFeeWei, { decimals, priceUsd });
  const valueUsd = amountToUsdUp(valueWei, { decimals, priceUsd: salePriceUsd });
  return { gasUsd, valueUsd, flatUsd, totalUsd: gasUsd + valueUsd + flatUsd };
}
