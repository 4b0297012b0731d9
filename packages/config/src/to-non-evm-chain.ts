import {
  MAINNET_USDC_TOKEN_ID,
  NON_EVM_FAMILIES,
  type Currency,
  type Hex,
  type NonEvmChain,
  type NonEvmVmType,
} from "@causeway/domain";
import { encodeAddress, nativeCurrency } from "@causeway/families";
import { endpointUrls } from "./endpoint-quorum.ts";
import { parseExactDecimal } from "./exact-decimal.ts";
import type { NonEvmEntry } from "./non-evm-schema.ts";
import { Secret } from "./secret.ts";

const kinds = Object.fromEntries(
  Object.entries(NON_EVM_FAMILIES).map(([kind, family]) => [family, kind]),
) as Readonly<Record<NonEvmEntry["vmType"], NonEvmVmType>>;

/** Converts a valid entry of a non-EVM chain, without placeholders, to the domain's type. */
export function toNonEvmChain(entry: NonEvmEntry): NonEvmChain {
  const vmType = kinds[entry.vmType];
  const family = NON_EVM_FAMILIES[vmType];
  const bytes = (text: string): Hex => encodeAddress(family, text).toLowerCase() as Hex;
  const holder = (text: string): Hex | undefined => (text === "none" ? undefined : bytes(text));
  const currency = (address: Hex, one: NonEvmEntry["native"]): Currency => ({
    chainId: entry.chainId,
    address,
    id: one.id,
    symbol: one.symbol,
    name: one.name,
    decimals: one.decimals,
    class: one.class,
    priceId: one.priceId,
    supportsBridging: one.supportsBridging,
    supportsPermit: false,
    resetsApproval: false,
    logoUri: one.logoUri,
    verified: one.verified,
    maxFillAmount: one.maxFillAmount === undefined ? undefined : BigInt(one.maxFillAmount),
  });
  const rpcUrls = endpointUrls(entry.httpRpcUrl);
  const [rpcUrl = ""] = rpcUrls;
  return {
    id: entry.chainId,
    name: entry.id,
    displayName: entry.displayName,
    vmType,
    family,
    rpcUrl,
    ...(rpcUrls.length > 1 && { rpcUrls }),
    publicRpcUrl: entry.publicRpcUrl,
    publicWsRpcUrl: entry.publicWsRpcUrl,
    explorerUrl: entry.explorerUrl,
    explorerName: entry.explorerName,
    ...(entry.explorerPaths !== undefined && { explorerPaths: entry.explorerPaths }),
    iconUrl: entry.iconUrl,
    baseChainId: entry.baseChainId,
    tags: entry.tags,
    depositEnabled: entry.depositEnabled,
    disabled: entry.disabled,
    partialDisableLimit: BigInt(entry.partialDisableLimit),
    surgeEnabled: entry.surgeEnabled,
    native: currency(bytes(nativeCurrency(family)), entry.native),
    tokens: entry.tokens.map((one) => currency(bytes(one.address), one)),
    depository: bytes(entry.depository),
    ...(entry.depositAddressProgram !== undefined && {
      depositAddressProgram: bytes(entry.depositAddressProgram),
    }),
    ...(entry.depositoryRoles !== undefined && {
      depositoryRoles: {
        upgradeAuthority: holder(entry.depositoryRoles.upgradeAuthority),
        owner: holder(entry.depositoryRoles.owner),
        allocator: bytes(entry.depositoryRoles.allocator),
      },
    }),
    confirmations: entry.confirmations,
    confirmationTiers: [{ belowUsd: undefined, confirmations: 1 }],
    keepsUnattributed: true,
    blockTimeSeconds: entry.blockTimeSeconds,
    fees: {
      flatUsd: usd(entry.fees.flatUsd),
      depositBps: entry.fees.depositBps,
      withdrawalBps: entry.fees.withdrawalBps,
      gasMarginBps: entry.fees.gasMarginBps,
    },
    ...(entry.swapAggregator?.url !== undefined && {
      swapAggregator: {
        url: entry.swapAggregator.url.replace(/\/+$/, ""),
        apiKey:
          entry.swapAggregator.apiKey === undefined ? undefined : new Secret(entry.swapAggregator.apiKey),
        programs: entry.swapAggregator.programs,
      },
    }),
    ...(vmType === "bvm" && {
      bitcoin: {
        network: entry.additionalData.bitcoinNetwork,
        ...(entry.fees.maxSatPerVbyte !== undefined && { maxSatPerVbyte: entry.fees.maxSatPerVbyte }),
      },
      paysFromAnyAddress: true,
    }),
    ...(entry.exchange !== undefined && {
      needsNonceMappings: true,
      exchange: {
        profile: entry.additionalData.signingProfile,
        isTestnet: entry.additionalData.exchangeNetwork === "Testnet",
        usdcTokenId: (entry.additionalData.usdcTokenId ?? MAINNET_USDC_TOKEN_ID) as Hex,
        publicApiUrl: entry.exchange.publicApiUrl.replace(/\/+$/, ""),
      },
    }),
  };
}

/** The schema validates the format; the throw only guards against a change of the schema. */
function usd(text: string): bigint {
  const value = parseExactDecimal(text, 18);
  if (value === undefined)
    throw new TypeError("invariant violated: the schema accepted an invalid decimal number");
  return value;
}
