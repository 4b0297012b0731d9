import { MAINNET_USDC_TOKEN_ID, parseAddress, type Hex } from "@causeway/domain";
import type { FamilyEntry } from "../chain-entry.ts";
import { hyperliquidCodec } from "./address-codec.ts";
import type { HyperliquidFacts } from "./facts.ts";

export const hyperliquid: FamilyEntry<"hyperliquid", HyperliquidFacts> = {
  id: "hyperliquid",
  codec: hyperliquidCodec,
  files: {
    answers: async () => await import("./answers.ts"),
    deposits: async () => await import("./deposits.ts"),
    payments: async () => await import("./payments.ts"),
    withdrawals: async () => await import("./withdrawals.ts"),
    finality: async () => await import("./finality.ts"),
    family: async () => await import("./family.ts"),
  },
  facts: ({ entry, rpcUrls, place, problems }) => {
    const { depository, additionalDepositories, additionalData } = entry;
    const { explorerApiUrl, signingProfile, exchangeNetwork, usdcTokenId, weightPerMinute } = additionalData;
    // The family's address format also accepts currencies, which have other lengths.
    for (const account of [depository, ...additionalDepositories])
      if (account !== undefined && parseAddress(account) === undefined)
        problems.push(`${place}: depository must be a 20-byte account`);
    // If several endpoints shared one explorer, it would decide alone.
    if (explorerApiUrl !== undefined && rpcUrls.length > 1)
      problems.push(
        `${place}.additionalData.explorerApiUrl: must not be set together with several endpoints`,
      );
    return {
      explorerUrls: explorerApiUrl === undefined ? rpcUrls.map(explorerUrlOf) : [explorerApiUrl],
      profile: signingProfile,
      network: exchangeNetwork,
      usdcTokenId: (usdcTokenId ?? MAINNET_USDC_TOKEN_ID) as Hex,
      weightPerMinute: weightPerMinute ?? (rpcUrls[0] === undefined ? undefined : publicLimitOf(rpcUrls[0])),
    };
  },
  network: ({ network }) => ["exchangeNetwork", network],
  isIdentifiedByDepository: () => true,
  paid: {
    hasExchange: true,
    problems: ({ exchange }) =>
      exchange === undefined ? [{ path: ["exchange"], message: "is required on this chain family" }] : [],
    // The address format also accepts currencies, which have other lengths.
    isAccount: (text) => parseAddress(text) !== undefined,
  },
};

/** The documented rate limit of Hyperliquid's own endpoints. */
const PUBLIC_WEIGHT_PER_MINUTE = 1_200;
const PUBLIC_HOSTS = new Set(["api.hyperliquid.xyz", "api.hyperliquid-testnet.xyz"]);

function publicLimitOf(apiUrl: string): number | undefined {
  return PUBLIC_HOSTS.has(new URL(apiUrl).hostname) ? PUBLIC_WEIGHT_PER_MINUTE : undefined;
}

/**
 * Hyperliquid serves its API at `api.` and its explorer at `rpc.` of the same host; an endpoint without
 * such a host serves both.
 */
function explorerUrlOf(apiUrl: string): string {
  const url = new URL(apiUrl);
  if (!url.hostname.startsWith("api.")) return apiUrl;
  url.hostname = `rpc.${url.hostname.slice("api.".length)}`;
  return url.href;
}
