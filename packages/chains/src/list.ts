// Generated from packages/domain/src/chain/family.ts by scripts/family-lists.ts; do not edit.

/** Loads the evidence of each family on demand, and its libraries with it. */
export const evidence = {
  evm: async () => (await import("./evm/evidence.ts")).evmEvidence,
  solana: async () => (await import("./solana/evidence.ts")).solanaEvidence,
  bitcoin: async () => (await import("./bitcoin/evidence.ts")).bitcoinEvidence,
  hyperliquid: async () => (await import("./hyperliquid/evidence.ts")).hyperliquidEvidence,
  lighter: async () => (await import("./lighter/evidence.ts")).lighterEvidence,
  tron: async () => (await import("./tron/evidence.ts")).tronEvidence,
};
