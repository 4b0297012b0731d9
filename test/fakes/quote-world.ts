import type { AccountState, ChainConnection, ChainReader, GasPrices } from "@causeway/chains";
import type { Address, Chain, Currency, Hex32, RequestTerms } from "@causeway/domain";
import { defaultFeePolicy, NATIVE_CURRENCY } from "@causeway/domain";
import type { QuoteInput } from "@causeway/wire";
import type { ConnectedChain } from "../../apps/api/src/ports/chains.ts";
import type { QuoteServices } from "../../apps/api/src/usecases/create-quote.ts";
import { createChainDirectory } from "../../apps/api/src/adapters/chains/directory.ts";
import { measuredQuoteGas } from "../../apps/api/src/usecases/quote-gas.ts";

/** A world for tests and measurements of quotes: two chains with ETH, WETH, USDC and a rare token, everything in memory. */

const USD = 10n ** 18n;
export const user: Address = "0x1111111111111111111111111111111111111111";
export const solver: Address = "0x5555555555555555555555555555555555555555";
export const NOW_MS = 1_700_000_000_500;
export const ORIGIN = 72_001;
export const DESTINATION = 72_002;

const addressOf = (chainId: number, n: number): Address =>
  `0x${(chainId * 1_000 + n).toString(16).padStart(40, "0")}`;
export const usdcOn = (chainId: number): Address => addressOf(chainId, 1);
export const wethOn = (chainId: number): Address => addressOf(chainId, 2);
export const rareOn = (chainId: number): Address => addressOf(chainId, 3);
export const lockedOn = (chainId: number): Address => addressOf(chainId, 4);

function aCurrency(
  chainId: number,
  known: Pick<Currency, "address" | "id" | "decimals" | "class" | "priceId">,
): Currency {
  return {
    chainId,
    symbol: known.id.toUpperCase(),
    name: known.id,
    supportsBridging: known.id !== "locked",
    supportsPermit: false,
    resetsApproval: false,
    logoUri: undefined,
    verified: true,
    maxFillAmount: known.id === "rare" ? 10n ** 21n : undefined,
    ...known,
  };
}

export function aChain(chainId: number, change: Partial<Chain> = {}): Chain {
  const token = (address: Address, id: string, decimals: number, kind: Currency["class"], priceId: string) =>
    aCurrency(chainId, { address, id, decimals, class: kind, priceId });
  return {
    id: chainId,
    name: `chain-${chainId}`,
    displayName: `Chain ${chainId}`,
    vmType: "evm",
    rpcUrl: "http://127.0.0.1:1",
    wsRpcUrl: undefined,
    publicRpcUrl: "http://127.0.0.1:1",
    publicWsRpcUrl: undefined,
    explorerUrl: "",
    explorerName: "",
    iconUrl: "",
    baseChainId: undefined,
    tags: [],
    depositEnabled: true,
    disabled: false,
    partialDisableLimit: 0n,
    surgeEnabled: false,
    native: token(NATIVE_CURRENCY, "eth", 18, "major", "ethereum"),
    tokens: [
      token(usdcOn(chainId), "usdc", 6, "stable", "usd-coin"),
      token(wethOn(chainId), "weth", 18, "major", "ethereum"),
      token(rareOn(chainId), "rare", 18, "minor", "rare"),
      token(lockedOn(chainId), "locked", 18, "minor", "rare"),
    ],
    contracts: {
      depository: addressOf(chainId, 100),
      router: addressOf(chainId, 101),
      approvalProxy: addressOf(chainId, 102),
      serviceReceiver: addressOf(chainId, 103),
      multicall3: addressOf(chainId, 104),
    },
    confirmationTiers: [
      { belowUsd: 1_000n * USD, confirmations: 1 },
      { belowUsd: undefined, confirmations: 12 },
    ],
    maxUnconfirmedUsd: undefined,
    finalityBlocks: 64,
    blockTimeSeconds: 2,
    fees: {
      flatUsd: 2n * 10n ** 16n,
      depositBps: 0,
      withdrawalBps: 0,
      gasMarginBps: 1_000,
      minPriorityFeeWei: 0n,
      maxFeePerGasWei: 10n ** 12n,
      gasCountsData: false,
    },
    ...change,
  };
}

/** What a test may choose about the world. */
export interface World {
  readonly origin?: Partial<Chain>;
  readonly destination?: Partial<Chain>;
  readonly account?: Partial<AccountState>;
  /** What the solver holds of everything. */
  readonly inventory?: bigint;
  readonly nativeInventory?: bigint;
  readonly reserved?: bigint;
  readonly recipientHasCode?: boolean;
  readonly pricesUsd?: Readonly<Record<string, bigint>>;
  readonly gasPrices?: GasPrices;
  readonly readerFails?: boolean;
}

export const defaultGasPrices: GasPrices = {
  baseFeePerGas: 1_000_000_000n,
  maxPriorityFeePerGas: 100_000_000n,
  maxFeePerGas: 2_100_000_000n,
};

/** Quote services over plain memory; `stored` collects the promised terms. */
export function quoteWorld(world: World = {}): QuoteServices & { readonly stored: RequestTerms[] } {
  const stored: RequestTerms[] = [];
  const connected = [aChain(ORIGIN, world.origin), aChain(DESTINATION, world.destination)].map((chain) =>
    connect(chain, world),
  );
  const prices = new Map(
    Object.entries({ ethereum: 2_000n * USD, "usd-coin": USD, rare: 5n * USD, ...world.pricesUsd }),
  );
  let salt = 0n;
  return {
    stored,
    solver,
    clock: { nowMs: () => NOW_MS },
    random: { bytes32: (): Hex32 => `0x${(++salt).toString(16).padStart(64, "0")}` },
    chains: createChainDirectory(connected),
    prices: { usd: (currency) => prices.get(currency.priceId) ?? 0n },
    quotePolicy: {
      ...defaultFeePolicy,
      gas: measuredQuoteGas,
      maxTtlSeconds: 7 * 24 * 3600,
      solverChainName: "chain-72001",
    },
    requests: {
      insertQuoted: async (terms) => {
        stored.push(terms);
      },
    },
    recipientCodes: { hasCode: () => world.recipientHasCode ?? false },
    reservations: { reserved: () => world.reserved ?? 0n },
    signOrder: async (orderId): Promise<`0x${string}`> => `0x${orderId.slice(2)}51`,
    timings: { estimateSeconds: (_origin, _destination, confirmations) => 1 + 2 * confirmations },
  };
}

function connect(chain: Chain, world: World): ConnectedChain {
  const account: AccountState = { blockNumber: 1n, balance: 10n ** 20n, allowance: 0n, ...world.account };
  const reader: Pick<ChainReader, "accountState"> = {
    accountState: async () => {
      if (world.readerFails === true) throw new Error("connection refused");
      return account;
    },
  };
  const held = (currency: Address) =>
    currency === NATIVE_CURRENCY
      ? (world.nativeInventory ?? world.inventory ?? 10n ** 24n)
      : (world.inventory ?? 10n ** 24n);
  return {
    chain,
    // Only the account is read by a quote: anything else would be a chain call per quote.
    connection: { reader } as ChainConnection,
    pulse: {
      head: () => undefined,
      gasPrices: () => world.gasPrices ?? defaultGasPrices,
      solverBalance: (currency) => ({ amount: held(currency), blockNumber: 1n }),
      executorBalance: () => ({ amount: 0n, blockNumber: 0n }),
      lagging: () => false,
    },
  };
}

/** 100 USDC from one chain to ETH on the other. */
export function aQuoteInput(change: Partial<QuoteInput> = {}): QuoteInput {
  return {
    user,
    originChainId: ORIGIN,
    destinationChainId: DESTINATION,
    originCurrency: usdcOn(ORIGIN),
    destinationCurrency: NATIVE_CURRENCY,
    amount: "100000000",
    tradeType: "EXACT_INPUT",
    ...change,
  };
}
