import type { FamilyId } from "@causeway/domain";
import type { AnyFamily } from "./family.ts";

/** Loads each family on demand: its libraries are imported only if one of its chains is configured. */
export const families = {
  evm: async () => (await import("./evm/family.ts")).evm,
  solana: async () => (await import("./solana/family.ts")).solana,
  bitcoin: async () => (await import("./bitcoin/family.ts")).bitcoin,
  hyperliquid: async () => (await import("./hyperliquid/family.ts")).hyperliquid,
  lighter: async () => (await import("./lighter/family.ts")).lighter,
  tron: async () => (await import("./tron/family.ts")).tron,
} satisfies { readonly [F in FamilyId]: () => Promise<AnyFamily<F>> };
