import type { FamilyEntry } from "../family-entry.ts";

export const solana: FamilyEntry<"solana"> = {
  facts: ({ entry: { additionalData } }) => ({ genesisHash: additionalData.genesisHash }),
  network: ({ genesisHash }) => (genesisHash === undefined ? undefined : ["genesisHash", genesisHash]),
  // A program may have the same address on two clusters if both entries set `genesisHash`.
  isIdentifiedByDepository: (all) => all.some(({ genesisHash }) => genesisHash === undefined),
};
