import type { Address, Currency } from "@causeway/domain";
import { readDocument, type DocumentBounds } from "./read-document.adapter.ts";
import { readTokenList } from "./token-list.adapter.ts";

export interface TokenListOptions {
  /** File paths and URLs; earlier lists take precedence. */
  readonly sources: readonly string[];
  /** Tokens of other chains are dropped. */
  readonly chainIds: ReadonlySet<number>;
  /** Interval of refreshes, ms. */
  readonly refreshMs: number;
  readonly bounds: DocumentBounds;
  /** Receives lists that could not be read, and lists with invalid entries (`refused` is their number). */
  readonly onFault: (error: unknown, facts: { readonly list: string; readonly refused?: number }) => void;
}

/** Token lists cached in memory. */
export interface TokenLists {
  get(chainId: number, address: Address): Currency | undefined;
  /** Tokens of a chain. Returns the same array until a list changes. */
  tokensOf(chainId: number): readonly Currency[];
  /**
   * Reads all lists now, or joins the running read. Keeps the previous state of a list that cannot be read;
   * never throws.
   */
  refresh(): Promise<void>;
  /** Aborts the running read and later ones. */
  close(): void;
}

/** Reads nothing before the first {@link TokenLists.refresh}, and then refreshes every `refreshMs`. */
export function createTokenLists(options: TokenListOptions): TokenLists {
  const { sources, chainIds, refreshMs, bounds, onFault } = options;
  const closing = new AbortController();
  /** The last successfully read state of each source. */
  const lists = new Map<string, readonly Currency[]>();
  let byChain: ReadonlyMap<number, ReadonlyMap<Address, Currency>> = new Map();
  let arrays: ReadonlyMap<number, readonly Currency[]> = new Map();
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function read(list: string): Promise<void> {
    try {
      const { tokens, refused } = readTokenList(await readDocument(list, bounds, closing.signal), chainIds);
      lists.set(list, tokens);
      if (refused > 0)
        onFault(new Error("some entries of a token list are not valid tokens and were skipped"), {
          list,
          refused,
        });
    } catch (error) {
      if (!closing.signal.aborted) onFault(error, { list });
    }
  }

  async function readAll(): Promise<void> {
    await Promise.all(sources.map(read));
    const merged = new Map<number, Map<Address, Currency>>();
    for (const token of sources.flatMap((source) => lists.get(source) ?? [])) {
      const ofChain = merged.get(token.chainId) ?? new Map<Address, Currency>();
      merged.set(token.chainId, ofChain);
      if (!ofChain.has(token.address)) ofChain.set(token.address, token);
    }
    byChain = merged;
    arrays = new Map([...merged].map(([chainId, tokens]) => [chainId, [...tokens.values()]]));
  }

  function refresh(): Promise<void> {
    running ??= readAll().finally(() => {
      running = undefined;
      if (closing.signal.aborted || sources.length === 0) return;
      clearTimeout(timer);
      timer = setTimeout(() => void refresh(), refreshMs).unref();
    });
    return running;
  }

  return {
    get: (chainId, address) => byChain.get(chainId)?.get(address),
    tokensOf: (chainId) => arrays.get(chainId) ?? NONE,
    refresh,
    close: () => {
      clearTimeout(timer);
      closing.abort();
    },
  };
}

const NONE: readonly Currency[] = [];
