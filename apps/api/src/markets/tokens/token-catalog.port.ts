import type { Currency } from "@causeway/domain";

/** The tokens that can be searched by name: configured and listed tokens. */
export interface TokenCatalog {
  /**
   * Tokens of one chain: the configured currencies, native token first, then the tokens of the token lists in
   * their order. Empty for an unknown chain. Returns the same array until a list changes.
   */
  listTokens(chainId: number): readonly Currency[];
}
