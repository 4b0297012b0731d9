import type { FamilyId } from "@causeway/domain";
import type { AnyFamily } from "./family.ts";

/** How each family is loaded: its libraries are read when a chain of it is configured, and not before. */
export const families = {
  evm: async () => (await import("./evm/family.ts")).evm,
  solana: async () => (await import("./solana/family.ts")).solana,
  bitcoin: async () => (await import("./bitcoin/family.ts")).bitcoin,
  hyperliquid: async () => (await import("./hyperliquid/family.ts")).hyperliquid,
  lighter: async () => (await import("./lighter/family.ts")).lighter,
  tron: async () => (await import("./tron/family.ts")).tron,
} satisfies { readonly [F in FamilyId]: () => Promise<AnyFamily<F>> };
