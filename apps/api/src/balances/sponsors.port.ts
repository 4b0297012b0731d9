import type { Address, SponsorshipSpending } from "@causeway/domain";
import type { ApiKeyIdentity } from "../http/api-keys.port.ts";
import type { WalletBook } from "./ledger.port.ts";

/** The parts of an API key that matter for paying for others. */
export type SponsorKey = Pick<ApiKeyIdentity, "id" | "fundingAddress" | "rules">;

/** A key that asks for a quote. A key with browser origins is publishable and sponsors no one. */
export type AskingKey = SponsorKey & Pick<ApiKeyIdentity, "origins">;

/** Keys inside one transaction. */
export interface SponsorKeys {
  /** The current key; undefined if it does not exist or was revoked. */
  key(keyId: string): Promise<SponsorKey | undefined>;
}

/** The balance a sponsor has now, read outside a transaction: it may be spent by the time it is needed. */
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
