import { MAX_DECIMALS, readTokenMetadata, type TokenMetadata } from "@causeway/chains";
import { hasSwaps, ServiceError, type Address, type Currency } from "@causeway/domain";
import { formatAddress } from "@causeway/families";
import type { ChainDirectory, AnyConnectedChain } from "../../chains/chains.port.ts";
import { connectedChainOf, perKind } from "../../http/connected-chain.ts";
import type { Clock } from "../../db/clock.port.ts";
import type { TokenBook } from "./token-book.port.ts";
import { lookUpTurns } from "./look-up-turns.adapter.ts";
import { foreignToken } from "./foreign-token.adapter.ts";

/** How long it is cached that an address has no token: a token may be deployed there later. */
const ABSENCE_CACHED_MS = 30_000;
const MAX_CACHED = 20_000;
/** Maximum concurrent look-ups per chain. Low, because look-ups run arbitrary code on the chain's node. */
const MAX_CONCURRENT_LOOKUPS = 4;

type Entry =
  | { readonly kind: "known"; readonly token: Currency }
  | { readonly kind: "absent"; readonly readAtMs: number }
  | {
      readonly kind: "asking";
      readonly answer: Promise<Currency | undefined>;
      readonly prioritize: () => void;
    };

type PendingLookUp = Extract<Entry, { kind: "asking" }>;

export interface UnlistedTokensOptions {
  readonly chains: Pick<ChainDirectory, "get" | "nonEvm">;
  readonly monotonic: Clock;
  /** Maximum number of cached answers; the least recently used are evicted. Default 20,000. */
  readonly maxKept?: number;
}

/** Tokens as reported by the chains themselves. Concurrent questions about one token share one look-up. */
export function createUnlistedTokens({
  chains,
  monotonic,
  maxKept = MAX_CACHED,
}: UnlistedTokensOptions): TokenBook {
  const entries = new Map<string, Entry>();
  const turns = new Map<number, ReturnType<typeof lookUpTurns>>();

  function cache(key: string, entry: Entry): void {
    entries.delete(key);
    entries.set(key, entry);
    // A map keeps insertion order: the first key is the least recently used.
    const oldest = entries.size > maxKept ? entries.keys().next().value : undefined;
    if (oldest !== undefined) entries.delete(oldest);
  }

  function startLookUp(
    key: string,
    { chain }: AnyConnectedChain,
    read: ReadToken,
    address: Address,
    isSearch: boolean,
  ): PendingLookUp {
    const turn = turns.get(chain.id) ?? lookUpTurns(MAX_CONCURRENT_LOOKUPS, () => monotonic.nowMs());
    turns.set(chain.id, turn);
    const { answer, prioritize } = turn(async () => await read(address), isSearch);
    return { kind: "asking", answer: lookUp(key, chain, address, answer), prioritize };
  }

  async function lookUp(
    key: string,
    chain: AnyConnectedChain["chain"],
    address: Address,
    answer: ReturnType<ReadToken>,
  ): Promise<Currency | undefined> {
    try {
      const metadata = await answer;
      if (metadata === undefined) {
        cache(key, { kind: "absent", readAtMs: monotonic.nowMs() });
        return undefined;
      }
      const token = foreignToken({
        chainId: chain.id,
        address,
        ...metadata,
        logoUri: undefined,
        verified: false,
      });
      cache(key, { kind: "known", token });
      return token;
    } catch (cause) {
      // A failure is not cached: the next caller asks the chain again.
      entries.delete(key);
      if (cause instanceof ServiceError) throw cause;
      throw new ServiceError(
        "RPC_HTTP_ERROR",
        `The node of ${chain.displayName} did not return the token; try again`,
        {
          data: { chainId: chain.id, address },
          cause,
        },
      );
    }
  }

  return {
    token(chainId, address, isSearch = false) {
      const connected = connectedChainOf(chains, chainId);
      const read = connected && readerOf(connected);
      if (connected === undefined || read === undefined) return undefined;
      const key = `${chainId}:${address}`;
      const entry = entries.get(key);
      if (entry?.kind === "known") {
        cache(key, entry);
        return entry.token;
      }
      if (entry?.kind === "asking") {
        if (!isSearch) entry.prioritize();
        return entry.answer;
      }
      if (entry !== undefined && monotonic.nowMs() - entry.readAtMs < ABSENCE_CACHED_MS) return undefined;
      const asking = startLookUp(key, connected, read, address, isSearch);
      cache(key, asking);
      return asking.answer;
    },
  };
}

/** Reads the metadata of a token from its chain; undefined if the address has no token. */
type ReadToken = (token: Address) => Promise<TokenMetadata | undefined>;

/** How to read tokens of a chain. Undefined: only configured tokens can be used on the chain. */
function readerOf(connected: AnyConnectedChain): ReadToken | undefined {
  return perKind<ReadToken | undefined>(connected, {
    evm:
      ({ chain, connection }) =>
      async (token) =>
        await readTokenMetadata(connection.reader, chain.contracts.multicall3, token),
    nonEvm: ({ chain, users }) =>
      users?.mint === undefined || !hasSwaps(chain)
        ? undefined
        : async (token) => {
            const mint = await users.mint?.(token);
            if (mint === undefined || mint.decimals > MAX_DECIMALS) return undefined;
            const name = formatAddress(chain, token);
            return { decimals: mint.decimals, name, symbol: `${name.slice(0, 4)}...${name.slice(-4)}` };
          },
  });
}
