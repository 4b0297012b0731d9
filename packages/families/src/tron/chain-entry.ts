import type { Address } from "@causeway/domain";
import { encodeWith } from "../address-codec.ts";
import type { FamilyEntry } from "../chain-entry.ts";
import { tronCodec } from "./address-codec.ts";
import type { TronFacts } from "./facts.ts";

/** Result of `eth_chainId` on mainnet. */
const MAINNET_CHAIN_ID = 728_126_428;
/** The network's own block time; `blockTimeSeconds` of the chain file is ignored. */
const BLOCK_TIME_SECONDS = 3;
/** The end of a JSON-RPC URL; the node's native API is at the URL without it. */
const JSON_RPC = /\/jsonrpc\/?$/;

export const tron: FamilyEntry<"tron", TronFacts> = {
  id: "tron",
  codec: tronCodec,
  files: {
    answers: async () => await import("./answers.ts"),
    deposits: async () => await import("./deposits.ts"),
    payments: async () => await import("./payments.ts"),
    withdrawals: async () => await import("./withdrawals.ts"),
    finality: async () => await import("./finality.ts"),
    family: async () => await import("./family.ts"),
  },
  facts: ({ entry: { chainId, additionalData }, rpcUrls, place, problems }) => {
    if (rpcUrls.some((url) => !JSON_RPC.test(url)))
      problems.push(`${place}.httpRpcUrl: must be the URL of the node's /jsonrpc endpoint`);
    const fillContracts = (additionalData.fillContracts ?? []).flatMap((text, index): readonly Address[] => {
      try {
        // A zero address emits nothing.
        if (text !== tronCodec.nativeCurrency) return [`0x${encodeWith(tronCodec, text).slice(4)}`];
      } catch {
        // Reported below.
      }
      problems.push(`${place}: fill contract ${index}: must be a tron-vm address, not zero`);
      return [];
    });
    return {
      chainId: chainId ?? MAINNET_CHAIN_ID,
      blockTimeSeconds: BLOCK_TIME_SECONDS,
      fillContracts,
      apiKey: additionalData.rpcApiKey,
    };
  },
  network: ({ chainId }) => ["chain id", chainId],
  isIdentifiedByDepository: () => false,
};
