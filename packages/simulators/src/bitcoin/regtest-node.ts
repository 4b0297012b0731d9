import type { Bcoin, BcoinBlock, BcoinEntry, BcoinNode } from "./bcoin-shapes.ts";
import { ChainIndex, type IndexedBlock } from "./chain-index.ts";
import { MAX_FEE_RATE, MIN_RELAY_RATE, policyRefusal } from "./policy.ts";
import { readRawTransaction, vsizeOf, type RawOutput, type RawTransaction } from "./raw-transaction.ts";

/** Refuses a request with the code and message of Bitcoin Core. */
export class CoreError extends Error {
  override readonly name = "CoreError";
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * A regtest node: consensus, blocks and mempool are bcoin's; relay and replacement rules are Bitcoin Core's.
 */
export class RegtestNode {
  readonly index = new ChainIndex();
  readonly #bcoin: Bcoin;
  readonly #node: BcoinNode;
  /** Block time in Unix seconds; undefined: the clock's. */
  #mockTime: number | undefined;

  private constructor(bcoin: Bcoin, node: BcoinNode) {
    this.#bcoin = bcoin;
    this.#node = node;
  }

  static async open(bcoin: Bcoin): Promise<RegtestNode> {
    const node = new bcoin.FullNode({
      network: "regtest",
      memory: true,
      workers: false,
      logLevel: "error",
      listen: false,
      env: false,
      argv: false,
      requireStandard: false,
      replaceByFee: true,
      limitFree: false,
    });
    const opened = new RegtestNode(bcoin, node);
    const realNow = node.network.now.bind(node.network);
    node.network.now = () => opened.#mockTime ?? realNow();
    node.mempool.options.maxOrphans = 0;
    // Its own HTTP server would listen on a fixed port, which only one node per machine could use.
    node.http.open = async () => await Promise.resolve();
    // It has no peers, which bcoin treats as a fault when blocks are reorged out.
    node.pool.forceSync = () => undefined;
    await node.ensure();
    await node.open();
    const genesis = await node.chain.getEntry(0);
    const block = genesis === null ? null : await node.chain.getBlock(genesis.hash);
    if (genesis === null || block === null) throw new Error("no genesis block");
    opened.index.connect(toIndexedBlock(genesis, block, undefined));
    node.chain.on("connect", (entry, connected) => {
      if (entry.height > opened.index.height)
        opened.index.connect(toIndexedBlock(entry, connected, opened.index.tip.hash));
    });
    return opened;
  }

  /** Unconfirmed transactions, in the order of arrival. */
  get mempool(): readonly RawTransaction[] {
    return [...this.#node.mempool.map.values()].map(({ tx }) =>
      readRawTransaction(tx.toRaw().toString("hex")),
    );
  }

  /** An unconfirmed transaction. */
  mempoolTransaction(txid: string): RawTransaction | undefined {
    const entry = this.#node.mempool.map.get(wireOrder(txid));
    return entry === undefined ? undefined : readRawTransaction(entry.tx.toRaw().toString("hex"));
  }

  /** The unconfirmed transaction that spends an output. */
  mempoolSpender(txid: string, vout: number): RawTransaction | undefined {
    const entry = this.#node.mempool.getSpent(wireOrder(txid), vout);
    return entry === undefined ? undefined : readRawTransaction(entry.tx.toRaw().toString("hex"));
  }

  /** An output of a confirmed or unconfirmed transaction. */
  output(txid: string, vout: number): RawOutput | undefined {
    return (this.mempoolTransaction(txid) ?? this.index.transaction(txid))?.outputs[vout];
  }

  /** Fee in satoshis; undefined if an input is unknown. */
  feeOf(tx: RawTransaction): bigint | undefined {
    let fee = -tx.outputs.reduce((sum, { amount }) => sum + amount, 0n);
    for (const { txid, vout } of tx.inputs) {
      const output = this.output(txid, vout);
      if (output === undefined) return undefined;
      fee += output.amount;
    }
    return fee;
  }

  /** Adds a transaction to the mempool. @returns its id @throws CoreError */
  async send(hex: string): Promise<string> {
    const tx = parseTransaction(hex);
    if (this.mempoolTransaction(tx.txid) !== undefined) return tx.txid;
    const confirmed = this.index.blockOf(tx.txid);
    if (confirmed !== undefined && this.index.isInChain(confirmed))
      throw new CoreError(-27, "Transaction outputs already in utxo set");
    if (
      tx.inputs.some(
        ({ txid, vout }) =>
          this.output(txid, vout) === undefined || this.index.spendOf(txid, vout) !== undefined,
      )
    )
      throw new CoreError(-25, "bad-txns-inputs-missingorspent");
    const fee = this.feeOf(tx) ?? 0n;
    if (fee > BigInt(vsizeOf(tx)) * MAX_FEE_RATE)
      throw new CoreError(-25, "Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)");
    const refusal = policyRefusal(tx, fee);
    if (refusal !== undefined) throw new CoreError(-26, refusal);
    await this.#admit(tx, this.#evictReplaced(tx, fee));
    return tx.txid;
  }

  /** Mines blocks with all unconfirmed transactions. @returns their hashes */
  async mine(blocks: number, address: string): Promise<readonly string[]> {
    const to = this.#bcoin.Address.fromString(address, "regtest");
    const hashes: string[] = [];
    for (let mined = 0; mined < blocks; mined++) {
      const entry = await this.#node.chain.add(await this.#node.miner.mineBlock(null, to));
      if (entry === null) throw new CoreError(-1, "the block was not accepted");
      hashes.push(entry.rhash());
    }
    return hashes;
  }

  /**
   * Mines one block with exactly these transactions, including ones that would not be relayed.
   *
   * @throws CoreError
   */
  async mineExactly(address: string, rawTransactions: readonly string[]): Promise<string> {
    const evicted = this.mempool.map(({ hex }) => hex);
    for (const entry of this.#node.mempool.map.values()) this.#node.mempool.evictEntry(entry);
    try {
      for (const hex of rawTransactions) await this.#admit(parseTransaction(hex), []);
      const [hash = ""] = await this.mine(1, address);
      return hash;
    } finally {
      for (const hex of evicted) await this.#readmit(hex);
    }
  }

  /**
   * Removes a block and all above it from the chain; their transactions return to the mempool if possible.
   *
   * @throws CoreError
   */
  async invalidate(hash: string): Promise<void> {
    const block = this.index.block(hash);
    if (block === undefined || !this.index.isInChain(block)) throw new CoreError(-5, "Block not found");
    const pending = this.mempool.map(({ hex }) => hex);
    await this.#node.chain.invalidate(wireOrder(hash));
    const removed = this.index.disconnectDownTo(block.height - 1);
    for (const { transactions } of removed)
      for (const { hex } of transactions.slice(1)) await this.#readmit(hex);
    for (const hex of pending) await this.#readmit(hex);
  }

  /** @param unixSeconds time of all further blocks; 0: the clock's time */
  setMockTime(unixSeconds: number): void {
    this.#mockTime = unixSeconds === 0 ? undefined : unixSeconds;
  }

  async close(): Promise<void> {
    await this.#node.close();
  }

  /**
   * Evicts the transactions that a better paying one replaces (BIP 125).
   *
   * @returns the evicted transactions, to be readmitted if the new one turns out to be invalid
   */
  #evictReplaced(tx: RawTransaction, fee: bigint): readonly string[] {
    const direct = new Map<string, RawTransaction>();
    for (const { txid, vout } of tx.inputs) {
      const spender = this.mempoolSpender(txid, vout);
      if (spender !== undefined) direct.set(spender.txid, spender);
    }
    if (direct.size === 0) return [];
    if ([...direct.values()].some(({ inputs }) => inputs.every(({ sequence }) => sequence > 0xfffffffd)))
      throw new CoreError(-26, "txn-mempool-conflict");
    const all = this.#withDescendants([...direct.values()]);
    const replacedFee = all.reduce((sum, replaced) => sum + (this.feeOf(replaced) ?? 0n), 0n);
    const refuse = (why: string): CoreError =>
      new CoreError(-26, `insufficient fee, rejecting replacement ${tx.txid}, ${why}`);
    for (const conflict of direct.values())
      if (fee * BigInt(vsizeOf(conflict)) <= (this.feeOf(conflict) ?? 0n) * BigInt(vsizeOf(tx)))
        throw refuse("new feerate is not above the old one");
    if (fee < replacedFee) throw refuse("less fees than conflicting txs");
    if (fee - replacedFee < BigInt(vsizeOf(tx)) * MIN_RELAY_RATE)
      throw refuse("not enough additional fees to relay");
    for (const { txid } of all) {
      const entry = this.#node.mempool.map.get(wireOrder(txid));
      if (entry !== undefined) this.#node.mempool.evictEntry(entry);
    }
    return all.map(({ hex }) => hex);
  }

  #withDescendants(roots: readonly RawTransaction[]): readonly RawTransaction[] {
    const ids = new Set(roots.map(({ txid }) => txid));
    // Spenders always follow the transactions that they spend.
    return this.mempool.filter((tx) => {
      if (!ids.has(tx.txid) && !tx.inputs.some(({ txid }) => ids.has(txid))) return false;
      ids.add(tx.txid);
      return true;
    });
  }

  async #admit(tx: RawTransaction, evicted: readonly string[]): Promise<void> {
    try {
      const missing = await this.#node.mempool.addTX(this.#bcoin.TX.fromRaw(Buffer.from(tx.hex, "hex")));
      if (missing !== null) throw new CoreError(-25, "bad-txns-inputs-missingorspent");
    } catch (error) {
      for (const hex of evicted) await this.#readmit(hex);
      if (error instanceof CoreError) throw error;
      const reason = error instanceof Error && "reason" in error ? String(error.reason) : String(error);
      throw new CoreError(-26, reason);
    }
  }

  /** Returns a transaction to the mempool, or drops it if it is no longer valid, like a real node. */
  async #readmit(hex: string): Promise<void> {
    try {
      await this.#node.mempool.addTX(this.#bcoin.TX.fromRaw(Buffer.from(hex, "hex")));
    } catch {
      // Mined in the meantime, or in conflict with a mined transaction.
    }
  }
}

function parseTransaction(hex: string): RawTransaction {
  try {
    return readRawTransaction(hex);
  } catch {
    throw new CoreError(-22, "TX decode failed. Make sure the tx has at least one input.");
  }
}

function toIndexedBlock(entry: BcoinEntry, block: BcoinBlock, previous: string | undefined): IndexedBlock {
  const raw = block.toRaw();
  return {
    hash: entry.rhash(),
    height: entry.height,
    time: entry.time,
    header: raw.subarray(0, 80).toString("hex"),
    hex: raw.toString("hex"),
    previous,
    transactions: block.txs.map((tx) => readRawTransaction(tx.toRaw().toString("hex"))),
  };
}

/** A hash in wire order: its bytes reversed. */
function wireOrder(hash: string): string {
  return Buffer.from(hash, "hex").reverse().toString("hex");
}
