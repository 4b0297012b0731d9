import {
  exchangeSigningNames,
  hyperliquidSigningNames,
  type ExchangeSigningNames,
} from "../withdrawal/hyperliquid-action.ts";

/**
 * All names that a signature for the perpetuals exchange is made over. One network of the exchange verifies
 * one profile.
 */
export interface ExchangeSigningProfile extends ExchangeSigningNames {
  /** Name of the EIP-712 domain. */
  readonly domainName: string;
}

/**
 * Profiles by the word that a configuration names them with. `default`: the client contract's names;
 * `hyperliquid`: what the real exchange verifies.
 */
export const exchangeSigningProfiles = {
  default: { ...exchangeSigningNames, domainName: "ExchangeSignTransaction" },
  hyperliquid: { ...hyperliquidSigningNames, domainName: "HyperliquidSignTransaction" },
} as const satisfies Record<string, ExchangeSigningProfile>;

export type ExchangeProfileName = keyof typeof exchangeSigningProfiles;

/** The exchange's own networks, as its actions name them. */
export type ExchangeNetwork = "Mainnet" | "Testnet";
