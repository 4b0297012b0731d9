import { amountToUsdUp } from "../money/usd.ts";
import type { PricedUnit } from "../money/usd.ts";

/** What one transaction takes out of the executor, and what the service asks for sending it. */
export interface ExecutionSpending {
  /** Gas units: the limit before it is sent, what was used afterwards. */
  readonly gas: bigint;
  /** Wei per unit: the most that may be offered before it is sent, what was paid afterwards. */
  readonly weiPerGas: bigint;
  /** Native coin that the call carries, wei. */
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
 * What an execution costs its sponsor. The same for the most that it may cost and for what it did cost, so that with less gas, a lower price and the same
 * value, flat fee and USD price the second never exceeds the first.
 */
export function executionCost(
  { gas, weiPerGas, valueWei, flatUsd }: ExecutionSpending,
  native: PricedUnit,
): ExecutionCost {
  const gasUsd = amountToUsdUp(gas * weiPerGas, native);
  const valueUsd = amountToUsdUp(valueWei, native);
  return { gasUsd, valueUsd, flatUsd, totalUsd: gasUsd + valueUsd + flatUsd };
}
