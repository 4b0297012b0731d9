import {
  defaultSigningNames,
  hyperliquidSigningNames,
  type HyperliquidSigningNames,
} from "../withdrawal/hyperliquid-action.ts";

/** All names in a Hyperliquid signature. Each network verifies one profile. */
export interface HyperliquidSigningProfile extends HyperliquidSigningNames {
  /** Name of the EIP-712 domain. */
  readonly domainName: string;
}

/**
 * Profiles by their configured name. `default` has the names in this service's public API, `hyperliquid`
 * those that the real Hyperliquid verifies.
 */
export const hyperliquidSigningProfiles = {
  default: { ...defaultSigningNames, domainName: "ExchangeSignTransaction" },
  hyperliquid: { ...hyperliquidSigningNames, domainName: "HyperliquidSignTransaction" },
} as const satisfies Record<string, HyperliquidSigningProfile>;

export type HyperliquidProfileName = keyof typeof hyperliquidSigningProfiles;

/** Hyperliquid's networks, as its actions name them. */
export type HyperliquidNetwork = "Mainnet" | "Testnet";
