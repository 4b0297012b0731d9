import type { Address, Hex, TxHash } from "@causeway/domain";

/**
 * `seen`: not confirmed yet; credited then. `unattributed`: never credited, because the marker names no valid
 * wallet (an operator should look) or the amount is too small.
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
  /** The wallet that the transfer's marker names; undefined if the marker is malformed. */
  readonly wallet: Address | undefined;
  readonly currency: Address;
  readonly amount: bigint;
  readonly state: TopUpState;
  /** How many times the top-up was credited: after a reorg, it may be mined and credited again. */
  readonly credits: number;
  readonly seenAtMs: number;
}

export type NewTopUp = Omit<TopUpRecord, "id" | "canonical" | "state" | "credits"> & {
  readonly state: Exclude<TopUpState, "credited">;
};

export interface TopUpWrites {
  /**
   * Inserts a top-up, or moves a stored one to its new block, keeping its state. Undefined if it is already
   * canonical in that block.
   */
  upsert(topUp: NewTopUp): Promise<TopUpRecord | undefined>;
  /**
   * Marks top-ups in blocks after `aboveBlock`, up to `upToBlock`, as orphaned if their block is not among
   * `canonicalHashes`. Returns them.
   */
  removeOrphaned(
    chainId: number,
    aboveBlock: bigint,
    upToBlock: bigint,
    canonicalHashes: readonly Hex[],
  ): Promise<TopUpRecord[]>;
  /** Locks the confirmed, canonical top-ups that are not credited yet; sorted by wallet. */
  lockDue(chainId: number, headNumber: bigint): Promise<TopUpRecord[]>;
  setState(id: string, state: TopUpState, credits: number): Promise<void>;
}
