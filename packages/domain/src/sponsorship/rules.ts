import type { Address, Hex } from "../ids/hex.ts";

/** A function, by its selector: on one contract, or on every one if `target` is absent. */
export interface SelectorRule {
  /** `0x` and 8 hex digits, lower case. */
  readonly selector: Hex;
  readonly target?: Address;
}

/**
 * What the owner of an API key allows to be paid from their app balance. All USD have 18 decimals. An absent
 * limit does not apply; a day is a UTC day.
 */
export interface SponsorshipRules {
  /** Maximum cost per day of all sponsored executions of the key. */
  readonly dailyUsd?: bigint;
  /** Maximum cost per day and user (the account for which the call is made). */
  readonly perUserDailyUsd?: bigint;
  /**
   * Maximum cost per day and target contract: one limit for every contract, or limits by contract (contracts
   * not listed are not limited).
   */
  readonly perTargetDailyUsd?: bigint | ReadonlyMap<Address, bigint>;
  /** Only these contracts may be called. */
  readonly allowTargets?: readonly Address[];
  /** Never these, even if allowed above. */
  readonly denyTargets?: readonly Address[];
  /** Only these functions may be called. */
  readonly allowSelectors?: readonly SelectorRule[];
  /** Never these, even if allowed above. */
  readonly denySelectors?: readonly SelectorRule[];
  /** Maximum value of native tokens, in USD, that one call may send from the sponsor. */
  readonly maxCallValueUsd: bigint;
  /** Maximum sum of the key's active holds: the value of fast fills at risk at the same time. */
  readonly maxHoldsUsd?: bigint;
  /** Maximum value of one fast fill. */
  readonly maxFastFillUsd?: bigint;
  /**
   * Fast fills are allowed even if no transaction is known that could become the user's deposit. Absent:
   * false.
   */
  readonly allowUnsubmitted?: boolean;
  /** The owner is warned when the available balance falls below this. */
  readonly lowBalanceWarningUsd?: bigint;
}

/** The rules of a key whose owner set none: the only limit is that calls may send no native tokens. */
export const defaultSponsorshipRules: SponsorshipRules = { maxCallValueUsd: 0n };
