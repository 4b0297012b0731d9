import type { Address, SponsorshipSpending } from "@causeway/domain";
import type { ApiKeyIdentity } from "../http/api-keys.port.ts";
import type { WalletBook } from "./ledger.port.ts";

/** An API key as far as it pays for others. */
export type SponsorKey = Pick<ApiKeyIdentity, "id" | "fundingAddress" | "rules">;

/** A key that asks for a quote. One with browser origins is publishable, and pays for nobody. */
export type AskingKey = SponsorKey & Pick<ApiKeyIdentity, "origins">;

/** Keys inside one transaction. */
export interface SponsorKeys {
  /** As it stands now; undefined when there is none, or it was revoked. */
  key(keyId: string): Promise<SponsorKey | undefined>;
}

/**
 * What a sponsor could pay now, told outside any transaction: it may be spent by others by the time it is
 * needed.
 */
export interface SponsorReads {
  book(wallet: Address): Promise<WalletBook>;
  spending(budget: Budget): Promise<SponsorshipSpending>;
}

/** Where budgets count. */
export interface Budget {
  readonly keyId: string;
  readonly day: number;
  readonly user: Address | undefined;
  /** Undefined: fees, which are for no contract. */
  readonly target: Address | undefined;
}
