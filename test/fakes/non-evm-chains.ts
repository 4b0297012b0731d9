import type { PayingConnection } from "@causeway/chains";
import {
  NON_EVM_FAMILIES,
  type Currency,
  type Hex,
  type NonEvmChain,
  type NonEvmVmType,
} from "@causeway/domain";
import { encodeAddress } from "@causeway/families";
import type { TransferChain } from "../../apps/api/src/chains/chains.port.ts";
import { withCapabilities } from "../../apps/api/src/chains/chain-capabilities.ts";
import type { NonEvmUsers } from "@causeway/chains";

/** Addresses and ids in the format of the real chains, because tests compare whole texts. */
export const solana = {
  native: "11111111111111111111111111111111",
  usdc: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
  depository: "99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2",
  solver: "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM",
  user: "7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV",
};
export const bitcoin = {
  native: "bc1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqmql8k8",
  depository: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
  solver: "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
  user: "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",
};
export const hyperliquid = {
  perps: `0x${"0".repeat(32)}`,
  spot: "0x6d1e7cde53ba9467b783cb7c530ce054",
  depository: `0x${"de".repeat(20)}`,
  solver: `0x${"50".repeat(20)}`,
};

const IDS: Readonly<Record<NonEvmVmType, number>> = { svm: 792703809, bvm: 8253038, hypevm: 1337 };
const NAMES: Readonly<Record<NonEvmVmType, string>> = { svm: "solana", bvm: "bitcoin", hypevm: "exchange" };

/** The bytes of an address or id of one of these chains. */
export function bytesOn(vmType: NonEvmVmType, text: string): Hex {
  return encodeAddress(NON_EVM_FAMILIES[vmType], text);
}

function currency(
  vmType: NonEvmVmType,
  text: string,
  [id, symbol, decimals]: readonly [string, string, number],
  priceId: string,
): Currency {
  return {
    chainId: IDS[vmType],
    address: bytesOn(vmType, text),
    id,
    symbol,
    name: symbol,
    decimals,
    class: id === "usdc" ? "stable" : "major",
    priceId,
    supportsBridging: true,
    supportsPermit: false,
    resetsApproval: false,
    logoUri: undefined,
    verified: true,
    maxFillAmount: undefined,
  };
}

/**
 * A non-EVM chain with its usual currencies: SOL and USDC on Solana, BTC on Bitcoin, perps and spot USDC on
 * Hyperliquid.
 */
export function aNonEvmChain(vmType: NonEvmVmType, overrides: Partial<NonEvmChain> = {}): NonEvmChain {
  const natives = {
    svm: currency("svm", solana.native, ["sol", "SOL", 9], "solana"),
    bvm: currency("bvm", bitcoin.native, ["btc", "BTC", 8], "bitcoin"),
    hypevm: currency("hypevm", hyperliquid.perps, ["usdc", "USDC", 8], "usd-coin"),
  };
  const tokens = {
    svm: [currency("svm", solana.usdc, ["usdc", "USDC", 6], "usd-coin")],
    bvm: [],
    hypevm: [currency("hypevm", hyperliquid.spot, ["usdc-spot", "USDC", 8], "usd-coin")],
  };
  const texts = { svm: solana, bvm: bitcoin, hypevm: hyperliquid }[vmType];
  return {
    id: IDS[vmType],
    name: NAMES[vmType],
    displayName: { svm: "Solana", bvm: "Bitcoin", hypevm: "Exchange" }[vmType],
    vmType,
    family: NON_EVM_FAMILIES[vmType],
    rpcUrl: "http://127.0.0.1:1",
    publicRpcUrl: "http://127.0.0.1:1",
    publicWsRpcUrl: undefined,
    explorerUrl: "https://explorer.example",
    explorerName: "Explorer",
    iconUrl: "",
    baseChainId: undefined,
    tags: [],
    depositEnabled: true,
    disabled: false,
    partialDisableLimit: 0n,
    surgeEnabled: false,
    native: natives[vmType],
    tokens: tokens[vmType],
    depository: bytesOn(vmType, texts.depository),
    confirmations: 6,
    confirmationTiers: [{ belowUsd: undefined, confirmations: 1 }],
    keepsUnattributed: true,
    ...(vmType === "bvm" && { paysFromAnyAddress: true }),
    blockTimeSeconds: { svm: 0.4, bvm: 600, hypevm: 1 }[vmType],
    fees: { flatUsd: 10n ** 16n, depositBps: 0, withdrawalBps: 0, gasMarginBps: 0 },
    ...(vmType === "hypevm" && {
      needsNonceMappings: true,
      exchange: {
        profile: "default",
        isTestnet: false,
        usdcTokenId: hyperliquid.spot as Hex,
        publicApiUrl: "https://api.exchange.example",
      },
    }),
    ...overrides,
  };
}

export interface NonEvmScenario {
  readonly chain?: Partial<NonEvmChain>;
  /** The solver's balance of each currency, in base units. Default: 100,000 whole units. */
  readonly balance?: bigint;
  /** The fee of a payment, in base units of the native currency. */
  readonly paymentCost?: bigint;
  readonly connection?: Partial<PayingConnection>;
  readonly users?: NonEvmUsers;
  readonly lagging?: boolean;
}

/** A non-EVM chain and its current state. Its adapter does nothing except what `scenario` defines. */
export function aConnectedNonEvmChain(vmType: NonEvmVmType, scenario: NonEvmScenario = {}): TransferChain {
  const chain = aNonEvmChain(vmType, scenario.chain);
  const texts = { svm: solana, bvm: bitcoin, hypevm: hyperliquid }[vmType];
  const currencies = [chain.native, ...chain.tokens];
  const balanceOf = (address: Hex): bigint => {
    const found = currencies.find((candidate) => candidate.address === address);
    if (found === undefined) throw new RangeError(`${address} is not a currency of ${chain.name}`);
    return scenario.balance ?? 100_000n * 10n ** BigInt(found.decimals);
  };
  const unused = (): never => {
    throw new Error("unexpected call of this connection");
  };
  const costs = { svm: 10_000n, bvm: 2_000n, hypevm: 0n };
  return withCapabilities({
    chain,
    connection: {
      vm: chain.family,
      solver: bytesOn(vmType, texts.solver),
      canReplace: vmType === "bvm",
      canCancel: vmType !== "svm",
      ...(vmType === "hypevm" && { costDependsOnRecipient: true }),
      arrivals: unused,
      arrivalsOf: unused,
      balances: unused,
      paymentCost: async () => scenario.paymentCost ?? costs[vmType],
      refusalOf: async () => undefined,
      isPayment: unused,
      prepare: unused,
      send: unused,
      outcome: unused,
      onNews: () => () => undefined,
      close: async () => undefined,
      ...scenario.connection,
    },
    pulse: {
      solverBalance: (currency) => ({ amount: balanceOf(currency) }),
      paymentCost: () => scenario.paymentCost ?? costs[vmType],
      isLagging: () => scenario.lagging ?? false,
      headAgeMs: () => 0,
    },
    ...(scenario.users !== undefined && { users: scenario.users }),
  });
}
