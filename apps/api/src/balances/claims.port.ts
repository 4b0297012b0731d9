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
  /** Cost of the payout, base units of the same currency. Charged on top of the amount. */
  readonly feeAmount: bigint;
  /** When an unsigned offer expires, Unix seconds. */
  readonly expiresAt: number;
  readonly state: ClaimState;
  /** Payout attempts; each has its own job. */
  readonly tries: number;
  /** Transaction hash of the payout. Undefined while no block contains it. */
  readonly txHash: TxHash | undefined;
  readonly failReason: string | undefined;
  readonly createdAtMs: number;
}

export type NewClaim = Omit<ClaimRecord, "state" | "tries" | "txHash" | "failReason">;

export interface ClaimWrites {
  offer(claim: NewClaim): Promise<void>;
  /** The wallet of a claim. It never changes, so it can be read before the wallet is locked. */
  walletOf(claimId: Hex32): Promise<Address | undefined>;
  /** Locks the claim. Lock its wallet first. */
  lock(claimId: Hex32): Promise<ClaimRecord | undefined>;
  setState(
    claimId: Hex32,
    change: { readonly state: ClaimState; readonly tries: number; readonly failReason?: string | undefined },
    atMs: number,
  ): Promise<void>;
  setTxHash(claimId: Hex32, txHash: TxHash | undefined, atMs: number): Promise<void>;
  /** Deletes offers that expired before `beforeSeconds` (Unix time); returns how many. */
  prune(beforeSeconds: number, limit: number): Promise<number>;
}
