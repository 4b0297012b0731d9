import type { RawTransaction } from "./raw-transaction.ts";

/** A block that is or was in the chain. */
export interface IndexedBlock {
  readonly hash: string;
  readonly height: number;
  /** Unix seconds. */
  readonly time: number;
  /** Header: 80 bytes, hex. */
  readonly header: string;
  /** The whole block, hex. */
  readonly hex: string;
  readonly previous: string | undefined;
  readonly transactions: readonly RawTransaction[];
}

/** The transaction that spent an output. */
export interface Spend {
  readonly txid: string;
  readonly vin: number;
}

/**
 * An index like that of a node with `txindex` and its explorer: all blocks that were ever connected, their
 * transactions, and which transaction of the current chain spent which output.
 */
export class ChainIndex {
  readonly #chain: IndexedBlock[] = [];
  readonly #known = new Map<string, IndexedBlock>();
  readonly #blocksOf = new Map<string, IndexedBlock[]>();
  readonly #spends = new Map<string, Spend>();

  get height(): number {
    return this.#chain.length - 1;
  }

  get tip(): IndexedBlock {
    const tip = this.#chain.at(-1);
    if (tip === undefined) throw new Error("no block is connected yet");
    return tip;
  }

  connect(block: IndexedBlock): void {
    if (block.height !== this.#chain.length)
      throw new Error(`block ${block.height} cannot follow block ${this.height}`);
    this.#chain.push(block);
    this.#known.set(block.hash, block);
    for (const tx of block.transactions) {
      this.#blocksOf.set(tx.txid, [...(this.#blocksOf.get(tx.txid) ?? []), block]);
      tx.inputs.forEach(({ txid, vout }, vin) => this.#spends.set(`${txid}:${vout}`, { txid: tx.txid, vin }));
    }
  }

  /** Disconnects blocks until `height` is the newest. Returns them, the lowest first. */
  disconnectDownTo(height: number): readonly IndexedBlock[] {
    const removed = this.#chain.splice(height + 1);
    for (const { transactions } of removed)
      for (const { inputs } of transactions)
        for (const { txid, vout } of inputs) this.#spends.delete(`${txid}:${vout}`);
    return removed;
  }

  blockAt(height: number): IndexedBlock | undefined {
    return this.#chain[height];
  }

  block(hash: string): IndexedBlock | undefined {
    return this.#known.get(hash);
  }

  isInChain(block: IndexedBlock): boolean {
    return this.#chain[block.height] === block;
  }

  /**
   * The block that contains a transaction in the current chain, otherwise the last block that contained it.
   */
  blockOf(txid: string): IndexedBlock | undefined {
    const blocks = this.#blocksOf.get(txid) ?? [];
    return blocks.find((block) => this.isInChain(block)) ?? blocks.at(-1);
  }

  transaction(txid: string): RawTransaction | undefined {
    return this.blockOf(txid)?.transactions.find((tx) => tx.txid === txid);
  }

  /** The spend of an output in the chain. */
  spendOf(txid: string, vout: number): Spend | undefined {
    return this.#spends.get(`${txid}:${vout}`);
  }

  /** All transactions of the chain, the newest first. */
  *newestFirst(): Iterable<{ readonly tx: RawTransaction; readonly block: IndexedBlock }> {
    for (let height = this.height; height >= 0; height--) {
      const block = this.#chain[height];
      if (block !== undefined) for (const tx of block.transactions.toReversed()) yield { tx, block };
    }
  }
}
