/**
 * Types of the parts of bcoin that are used here, since bcoin has no types. Hashes are hex in wire order, the
 * reverse of display order.
 */

export interface BcoinNetworks {
  readonly regtest: { readonly addressPrefix: Record<string, unknown> };
}

export interface Bcoin {
  readonly FullNode: new (options: Readonly<Record<string, unknown>>) => BcoinNode;
  readonly TX: { fromRaw(raw: Buffer): BcoinTx };
  readonly Address: { fromString(text: string, network: string): BcoinAddress };
}

/** Opaque: only bcoin creates and reads it. */
export interface BcoinAddress {
  readonly type: number;
}

export interface BcoinTx {
  txid(): string;
  toRaw(): Buffer;
}

export interface BcoinBlock {
  readonly txs: readonly BcoinTx[];
  toRaw(): Buffer;
}

export interface BcoinEntry {
  readonly hash: string;
  readonly height: number;
  readonly time: number;
  /** The hash in display order. */
  rhash(): string;
}

export interface BcoinMempoolEntry {
  readonly tx: BcoinTx;
}

export interface BcoinNode {
  readonly network: { now: () => number };
  readonly chain: {
    readonly tip: BcoinEntry;
    readonly height: number;
    on(event: "connect", listener: (entry: BcoinEntry, block: BcoinBlock) => Promise<void> | void): void;
    getBlock(hash: string): Promise<BcoinBlock | null>;
    getEntry(hashOrHeight: string | number): Promise<BcoinEntry | null>;
    add(block: BcoinBlock): Promise<BcoinEntry | null>;
    invalidate(hash: string): Promise<void>;
  };
  readonly mempool: {
    readonly options: { maxOrphans: number };
    readonly map: ReadonlyMap<string, BcoinMempoolEntry>;
    /**
     * The hashes of unknown inputs; null if the transaction was accepted.
     *
     * @throws an error with `reason`
     */
    addTX(tx: BcoinTx): Promise<readonly string[] | null>;
    getSpent(hash: string, index: number): BcoinMempoolEntry | undefined;
    evictEntry(entry: BcoinMempoolEntry): void;
  };
  readonly http: { open: () => Promise<void> };
  readonly pool: { forceSync: () => void };
  readonly miner: {
    mineBlock(tip: null, address: BcoinAddress): Promise<BcoinBlock>;
  };
  ensure(): Promise<void>;
  open(): Promise<void>;
  close(): Promise<void>;
}
