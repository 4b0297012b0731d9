import type { Currency } from "@causeway/domain";

/** The tokens that can be searched by name: those that somebody has vouched for. */
export interface TokenCatalog {
  /**
   * Of one chain: the configured currencies, native coin first, then those of the token lists in their order.
   * Empty for a chain that this instance does not have. The same array until a list has changed.
   */
  named(chainId: number): readonly Currency[];
}
