import type { AccountState, ChainConnection, ChainReader, GasPrices } from "@causeway/chains";
import type { Address, Chain, ChainLiquidity, Currency, Hex32, RequestTerms } from "@causeway/domain";
import { defaultFeePolicy, gasCostWei, NATIVE_CURRENCY, orderIdOf } from "@causeway/domain";
import { accountsOn } from "../../apps/api/src/chains/accounts-on.ts";
import type { QuoteInput } from "@causeway/wire";
import type { ConnectedChain, ConnectedNonEvmChain } from "../../apps/api/src/chains/chains.port.ts";
import type { QuoteServices } from "../../apps/api/src/quotes/create-quote.ts";
import { createChainDirectory } from "../../apps/api/src/chains/directory.adapter.ts";
import { measuredQuoteGas } from "../../apps/api/src/quotes/quote-gas.ts";
import { walletNonces } from "../../apps/api/src/deposits/non-evm/wallet-nonces.ts";
import { pairLiquidity } from "./pair-liquidity.ts";
import type { FakeLiquidity, FakePair } from "./pair-liquidity.ts";

/**
 * A world for tests and benchmarks of quotes: two chains with ETH, WETH, USDC and a rare token, all in
 * memory.
 */

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
/** A token that is not configured: it is only in a token list, and only one pool trades it, against WETH. */
export const foreignOn = (chainId: number): Address => addressOf(chainId, 5);
/** A token in a token list that no pool trades. */
export const lonelyOn = (chainId: number): Address => addressOf(chainId, 6);
/** A token that only its chain knows. One pool trades it against USDC. Anyone may have created both. */
export const strangeOn = (chainId: number): Address => addressOf(chainId, 7);

/** Names of the sources of {@link market}. */
export const PAIRS = "pairs";
export const SMALL_PAIRS = "small-pairs";

/**
 * Pools that price WETH at $2,000, the locked token at $5 and the foreign token at one cent, and the same
 * pools again with smaller reserves.
 */
export function market(): FakePair[] {
  return [ORIGIN, DESTINATION].flatMap((chainId) => {
    const pair = (source: string, a: Address, b: Address, inA: bigint, inB: bigint): FakePair => ({
      chainId,
      source,
      tokens: [a, b],
      reserves: [inA, inB],
    });
    const [usdc, weth] = [usdcOn(chainId), wethOn(chainId)];
    return [
      pair(PAIRS, usdc, weth, 20_000_000n * 10n ** 6n, 10_000n * 10n ** 18n),
      pair(PAIRS, lockedOn(chainId), usdc, 1_000_000n * 10n ** 18n, 5_000_000n * 10n ** 6n),
      pair(PAIRS, foreignOn(chainId), weth, 400_000_000n * 10n ** 9n, 2_000n * 10n ** 18n),
      pair(PAIRS, strangeOn(chainId), usdc, 10n ** 15n, 1_000_000n * 10n ** 6n),
      pair(SMALL_PAIRS, usdc, weth, 2_000_000n * 10n ** 6n, 1_000n * 10n ** 18n),
    ];
  });
}

function aCurrency(
  chainId: number,
  fields: Pick<Currency, "address" | "id" | "decimals" | "class" | "priceId">,
): Currency {
  return {
    chainId,
    symbol: fields.id.toUpperCase(),
    name: fields.id,
    supportsBridging: fields.id !== "locked",
    supportsPermit: false,
    resetsApproval: false,
    logoUri: undefined,
    verified: true,
    maxFillAmount: fields.id === "rare" ? 10n ** 21n : undefined,
    ...fields,
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

/** Options of the world. */
export interface QuoteWorldOptions {
  readonly origin?: Partial<Chain>;
  readonly destination?: Partial<Chain>;
  readonly account?: Partial<AccountState>;
  /** The solver's balance of every currency, in base units. */
  readonly inventory?: bigint;
  readonly nativeInventory?: bigint;
  readonly reserved?: bigint;
  readonly recipientHasCode?: boolean;
  readonly pricesUsd?: Readonly<Record<string, bigint>>;
  readonly gasPrices?: GasPrices;
  readonly readerFails?: boolean;
  /** Pools on both chains. Without pools, no quote swaps. */
  readonly pools?: readonly FakePair[];
  /** How the pools answer: for example over a network, or not at all. */
  readonly poolBehavior?: Parameters<typeof pairLiquidity>[1];
  /** Names of the sources that are external services. */
  readonly external?: readonly string[];
  /** Non-EVM chains in addition to the two EVM chains. */
  readonly nonEvmChains?: readonly ConnectedNonEvmChain[];
}

export const defaultGasPrices: GasPrices = {
  baseFeePerGas: 1_000_000_000n,
  maxPriorityFeePerGas: 100_000_000n,
  maxFeePerGas: 2_100_000_000n,
};

export interface QuoteWorld extends QuoteServices {
  /** The terms of all quotes so far. */
  readonly stored: RequestTerms[];
  readonly liquidity: FakeLiquidity;
  /** The spenders whose allowance was read, in order. */
  readonly spenders: Address[];
}

/** Quote services over plain memory. */
export function quoteWorld(world: QuoteWorldOptions = {}): QuoteWorld {
  const stored: RequestTerms[] = [];
  const spenders: Address[] = [];
  const chainIn = (chainId: number, change: Partial<Chain> | undefined): Chain =>
    aChain(chainId, {
      ...(world.pools !== undefined && { liquidity: liquidityOn(chainId, world) }),
      ...change,
    });
  const connected = [chainIn(ORIGIN, world.origin), chainIn(DESTINATION, world.destination)].map((chain) =>
    connect(chain, world, spenders),
  );
  const prices = new Map(
    Object.entries({
      ethereum: 2_000n * USD,
      "usd-coin": USD,
      rare: 5n * USD,
      solana: 100n * USD,
      bitcoin: 50_000n * USD,
      ...world.pricesUsd,
    }),
  );
  let salt = 0n;
  return {
    stored,
    spenders,
    liquidity: pairLiquidity(world.pools ?? [], world.poolBehavior),
    poolUsd: () => undefined,
    tokens: { token: foreignToken },
    solver,
    clock: { nowMs: () => NOW_MS },
    random: { bytes32: (): Hex32 => `0x${(++salt).toString(16).padStart(64, "0")}` },
    chains: createChainDirectory(connected, world.nonEvmChains),
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
    recipientCodes: {
      hasCode(chainId) {
        if (chainId !== ORIGIN && chainId !== DESTINATION)
          throw new RangeError(`chain ${chainId} is not an EVM chain`);
        return world.recipientHasCode ?? false;
      },
    },
    reservations: { reserved: () => world.reserved ?? 0n },
    signOrder: async (order) => ({ personal: `0x${orderIdOf(order).slice(2)}51`, typed: "0x" }),
    walletNonces: walletNonces(),
    timings: { estimateSeconds: (_origin, _destination, confirmations) => 1 + 2 * confirmations },
  };
}

function liquidityOn(chainId: number, { pools = [], external = [] }: QuoteWorldOptions): ChainLiquidity {
  const names = new Set(pools.filter((pair) => pair.chainId === chainId).map(({ source }) => source));
  return {
    wrappedNative: wethOn(chainId),
    connectors: [wethOn(chainId), usdcOn(chainId)],
    sources: [...names]
      .filter((name) => !external.includes(name))
      .map((name) => ({ kind: "uniswap-v2", name, factory: solver, feeBps: 30 })),
  };
}

function foreignToken(chainId: number, address: Address): Currency | undefined {
  if (![foreignOn(chainId), lonelyOn(chainId), strangeOn(chainId)].includes(address)) return undefined;
  const currencyId = `${chainId}:${address}`;
  return {
    ...aCurrency(chainId, { address, id: currencyId, decimals: 9, class: "minor", priceId: currencyId }),
    symbol: "FOR",
    supportsBridging: false,
    verified: address !== strangeOn(chainId),
    maxFillAmount: undefined,
  };
}

function connect(chain: Chain, world: QuoteWorldOptions, spenders: Address[]): ConnectedChain {
  const account: AccountState = { blockNumber: 1n, balance: 10n ** 20n, allowance: 0n, ...world.account };
  const reader: Pick<ChainReader, "accountState"> = {
    accountState: async (_account, _currency, spender) => {
      spenders.push(spender);
      if (world.readerFails === true) throw new Error("connection refused");
      return account;
    },
  };
  const solverBalanceOf = (currency: Address) =>
    currency === NATIVE_CURRENCY
      ? (world.nativeInventory ?? world.inventory ?? 10n ** 24n)
      : (world.inventory ?? 10n ** 24n);
  return {
    chain,
    // A quote reads only the user's account. Any other read would be an additional call per quote.
    connection: { reader } as ChainConnection,
    pulse: {
      head: () => undefined,
      gasPrices: () => world.gasPrices ?? defaultGasPrices,
      paymentCost: (_currency, gas) =>
        gasCostWei(gas, world.gasPrices ?? defaultGasPrices, chain.fees.minPriorityFeeWei, 0),
      solverBalance: (currency) => ({ amount: solverBalanceOf(currency), blockNumber: 1n }),
      gasBalance: () => ({ amount: 0n, blockNumber: 0n }),
      isLagging: () => false,
      headAgeMs: () => 0,
    },
    users: accountsOn(chain, { reader: reader as ChainReader }),
  };
}

/** A request for a quote: 100 USDC from one chain to ETH on the other. */
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
