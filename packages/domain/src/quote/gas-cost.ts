import { BPS } from "../money/bps.ts";
import { divUp } from "../money/mul-div.ts";

/** Live price of block space, wei. */
export interface GasPriceFacts {
  readonly baseFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** What `gasUnits` cost in wei at the live price, raised by `marginBps`, rounded up. */
export function gasCostWei(gasUnits: bigint, price: GasPriceFacts, marginBps: number): bigint {
  return divUp(
    gasUnits * (price.baseFeePerGas + price.maxPriorityFeePerGas) * (BPS + BigInt(marginBps)),
    BPS,
  );
}
