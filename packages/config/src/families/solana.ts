import type { FamilyEntry } from "../family-entry.ts";

export const solana: FamilyEntry<"solana"> = {
  facts: ({ entry: { additionalData } }) => ({ genesisHash: additionalData.genesisHash }),
  network: ({ genesisHash }) => (genesisHash === undefined ? undefined : ["genesisHash", genesisHash]),
  // A program may be deployed under one address on two clusters, if both name their cluster.
  isIdentifiedByDepository: (all) => all.some(({ genesisHash }) => genesisHash === undefined),
  paid: { problems: () => [], hasSwapAggregator: true },
};
