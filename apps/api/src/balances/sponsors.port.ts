import type { Address, SponsorshipSpending } from "@causeway/domain";
import type { ApiKeyIdentity } from "../http/api-keys.port.ts";
import type { WalletBook } from "./ledger.port.ts";

/** The parts of an API key that sponsoring depends on. */
export type SponsorKey = Pick<ApiKeyIdentity, "id" | "fundingAddress" | "rules">;

/** The key of a quote request. A key with browser origins is publishable and must not sponsor. */
export type QuoteKey = SponsorKey & Pick<ApiKeyIdentity, "origins">;

/** Reads keys inside one transaction. */
export interface SponsorKeys {
  /** The current key; undefined if it does not exist or was revoked. */
  key(keyId: string): Promise<SponsorKey | undefined>;
}

/**
 * Reads a sponsor's balance and spending outside a transaction. The balance may be spent before it is
 * charged.
 */
export interface SponsorReads {
  book(wallet: Address): Promise<WalletBook>;
  spending(budget: Budget): Promise<SponsorshipSpending>;
}

/** The scope of a budget. */
export interface Budget {
  readonly keyId: string;
  readonly day: number;
  readonly user: Address | undefined;
  /** Undefined for fees, which have no target contract. */
  readonly target: Address | undefined;
}
