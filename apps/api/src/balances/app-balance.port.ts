import type { Currency } from "@causeway/domain";

/** The configuration of app balances. */
export interface AppBalancePolicy {
  /** The home chain: the only one on which balances are filled and paid out. */
  readonly chainId: number;
  /**
   * Accepted currencies, in the order in which charges take them; never empty. Debts of holds are kept in the
   * first.
   */
  readonly currencies: readonly Currency[];
  /** Confirmations (1 = its own block) before a top-up is credited. */
  readonly confirmations: number;
  /** USD with 18 decimals: transfers of lower value are not credited. */
  readonly minTopUpUsd: bigint;
  /** How long the offer of a claim can be signed, in seconds. */
  readonly claimLifetimeSeconds: number;
}
