import type { Address, Hex } from "../ids/hex.ts";

/**
 * A function, by the first four bytes of its calls: on one contract, or on every one when `target` is absent.
 */
export interface SelectorRule {
  /** `0x` and 8 hex digits, lower case. */
  readonly selector: Hex;
  readonly target?: Address;
}

/**
 * What the owner of an API key allows to be paid from their app balance. All USD have 18 decimals. A bound
 * that is absent does not bind; a day is a UTC day.
 */
export interface SponsorshipRules {
  /** Most that all sponsored executions of the key may cost in a day. */
  readonly dailyUsd?: bigint;
  /** The same for each user (the account that the call is made for). */
  readonly perUserDailyUsd?: bigint;
  /**
   * The same for each target contract: one figure for every contract, or figures by contract (one that is not
   * among them is not bound).
   */
  readonly perTargetDailyUsd?: bigint | ReadonlyMap<Address, bigint>;
  /** Only these contracts may be called. */
  readonly allowTargets?: readonly Address[];
  /** These never, whatever else is allowed. */
  readonly denyTargets?: readonly Address[];
  /** Only these functions may be called. */
  readonly allowSelectors?: readonly SelectorRule[];
  /** These never, whatever else is allowed. */
  readonly denySelectors?: readonly SelectorRule[];
  /** Most native currency, in USD, that one call may carry from the sponsor. */
  readonly maxCallValueUsd: bigint;
  /** Most that fast fills may have at risk at once: the sum of the key's active holds. */
  readonly maxHoldsUsd?: bigint;
  /** Most that one fast fill may be worth. */
  readonly maxFastFillUsd?: bigint;
  /**
   * Requests are fast filled although no transaction of their user is known that could become the deposit;
   * absent: they are not.
   */
  readonly allowUnsubmitted?: boolean;
  /** Below this much available balance the owner is warned. */
  readonly lowBalanceWarningUsd?: bigint;
}

/**
 * The rules of a key for which none were set: nothing is bound but the value that a call carries, which is
 * none.
 */
export const defaultSponsorshipRules: SponsorshipRules = { maxCallValueUsd: 0n };
