import type { Address, Hex, TxHash } from "@causeway/domain";

/**
 * `seen`: credited once confirmed. `unattributed`: its marker names no valid wallet and an operator should
 * look, or it is too small to be credited.
 */
export type TopUpState = "seen" | "credited" | "unattributed";

/** A transfer to the solver that credits an app balance, or was meant to. */
export interface TopUpRecord {
  readonly id: string;
  readonly chainId: number;
  readonly txHash: TxHash;
  readonly ordinal: number;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  readonly canonical: boolean;
  readonly confirmAtBlock: bigint;
  readonly sender: Address;
  /** The wallet that its marker names; undefined if the marker is malformed. */
  readonly wallet: Address | undefined;
  readonly currency: Address;
  readonly amount: bigint;
  readonly state: TopUpState;
  /** How often it was credited: a reorg can remove it and include it again. */
  readonly credits: number;
  readonly seenAtMs: number;
}

export type NewTopUp = Omit<TopUpRecord, "id" | "canonical" | "state" | "credits"> & {
  readonly state: Exclude<TopUpState, "credited">;
};

export interface TopUpWrites {
  /**
   * Inserts a top-up, or moves a known one to its new block with its state; undefined if it is already
   * canonical there.
   */
  upsert(topUp: NewTopUp): Promise<TopUpRecord | undefined>;
  /**
   * Marks top-ups above `aboveBlock` as orphaned if their block is not among `canonicalHashes`; returns them.
   */
  removeOrphaned(
    chainId: number,
    aboveBlock: bigint,
    upToBlock: bigint,
    canonicalHashes: readonly Hex[],
  ): Promise<TopUpRecord[]>;
  /** Locks the confirmed, canonical top-ups that are not credited yet, by wallet. */
  lockDue(chainId: number, headNumber: bigint): Promise<TopUpRecord[]>;
  setState(id: string, state: TopUpState, credits: number): Promise<void>;
}
