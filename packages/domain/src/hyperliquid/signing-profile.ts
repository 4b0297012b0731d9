import {
  exchangeSigningNames,
  hyperliquidSigningNames,
  type ExchangeSigningNames,
} from "../withdrawal/hyperliquid-action.ts";

/** All names in a Hyperliquid signature. Each network verifies one profile. */
export interface ExchangeSigningProfile extends ExchangeSigningNames {
  /** Name of the EIP-712 domain. */
  readonly domainName: string;
}

/**
 * Profiles by their configured name. `default` has the names of the public contract, `hyperliquid` those that
 * the real Hyperliquid verifies.
 */
export const exchangeSigningProfiles = {
  default: { ...exchangeSigningNames, domainName: "ExchangeSignTransaction" },
  hyperliquid: { ...hyperliquidSigningNames, domainName: "HyperliquidSignTransaction" },
} as const satisfies Record<string, ExchangeSigningProfile>;

export type ExchangeProfileName = keyof typeof exchangeSigningProfiles;

/** Hyperliquid's networks, as its actions name them. */
export type ExchangeNetwork = "Mainnet" | "Testnet";
