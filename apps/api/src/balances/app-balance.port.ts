import type { Currency } from "@causeway/domain";

/** Everything configured about app balances. */
export interface AppBalancePolicy {
  /** The home chain: the only one on which balances are filled and paid out. */
  readonly chainId: number;
  /**
   * What counts as balance, in the order in which charges take it; never empty. Debts of holds are kept in
   * the first.
   */
  readonly currencies: readonly Currency[];
  /** Blocks that a top-up needs (1 = its own block) before it is credited. */
  readonly confirmations: number;
  /** USD with 18 decimals: what arrives and is worth less credits nobody. */
  readonly minTopUpUsd: bigint;
  /** How long the offer of a claim can be signed, seconds. */
  readonly claimLifetimeSeconds: number;
}
