import type { Address } from "@causeway/domain";
import type { ApiKeyIdentity } from "../http/api-keys.port.ts";

/** A key as its keeper sees it. */
export interface ApiKeyRecord extends ApiKeyIdentity {
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly revokedAtMs: number | undefined;
  /** Until then the secret before the last rotation counts as well. */
  readonly previousUntilMs: number | undefined;
}

/** What is chosen about a key; the rest is proven or drawn. */
export type ApiKeyWish = Omit<ApiKeyIdentity, "id" | "fundingAddress">;

/** A record with the text that a client sends, which exists nowhere else. */
export interface IssuedApiKey {
  readonly key: string;
  readonly record: ApiKeyRecord;
}

/** What was asked of a wallet's owner. */
export interface FundingChallenge {
  readonly nonce: string;
  readonly expiresAtMs: number;
}

/** Where keys are kept. Undefined is answered for a key that does not exist or is revoked. */
export interface ApiKeyRegister {
  issue(wish: ApiKeyWish, atMs: number): Promise<IssuedApiKey>;
  /** All keys, revoked ones too, oldest first. */
  list(): Promise<ApiKeyRecord[]>;
  /** Revoked or not. */
  get(id: string): Promise<ApiKeyRecord | undefined>;
  change(id: string, change: Partial<ApiKeyWish>, atMs: number): Promise<ApiKeyRecord | undefined>;
  /** A new secret; the one before counts until `previousUntilMs`, any older one no more. */
  rotate(id: string, previousUntilMs: number, atMs: number): Promise<IssuedApiKey | undefined>;
  /** For good. A key that is revoked already stays as it is. */
  revoke(id: string, atMs: number): Promise<ApiKeyRecord | undefined>;
  /** One question for each key and wallet: a later one replaces it. */
  openChallenge(id: string, address: Address, challenge: FundingChallenge): Promise<void>;
  challenge(id: string, address: Address): Promise<FundingChallenge | undefined>;
  /**
   * Uses the challenge up and links the wallet, both or nothing. Undefined also when the challenge is another
   * one by now, or is over.
   */
  link(id: string, address: Address, nonce: string, atMs: number): Promise<ApiKeyRecord | undefined>;
}
