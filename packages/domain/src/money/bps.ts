import { divUp } from "./mul-div.ts";

/** One whole in basis points. */
export const BPS = 10_000n;

/** bps/10000 of the amount, rounded up. */
export function bpsOfUp(amount: bigint, bps: number): bigint {
  return divUp(amount * BigInt(bps), BPS);
}

/** The amount raised by bps/10000 of it, rounded up. */
export function raisedByBps(amount: bigint, bps: number): bigint {
  return divUp(amount * (BPS + BigInt(bps)), BPS);
}

/** bps/10000 of the amount, rounded down. */
export function bpsOfDown(amount: bigint, bps: number): bigint {
  return (amount * BigInt(bps)) / BPS;
}
