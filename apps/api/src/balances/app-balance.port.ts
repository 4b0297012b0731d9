import type { Currency } from "@causeway/domain";

/** The configuration of app balances. */
export interface AppBalancePolicy {
  /** The home chain: the only chain on which balances are topped up and paid out. */
  readonly chainId: number;
  /**
   * Accepted currencies, in the order in which they are charged; never empty. Debts in USD are recorded in
   * the first currency.
   */
  readonly currencies: readonly Currency[];
  /** Confirmations (1 = its own block) before a top-up is credited. */
  readonly confirmations: number;
  /** USD with 18 decimals. Transfers of lower value are not credited. */
  readonly minTopUpUsd: bigint;
  /** How long the wallet may sign an offered claim, in seconds. */
  readonly claimLifetimeSeconds: number;
}
