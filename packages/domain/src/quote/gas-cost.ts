import { raisedByBps } from "../money/bps.ts";

/** Current gas price, wei. */
export interface GasPriceFacts {
  readonly baseFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/**
 * The cost of `gasUnits` in wei at the current price, with at least `minPriorityFeeWei`, raised by
 * `marginBps`, rounded up.
 */
export function gasCostWei(
  gasUnits: bigint | number,
  price: GasPriceFacts,
  minPriorityFeeWei: bigint,
  marginBps: number,
): bigint {
  const priority =
    price.maxPriorityFeePerGas > minPriorityFeeWei ? price.maxPriorityFeePerGas : minPriorityFeeWei;
  return raisedByBps(BigInt(gasUnits) * (price.baseFeePerGas + priority), marginBps);
}
