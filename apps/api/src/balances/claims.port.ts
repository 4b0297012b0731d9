import type { Address, Hex32, TxHash } from "@causeway/domain";

/**
 * `offered`: waits for the wallet's signature. `paying`: the money is set aside until the payout is beyond
 * reorgs. `returned`: it could not be paid and is balance again.
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
  /** What the recipient gets, smallest units. */
  readonly amount: bigint;
  /** What the payout costs, taken beside the amount and in the same currency. */
  readonly feeAmount: bigint;
  /** Unix seconds: not signed by then, the offer has ended. */
  readonly expiresAt: number;
  readonly state: ClaimState;
  /** Payouts tried; each has a job of its own. */
  readonly tries: number;
  /** Of the payout, while it is in a block. */
  readonly txHash: TxHash | undefined;
  readonly failReason: string | undefined;
  readonly createdAtMs: number;
}

export type NewClaim = Omit<ClaimRecord, "state" | "tries" | "txHash" | "failReason">;

export interface ClaimWrites {
  offer(claim: NewClaim): Promise<void>;
  /** Whose it is, for good: known before the wallet is locked. */
  walletOf(claimId: Hex32): Promise<Address | undefined>;
  /** Locks the row; the wallet is locked before. */
  lock(claimId: Hex32): Promise<ClaimRecord | undefined>;
  setState(
    claimId: Hex32,
    change: { readonly state: ClaimState; readonly tries: number; readonly failReason?: string | undefined },
    atMs: number,
  ): Promise<void>;
  setTxHash(claimId: Hex32, txHash: TxHash | undefined, atMs: number): Promise<void>;
  /** Forgets offers that ended before `beforeSeconds` (unix); returns how many. */
  prune(beforeSeconds: number, limit: number): Promise<number>;
}
