import { parseAddress } from "@causeway/domain";
import type { FamilyEntry } from "../family-entry.ts";

/** Lighter's chain id in signatures for its main network. */
const MAIN_NETWORK = 304;

export const lighter: FamilyEntry<"lighter"> = {
  facts: ({ entry: { additionalData } }) => {
    const { explorerApiUrl, exchangeChainId = MAIN_NETWORK, exchangeContract } = additionalData;
    return {
      explorerApiUrl,
      exchangeChainId: BigInt(exchangeChainId),
      exchangeContract: exchangeContract === undefined ? undefined : parseAddress(exchangeContract),
    };
  },
  network: ({ exchangeChainId }) => ["exchangeChainId", exchangeChainId],
  isIdentifiedByDepository: () => true,
};
