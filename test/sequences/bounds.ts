/** Bounds of the service's losses, each with its reason. USD have 18 decimals. */

export const ONE_CENT = 10n ** 16n;

/**
 * Gas of one payment that the service may bear itself: what a plain fill, refund or payout uses. More must be
 * charged.
 */
export const PAYMENT_GAS = 130_000n;

/** The same for a sweep of a deposit address, which may create the address's contract. */
export const SWEEP_GAS = 220_000n;

/**
 * How far a firm quote is honored after prices moved against it (`honorBps` of the fee policy), with the
 * rounding of two conversions.
 */
export const HONOR_BPS = 101n;

/**
 * How much older than its deposit a fill may be and still be settled; the hub's `fillLeadSeconds` by default.
 */
export const MAX_LEAD_SECONDS = 30 * 24 * 3600;

/**
 * `UNREPAID_REFUNDS_DAILY_USD` of the world limits refunds that settlement never repays within any 24 hours.
 */
export const UNREPAID_DAILY_USD = 25n * 10n ** 18n;

/**
 * `REVERTED_GAS_DAILY_USD` of the world: gas of fills that reverted in a block and that no deposit paid for,
 * within any 24 hours. One fill may exceed it.
 */
export const GAS_USED_DAILY_USD = 10n * 10n ** 18n;

/**
 * Money below this value, at a deposit address or deposited by mistake, may cost more to move than it is
 * worth, so the status need not mention it.
 */
export const DUST_USD = 2n * 10n ** 18n;
