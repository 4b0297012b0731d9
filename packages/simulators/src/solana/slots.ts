import { createHash } from "node:crypto";
import { base58 } from "@scure/base";

/** The commitment levels: all slots, slots voted for by a supermajority, or final slots. */
export type Commitment = "processed" | "confirmed" | "finalized";

export interface Block {
  readonly slot: number;
  /** Lower than the slot: not every slot has a block. */
  readonly height: number;
  readonly hash: string;
  readonly previousHash: string;
  readonly parentSlot: number;
  /** Unix seconds. */
  time: number;
}

/** Number of blocks for which a blockhash remains valid. */
export const BLOCKHASH_WINDOW = 150;

export interface SlotOptions {
  /** Slots by which finalized lags behind processed. */
  readonly finalityLag: number;
  /** The chain's current time, Unix seconds. */
  readonly now: () => number;
}

/** The blocks of one node, and the newest slot of each commitment level. */
export class Slots {
  readonly first: number;
  /** The current block. */
  current: Block;
  private readonly blocks = new Map<number, Block>();
  private readonly blockByHash = new Map<string, Block>();
  private readonly options: SlotOptions;
  private pausedAt: number | undefined;
  private maxFinal: number;
  private forks = 0;

  constructor(options: SlotOptions) {
    this.options = options;
    // Height and slot differ on every real cluster, and so do they here.
    this.current = this.append({ slot: 1_000, height: 900, parent: undefined });
    this.maxFinal = this.current.slot;
    this.first = this.current.slot;
    // Finality must already lag behind when the first transaction arrives.
    for (let count = 0; count <= options.finalityLag; count++) this.next();
  }

  /** Closes the current block and starts the next, with `skipped` slots without a block in between. */
  next(skipped = 0): void {
    const { slot, height } = this.current;
    this.current = this.append({ slot: slot + 1 + skipped, height: height + 1, parent: this.current });
  }

  /** Removes the blocks from `slot` on; the next block follows the last remaining one. */
  dropFrom(slot: number): void {
    if (slot <= this.finalized) throw new Error(`slot ${slot} is final`);
    this.forks += 1;
    const newest = this.current.slot;
    for (const block of [...this.blocks.values()].filter((candidate) => candidate.slot >= slot)) {
      this.blocks.delete(block.slot);
      this.blockByHash.delete(block.hash);
    }
    const lastRemaining = [...this.blocks.values()].at(-1);
    if (lastRemaining === undefined) throw new Error("no block is left");
    this.current = this.append({ slot: newest + 1, height: lastRemaining.height + 1, parent: lastRemaining });
  }

  /** The newest slot with a block at a commitment level. */
  at(commitment: Commitment): number {
    if (commitment === "processed") return this.current.slot;
    if (commitment === "finalized") return this.finalized;
    return Math.max(this.finalized, this.latestUpTo(this.current.slot - 1));
  }

  block(slot: number): Block | undefined {
    return this.blocks.get(slot);
  }

  /** The block of a blockhash, while it is valid for transactions. */
  recent(hash: string, commitment: Commitment = "processed"): Block | undefined {
    const block = this.blockByHash.get(hash);
    const height = this.blocks.get(this.at(commitment))?.height ?? 0;
    return block !== undefined && height <= block.height + BLOCKHASH_WINDOW ? block : undefined;
  }

  pauseFinality(): void {
    this.pausedAt = this.finalized;
  }

  resumeFinality(): void {
    this.pausedAt = undefined;
  }

  private get finalized(): number {
    if (this.pausedAt === undefined)
      this.maxFinal = Math.max(this.maxFinal, this.latestUpTo(this.current.slot - this.options.finalityLag));
    return this.maxFinal;
  }

  private latestUpTo(slot: number): number {
    for (let candidate = slot; candidate >= this.maxFinal; candidate--)
      if (this.blocks.has(candidate)) return candidate;
    return this.maxFinal;
  }

  private append({
    slot,
    height,
    parent,
  }: {
    slot: number;
    height: number;
    parent: Block | undefined;
  }): Block {
    const digest = createHash("sha256")
      .update(`${this.forks} ${slot} ${parent?.hash ?? ""}`)
      .digest();
    const block: Block = {
      slot,
      height,
      hash: base58.encode(digest),
      previousHash: parent?.hash ?? base58.encode(new Uint8Array(32)),
      parentSlot: parent?.slot ?? slot - 1,
      // The chain's time never decreases.
      time: Math.max(this.options.now(), parent?.time ?? 0),
    };
    this.blocks.set(slot, block);
    this.blockByHash.set(block.hash, block);
    return block;
  }
}
