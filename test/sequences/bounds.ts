/** Limits of what the service may lose, each with its reason. USD amounts have 18 decimals. */

export const ONE_CENT = 10n ** 16n;

/**
 * The gas of one payment that the service may pay itself: what a plain fill, refund or payout uses. It must
 * charge users or apps for any additional gas.
 */
export const PAYMENT_GAS = 130_000n;

/** The gas of a sweep that the service may pay itself. A sweep may create the address's contract. */
export const SWEEP_GAS = 220_000n;

/**
 * How far prices may move against a firm quote that is still honored: `honorBps` of the fee policy, plus the
 * rounding of two conversions.
 */
export const HONOR_BPS = 101n;

/**
 * How much older than its deposit a fill may be and still be settled: the default of the hub's
 * `fillLeadSeconds`.
 */
export const MAX_LEAD_SECONDS = 30 * 24 * 3600;

/**
 * Refunds within any 24 hours that settlement never repays: `UNREPAID_REFUNDS_DAILY_USD` of this world.
 */
export const UNREPAID_DAILY_USD = 25n * 10n ** 18n;

/**
 * Gas within any 24 hours of fills that reverted in a block and that no deposit paid for:
 * `REVERTED_GAS_DAILY_USD` of this world. One fill may exceed it.
 */
export const GAS_USED_DAILY_USD = 10n * 10n ** 18n;

/**
 * Funds below this value may cost more to move than they are worth, at a deposit address or in a mistaken
 * deposit. The status need not mention them.
 */
export const DUST_USD = 2n * 10n ** 18n;
