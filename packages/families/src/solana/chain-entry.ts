import type { FamilyEntry } from "../chain-entry.ts";
import { solanaCodec } from "./address-codec.ts";
import type { SolanaFacts } from "./facts.ts";

export const solana: FamilyEntry<"solana", SolanaFacts> = {
  id: "solana",
  codec: solanaCodec,
  files: {
    answers: async () => await import("./answers.ts"),
    deposits: async () => await import("./deposits.ts"),
    payments: async () => await import("./payments.ts"),
    withdrawals: async () => await import("./withdrawals.ts"),
    finality: async () => await import("./finality.ts"),
    family: async () => await import("./family.ts"),
  },
  facts: ({ entry: { additionalData } }) => ({ genesisHash: additionalData.genesisHash }),
  network: ({ genesisHash }) => (genesisHash === undefined ? undefined : ["genesisHash", genesisHash]),
  // A program may have the same address on two clusters if both entries set `genesisHash`.
  isIdentifiedByDepository: (all) => all.some(({ genesisHash }) => genesisHash === undefined),
  paid: { problems: () => [], hasAddressProgram: true, hasSwapAggregator: true },
};
