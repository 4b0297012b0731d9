import type { Address, Hex, TxHash } from "@causeway/domain";

/**
 * `seen`: credited when it is confirmed. `unattributed`: its marker names nobody for certain, and somebody
 * should look; or it is too little to be credited.
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
  /** Whom its marker names; undefined when nobody for certain. */
  readonly wallet: Address | undefined;
  readonly currency: Address;
  readonly amount: bigint;
  readonly state: TopUpState;
  /** How often it was credited: a reorg takes it back, and it may come again. */
  readonly credits: number;
  readonly seenAtMs: number;
}

export type NewTopUp = Omit<TopUpRecord, "id" | "canonical" | "state" | "credits"> & {
  readonly state: Exclude<TopUpState, "credited">;
};

export interface TopUpWrites {
  /**
   * Inserts, or moves a known one to the block it is in now, with the state that it has; undefined when it
   * stands there already, canonical.
   */
  upsert(topUp: NewTopUp): Promise<TopUpRecord | undefined>;
  /**
   * Marks those of the chain above `aboveBlock` whose block is not among `canonicalHashes` as gone; returns
   * them.
   */
  removeOrphaned(
    chainId: number,
    aboveBlock: bigint,
    upToBlock: bigint,
    canonicalHashes: readonly Hex[],
  ): Promise<TopUpRecord[]>;
  /** Canonical ones with their confirmations that are not credited, locked, by wallet. */
  lockDue(chainId: number, headNumber: bigint): Promise<TopUpRecord[]>;
  setState(id: string, state: TopUpState, credits: number): Promise<void>;
}
