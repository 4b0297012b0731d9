import { BPS } from "../money/bps.ts";
import { divUp } from "../money/mul-div.ts";

/** Live price of block space, wei. */
export interface GasPriceFacts {
  readonly baseFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/**
 * What `gasUnits` cost in wei at the live price, the priority fee at least `minPriorityFeeWei`, raised by
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
  return divUp(BigInt(gasUnits) * (price.baseFeePerGas + priority) * (BPS + BigInt(marginBps)), BPS);
}
