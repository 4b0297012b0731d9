import type { Address, Hex32, TxHash } from "@causeway/domain";

/**
 * `offered`: waits for the wallet's signature. `paying`: the funds are reserved until the payout is final.
 * `returned`: the payout failed and the funds are back in the balance.
 */
export const claimStates = ["offered", "paying", "paid", "returned"] as const;
export type ClaimState = (typeof claimStates)[number];

/** A payout of an app balance. */
export interface ClaimRecord {
  readonly claimId: Hex32;
  readonly wallet: Address;
  readonly chainId: number;
  readonly currency: Address;
  readonly recipient: Address;
  /** The amount that the recipient gets, base units. */
  readonly amount: bigint;
  /** Cost of the payout, charged on top of the amount and in the same currency. */
  readonly feeAmount: bigint;
  /** Unix seconds; an unsigned offer expires then. */
  readonly expiresAt: number;
  readonly state: ClaimState;
  /** Payout attempts; each has its own job. */
  readonly tries: number;
  /** Transaction hash of the payout, while it is mined. */
  readonly txHash: TxHash | undefined;
  readonly failReason: string | undefined;
  readonly createdAtMs: number;
}

export type NewClaim = Omit<ClaimRecord, "state" | "tries" | "txHash" | "failReason">;

export interface ClaimWrites {
  offer(claim: NewClaim): Promise<void>;
  /** Its wallet never changes, so it can be read before the wallet is locked. */
  walletOf(claimId: Hex32): Promise<Address | undefined>;
  /** Locks the row; lock the wallet first. */
  lock(claimId: Hex32): Promise<ClaimRecord | undefined>;
  setState(
    claimId: Hex32,
    change: { readonly state: ClaimState; readonly tries: number; readonly failReason?: string | undefined },
    atMs: number,
  ): Promise<void>;
  setTxHash(claimId: Hex32, txHash: TxHash | undefined, atMs: number): Promise<void>;
  /** Deletes offers that expired before `beforeSeconds` (unix); returns how many. */
  prune(beforeSeconds: number, limit: number): Promise<number>;
}
