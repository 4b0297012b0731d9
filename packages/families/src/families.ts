/** The chain families, by the names of their folders. */
export const FAMILY_IDS = ["evm", "solana", "bitcoin", "hyperliquid", "lighter", "tron"] as const;

export type FamilyId = (typeof FAMILY_IDS)[number];
