import type { Currency } from "@causeway/domain";
import { NATIVE_CURRENCY } from "@causeway/domain";
import type { ChainDirectory } from "../../chains/chains.port.ts";
import type { TokenBook } from "./token-book.port.ts";
import type { TokenCatalog } from "./token-catalog.port.ts";
import type { TokenLists } from "./token-lists.adapter.ts";

export interface TokenBookOptions {
  readonly chains: ChainDirectory;
  readonly lists: Pick<TokenLists, "get" | "tokensOf">;
  /** Finds tokens that are neither configured nor listed. */
  readonly unlisted: TokenBook;
}

/**
 * The tokens of all sources. The operator's configuration takes precedence over lists, and lists over what a
 * token reports about itself.
 */
export function createTokenBook({ chains, lists, unlisted }: TokenBookOptions): TokenBook & TokenCatalog {
  /** The result of `named` per chain, with the listed tokens that it was made of. */
  const cache = new Map<
    number,
    { readonly listed: readonly Currency[]; readonly all: readonly Currency[] }
  >();
  return {
    token: (chainId, address, isSearch) =>
      chains.currency(chainId, address) ??
      lists.get(chainId, address) ??
      // The chain is not configured: its native token is unknown.
      (address === NATIVE_CURRENCY ? undefined : unlisted.token(chainId, address, isSearch)),
    listTokens(chainId) {
      const chain = chains.profile(chainId);
      if (chain === undefined) return [];
      const listed = lists.tokensOf(chainId);
      const cached = cache.get(chainId);
      if (cached?.listed === listed) return cached.all;
      const configured = [chain.native, ...chain.tokens];
      const unconfigured = listed.filter(({ address }) => chains.currency(chainId, address) === undefined);
      const all = [...configured, ...unconfigured];
      cache.set(chainId, { listed, all });
      return all;
    },
  };
}
