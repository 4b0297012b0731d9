import { BPS, bpsOfUp } from "../money/bps.ts";
import { convertUp } from "../money/usd.ts";
import type { PricedUnit } from "../money/usd.ts";

/** Native token that the recipient gets in addition to the output, in the same transaction. */
export interface GasTopup {
  /** Wei of the destination chain. */
  readonly amount: bigint;
  /**
   * What the quote charged for the top-up, including its fee, in base units of the deposit. Absent in terms
   * stored before this field existed.
   */
  readonly charged?: bigint;
}

/** The prices that a top-up is charged at. */
export interface TopupFacts {
  readonly destinationNative: PricedUnit;
  readonly origin: PricedUnit;
  /** Service fee and spread between the deposited currency and the native token. Absent: no fee. */
  readonly topupBps?: number;
}

/** The top-up of a client that sets no amount, USD with 6 decimals. */
export const DEFAULT_TOPUP_USD = 2_000_000n;

/** What a top-up is worth in the currency of the deposit, rounded up. */
export function topupCost(topupWei: bigint, { destinationNative, origin }: TopupFacts): bigint {
  return convertUp(topupWei, destinationNative, origin);
}

/** The fee for selling the native token, in the currency of the deposit, rounded up. */
export function topupFee(topupWei: bigint, facts: TopupFacts): bigint {
  return bpsOfUp(topupCost(topupWei, facts), facts.topupBps ?? 0);
}

/** Whether the top-up would now be charged more than `honorBps` above what the quote charged. */
export function isTopupBeyondHonor(
  { amount, charged = 0n }: GasTopup,
  facts: TopupFacts,
  honorBps: number,
): boolean {
  const now = topupCost(amount, facts) + topupFee(amount, facts);
  return now * BPS > charged * (BPS + BigInt(honorBps));
}
