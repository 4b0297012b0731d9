import type { Address } from "@causeway/domain";
import type { ApiKeyIdentity } from "../http/api-keys.port.ts";

/** A key as the operator sees it. */
export interface ApiKeyRecord extends ApiKeyIdentity {
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly revokedAtMs: number | undefined;
  /** Until when the secret before the last rotation is valid; undefined if the secret never changed. */
  readonly previousUntilMs: number | undefined;
}

/** The configurable part of a key; the rest is generated or proven. */
export type ApiKeySettings = Omit<ApiKeyIdentity, "id" | "fundingAddress">;

/** A record with the secret key text, which is not stored. */
export interface IssuedApiKey {
  readonly key: string;
  readonly record: ApiKeyRecord;
}

/** The message that a wallet's owner is asked to sign. */
export interface FundingChallenge {
  readonly nonce: string;
  readonly expiresAtMs: number;
}

/** The store of API keys. Returns undefined for a key that does not exist or is revoked. */
export interface ApiKeyRegister {
  issue(settings: ApiKeySettings, atMs: number): Promise<IssuedApiKey>;
  /** All keys, including revoked ones, oldest first. */
  list(): Promise<ApiKeyRecord[]>;
  /** A key, even if it is revoked. */
  get(id: string): Promise<ApiKeyRecord | undefined>;
  change(id: string, change: Partial<ApiKeySettings>, atMs: number): Promise<ApiKeyRecord | undefined>;
  /** Sets a new secret; the previous one is valid until `previousUntilMs`, older ones no longer. */
  rotate(id: string, previousUntilMs: number, atMs: number): Promise<IssuedApiKey | undefined>;
  /** Permanent. Has no effect on a revoked key. */
  revoke(id: string, atMs: number): Promise<ApiKeyRecord | undefined>;
  /** One challenge per key and wallet: a later one replaces it. */
  openChallenge(id: string, address: Address, challenge: FundingChallenge): Promise<void>;
  findChallenge(id: string, address: Address): Promise<FundingChallenge | undefined>;
  /**
   * Consumes the challenge and links the wallet atomically. Also undefined if the challenge was replaced or
   * has expired.
   */
  link(id: string, address: Address, nonce: string, atMs: number): Promise<ApiKeyRecord | undefined>;
}
