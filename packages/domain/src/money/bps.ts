import { divUp } from "./mul-div.ts";

/** One whole in basis points. */
export const BPS = 10_000n;

/** bps/10000 of the amount, rounded up. */
export function bpsOfUp(amount: bigint, bps: number): bigint {
  return divUp(amount * BigInt(bps), BPS);
}

/** bps/10000 of the amount, rounded down. */
export function bpsOfDown(amount: bigint, bps: number): bigint {
  return (amount * BigInt(bps)) / BPS;
}
