import {
  hyperliquidSigningProfiles,
  type Address,
  type HyperliquidSigningProfile,
  type Hex,
  type Hex32,
} from "@causeway/domain";
import { createRestClient, jsonOf, type RestClient } from "../nodes/rest-client.ts";
import type { ObserveCall } from "../nodes/rpc-call.ts";
import {
  readClearinghouse,
  readLedger,
  readPosted,
  readSpotBalances,
  readSpotMeta,
  readTransactionAnswer,
  readTransferCheck,
  readUserDetails,
  type HyperliquidTransaction,
  type LedgerPage,
  type SpotToken,
  type HyperliquidFacts,
} from "@causeway/families/hyperliquid";

/**
 * One endpoint of Hyperliquid with its explorer. Validates every answer, but judges nothing.
 *
 * @throws RpcFault from every method
 */
export interface HyperliquidRpc {
  readonly profile: HyperliquidSigningProfile;
  /** A transaction; undefined if the explorer does not know it (yet). */
  transaction(hash: Hex32): Promise<HyperliquidTransaction | undefined>;
  /** Some of the newest transactions that an account signed. */
  transactionsOf(user: Address): Promise<readonly HyperliquidTransaction[]>;
  /** An account's ledger between two block times (ms, inclusive), as much of it as one answer contains. */
  ledger(user: Address, from: bigint, to: bigint): Promise<LedgerPage>;
  /** Hyperliquid's own clock, ms. */
  clock(user: Address): Promise<bigint>;
  /** The token with this id; undefined if Hyperliquid does not list it. Listed tokens are cached. */
  token(tokenId: Hex): Promise<SpotToken | undefined>;
  /** Decimal text: what an account can withdraw from a dex (empty: the first). */
  withdrawable(user: Address, dex: string): Promise<string>;
  spotBalances(
    user: Address,
  ): Promise<ReadonlyMap<number, { readonly total: string; readonly hold: string }>>;
  /** The fee that `source` currently pays for a transfer to `user`, in USDC as decimal text. */
  transferCheck(
    user: Address,
    source: Address,
  ): Promise<{ readonly fee: string; readonly isSanctioned: boolean }>;
  /** Posts a signed action. Undefined: executed. */
  post(body: unknown): Promise<{ readonly refusal: string } | undefined>;
  close(): Promise<void>;
}

export interface HyperliquidRpcOptions {
  readonly apiUrl: string;
  /** Default: the URL of the API. */
  readonly explorerUrl?: string | undefined;
  readonly profile: HyperliquidFacts["profile"];
  readonly onCall?: ObserveCall;
  /** Timeout of each request, ms. Default: 10,000. */
  readonly deadlineMs?: number | undefined;
  /** Maximum number of cached transactions; blocks are final, so answers never change. Default: 500. */
  readonly maxCachedTransactions?: number;
}

/** Connects at the first request. */
export function createHyperliquidRpc(options: HyperliquidRpcOptions): HyperliquidRpc {
  const { apiUrl, explorerUrl = apiUrl } = options;
  const profile = hyperliquidSigningProfiles[options.profile];
  const shared = {
    ...(options.onCall !== undefined && { onCall: options.onCall }),
    ...(options.deadlineMs !== undefined && { deadlineMs: options.deadlineMs }),
  };
  const api = createRestClient({ url: apiUrl, ...shared });
  const explorer = explorerUrl === apiUrl ? api : createRestClient({ url: explorerUrl, ...shared });
  const cachedTransactions = new Map<Hex32, HyperliquidTransaction>();
  const maxCached = options.maxCachedTransactions ?? 500;
  let tokens: ReadonlyMap<Hex, SpotToken> = new Map();

  const info = async (type: string, fields: Record<string, unknown>): Promise<unknown> =>
    await request(api, type, "/info", { type, ...fields });
  const explore = async (type: string, fields: Record<string, unknown>): Promise<unknown> =>
    await request(explorer, type, "/explorer", { type, ...fields });

  return {
    profile,
    transaction: async (hash) => {
      const cached = cachedTransactions.get(hash);
      if (cached !== undefined) return cached;
      const transaction = readTransactionAnswer(await explore("txDetails", { hash }), hash, profile);
      if (transaction === undefined) return undefined;
      const [oldest] = cachedTransactions.keys();
      if (cachedTransactions.size >= maxCached && oldest !== undefined) cachedTransactions.delete(oldest);
      cachedTransactions.set(hash, transaction);
      return transaction;
    },
    transactionsOf: async (user) => readUserDetails(await explore("userDetails", { user }), user, profile),
    ledger: async (user, from, to) => {
      const range = { startTime: Number(from), endTime: Number(to) };
      return readLedger(await info("userNonFundingLedgerUpdates", { user, ...range }), user, from, to);
    },
    clock: async (user) => readClearinghouse(await info("clearinghouseState", { user })).time,
    token: async (tokenId) => {
      if (!tokens.has(tokenId))
        tokens = new Map(readSpotMeta(await info("spotMeta", {})).map((token) => [token.tokenId, token]));
      return tokens.get(tokenId);
    },
    withdrawable: async (user, dex) =>
      readClearinghouse(await info("clearinghouseState", { user, ...(dex !== "" && { dex }) })).withdrawable,
    spotBalances: async (user) => readSpotBalances(await info("spotClearinghouseState", { user })),
    transferCheck: async (user, source) =>
      readTransferCheck(await info("preTransferCheck", { user, source })),
    post: async (body) => readPosted(await request(api, "exchange", "/exchange", body)),
    close: async () => {
      await api.close();
      if (explorer !== api) await explorer.close();
    },
  };
}

async function request(client: RestClient, name: string, path: string, body: unknown): Promise<unknown> {
  return jsonOf(name, await client.post(name, path, body));
}
