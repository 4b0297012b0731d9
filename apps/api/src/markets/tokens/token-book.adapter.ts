import type { Currency } from "@causeway/domain";
import { NATIVE_CURRENCY } from "@causeway/domain";
import type { ChainDirectory } from "../../chains/chains.port.ts";
import type { TokenBook } from "./token-book.port.ts";
import type { TokenCatalog } from "./token-catalog.port.ts";
import type { TokenLists } from "./token-lists.adapter.ts";

export interface TokenBookOptions {
  readonly chains: ChainDirectory;
  readonly lists: Pick<TokenLists, "get" | "of">;
  /** Finds tokens that are neither configured nor listed. */
  readonly unlisted: TokenBook;
}

/**
 * The tokens of all sources. The operator's configuration takes precedence over lists, and lists over what a
 * token reports about itself.
 */
export function createTokenBook({ chains, lists, unlisted }: TokenBookOptions): TokenBook & TokenCatalog {
  const named = new Map<number, { readonly of: readonly Currency[]; readonly all: readonly Currency[] }>();
  return {
    token: (chainId, address, isSearch) =>
      chains.currency(chainId, address) ??
      lists.get(chainId, address) ??
      // The chain is not configured: its native token is unknown.
      (address === NATIVE_CURRENCY ? undefined : unlisted.token(chainId, address, isSearch)),
    named(chainId) {
      const chain = chains.profile(chainId);
      if (chain === undefined) return [];
      const of = lists.of(chainId);
      const cached = named.get(chainId);
      if (cached?.of === of) return cached.all;
      const configured = [chain.native, ...chain.tokens];
      const listed = of.filter(({ address }) => chains.currency(chainId, address) === undefined);
      const all = [...configured, ...listed];
      named.set(chainId, { of, all });
      return all;
    },
  };
}
