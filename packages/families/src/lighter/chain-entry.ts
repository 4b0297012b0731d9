import { parseAddress } from "@causeway/domain";
import type { FamilyEntry } from "../chain-entry.ts";
import { lighterCodec } from "./address-codec.ts";
import type { LighterFacts } from "./facts.ts";

/** Lighter's chain id in signatures on mainnet. */
const MAINNET_CHAIN_ID = 304;

export const lighter: FamilyEntry<"lighter", LighterFacts> = {
  id: "lighter",
  codec: lighterCodec,
  files: {
    answers: async () => await import("./answers.ts"),
    deposits: async () => await import("./deposits.ts"),
    payments: async () => await import("./payments.ts"),
    withdrawals: async () => await import("./withdrawals.ts"),
    finality: async () => await import("./finality.ts"),
    family: async () => await import("./family.ts"),
  },
  facts: ({ entry: { additionalData } }) => {
    const { explorerApiUrl, exchangeChainId = MAINNET_CHAIN_ID, exchangeContract } = additionalData;
    return {
      explorerApiUrl,
      exchangeChainId: BigInt(exchangeChainId),
      exchangeContract: exchangeContract === undefined ? undefined : parseAddress(exchangeContract),
    };
  },
  network: ({ exchangeChainId }) => ["exchangeChainId", exchangeChainId],
  isIdentifiedByDepository: () => true,
};
