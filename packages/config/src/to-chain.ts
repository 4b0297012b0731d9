import type { Address, Chain, ChainLiquidity, Currency } from "@causeway/domain";
import { NATIVE_CURRENCY, parseAddress } from "@causeway/domain";
import type { ChainEntry } from "./evm-schema.ts";
import { endpointUrls, defaultQuorum } from "./endpoint-quorum.ts";
import { parseExactDecimal } from "./exact-decimal.ts";

/** Converts a valid entry without placeholders to the domain's type. */
export function toChain(entry: ChainEntry): Chain {
  return {
    id: entry.chainId,
    name: entry.id,
    displayName: entry.displayName,
    vmType: "evm",
    ...endpointsOf(entry),
    wsRpcUrl: entry.wsRpcUrl,
    publicRpcUrl: entry.publicRpcUrl,
    publicWsRpcUrl: entry.publicWsRpcUrl,
    explorerUrl: entry.explorerUrl,
    explorerName: entry.explorerName,
    iconUrl: entry.iconUrl,
    baseChainId: entry.baseChainId,
    tags: entry.tags,
    depositEnabled: entry.depositEnabled,
    disabled: entry.disabled,
    partialDisableLimit: BigInt(entry.partialDisableLimit),
    surgeEnabled: entry.surgeEnabled,
    native: toCurrency(entry.chainId, {
      ...entry.native,
      address: NATIVE_CURRENCY,
      supportsPermit: false,
      resetsApproval: false,
    }),
    tokens: entry.tokens.map((token) => toCurrency(entry.chainId, token)),
    contracts: {
      depository: addressOf(entry.depository),
      router: addressOf(entry.contracts.router),
      approvalProxy: addressOf(entry.contracts.approvalProxy),
      serviceReceiver: addressOf(entry.contracts.serviceReceiver),
      multicall3: addressOf(entry.contracts.multicall3),
      ...optionalAddress("permit2", entry.contracts.permit2),
      ...optionalAddress("depositAddressFactory", entry.contracts.depositAddressFactory),
      ...(entry.contracts.formerContracts !== undefined && {
        formerContracts: entry.contracts.formerContracts.map(addressOf),
      }),
      ...(entry.additionalDepositories !== undefined && {
        formerDepositories: formerDepositories(entry.depository, entry.additionalDepositories),
      }),
    },
    confirmationTiers: entry.confirmationTiers.map((tier) => ({
      belowUsd: tier.belowUsd === undefined ? undefined : scaleDecimal(tier.belowUsd, 18),
      confirmations: tier.confirmations,
    })),
    maxUnconfirmedUsd:
      entry.maxUnconfirmedUsd === undefined ? undefined : scaleDecimal(entry.maxUnconfirmedUsd, 18),
    finalityBlocks: entry.finalityBlocks,
    blockTimeSeconds: entry.blockTimeSeconds,
    fees: {
      flatUsd: scaleDecimal(entry.fees.flatUsd, 18),
      depositBps: entry.fees.depositBps,
      withdrawalBps: entry.fees.withdrawalBps,
      gasMarginBps: entry.fees.gasMarginBps,
      minPriorityFeeWei: scaleDecimal(entry.fees.minPriorityFeeGwei, 9),
      maxFeePerGasWei: scaleDecimal(entry.fees.maxFeePerGasGwei, 9),
      gasCountsData: entry.fees.gasCountsData,
    },
    liquidity: entry.liquidity === undefined ? undefined : toLiquidity(entry.liquidity),
  };
}

function endpointsOf({
  httpRpcUrl,
  additionalData,
}: ChainEntry): Pick<Chain, "rpcUrl" | "rpcUrls" | "rpcQuorum"> {
  const rpcUrls = endpointUrls(httpRpcUrl);
  const [rpcUrl = ""] = rpcUrls;
  if (rpcUrls.length < 2) return { rpcUrl };
  return { rpcUrl, rpcUrls, rpcQuorum: additionalData?.rpcQuorum ?? defaultQuorum(rpcUrls.length) };
}

/** Without duplicates and the current depository: a deposit must not be read twice. */
function formerDepositories(current: string, additional: readonly string[]): readonly Address[] {
  const former = new Set(additional.map(addressOf));
  former.delete(addressOf(current));
  return [...former];
}

function toLiquidity(written: NonNullable<ChainEntry["liquidity"]>): ChainLiquidity {
  const { wrappedNative, connectors, sources } = written;
  return {
    wrappedNative: wrappedNative === undefined ? undefined : addressOf(wrappedNative),
    connectors: connectors.map(addressOf),
    sources: sources.map((source) =>
      source.kind === "uniswap-v2"
        ? {
            kind: source.kind,
            name: source.name,
            factory: addressOf(source.factory),
            ...optionalAddress("router", source.router),
            feeBps: source.feeBps,
          }
        : {
            ...source,
            factory: addressOf(source.factory),
            router: addressOf(source.router),
            quoter: addressOf(source.quoter),
          },
    ),
  };
}

/** Empty if the chain does not have the contract. */
function optionalAddress<Name extends string>(
  name: Name,
  text: string | undefined,
): { readonly [name in Name]?: Address } {
  return text === undefined ? {} : ({ [name]: addressOf(text) } as { readonly [name in Name]: Address });
}

function toCurrency(chainId: number, token: ChainEntry["tokens"][number]): Currency {
  return {
    chainId,
    address: addressOf(token.address),
    id: token.id,
    symbol: token.symbol,
    name: token.name,
    decimals: token.decimals,
    class: token.class,
    priceId: token.priceId,
    supportsBridging: token.supportsBridging,
    supportsPermit: token.supportsPermit,
    resetsApproval: token.resetsApproval,
    logoUri: token.logoUri,
    verified: token.verified,
    maxFillAmount: token.maxFillAmount === undefined ? undefined : BigInt(token.maxFillAmount),
  };
}

// The schema validates both formats; the throws only guard against a change of the schema.

function addressOf(text: string): Address {
  const address = parseAddress(text);
  if (address === undefined)
    throw new TypeError("invariant violated: the schema accepted an invalid address");
  return address;
}

function scaleDecimal(text: string, decimals: number): bigint {
  const value = parseExactDecimal(text, decimals);
  if (value === undefined)
    throw new TypeError("invariant violated: the schema accepted an invalid decimal number");
  return value;
}
