import type { BlockRef } from "@causeway/chains";
import type { Chain, Hex, TxHash } from "@causeway/domain";
import { keccakOf } from "@causeway/domain";
import { parseTransaction, toHex } from "viem";
import { signerOfSignature } from "./memory-signer.ts";
import { clone, contractsOf } from "./memory-contracts.ts";
import {
  Execution,
  Reverted,
  allowanceKey,
  balanceKey,
  lower,
  nonceKey,
  NATIVE,
  type Cells,
  type Frame,
} from "./memory-evm.ts";
import type { ChainTransaction, MinedTransaction, SequenceBlock, SequenceChain } from "./sequence-chain.ts";

/** A chain in memory: the test mines its blocks, and can replace the newest ones. */

export interface MemoryBlock extends SequenceBlock {
  /** The state after the block. */
  readonly after: Cells;
}

/** A chain in memory, with what the service's ports need. `connect` creates these ports. */
export interface MemoryChain extends Omit<SequenceChain, "connect"> {
  readonly blocks: readonly MemoryBlock[];
  readonly tip: MemoryBlock;
  readonly baseFeePerGas: bigint;
  add(transaction: ChainTransaction): void;
  setCell(key: string, value: bigint): void;
  /**
   * Runs a call on a copy of the newest state, in the context of the newest block, as nodes do.
   */
  try(frame: Frame): { readonly run: Execution; readonly reverted: string | undefined; readonly output: Hex };
  blockByHash(hash: Hex): MemoryBlock | undefined;
}

const GENESIS_TIMESTAMP = 1_699_999_000n;
const DEFAULT_GAS = 3_000_000n;
const USER_FEE_CAP = 10n ** 13n;

export function memoryChain(chain: Chain): MemoryChain {
  const contracts = contractsOf(chain);
  /** All blocks by hash, including replaced ones. */
  const allBlocks = new Map<Hex, MemoryBlock>();
  let blocks: MemoryBlock[] = [];
  let pool: ChainTransaction[] = [];
  /** The height of the chain when the node received each transaction. */
  const receivedAtHeight = new Map<Hex, bigint>();
  const index = new Map<TxHash, MinedTransaction>();
  let hashCount = 0n;
  let sendCount = 0n;
  let baseFeePerGas = 1_000_000_000n;

  const newHash = (): Hex => toHex((BigInt(chain.id) << 64n) | ++hashCount, { size: 32 });
  const add = (block: MemoryBlock): void => {
    blocks.push(block);
    allBlocks.set(block.hash, block);
    for (const mined of block.transactions) index.set(mined.transaction.hash, mined);
  };
  for (let number = 0n; number < 2n; number++) {
    const hash = newHash();
    add({
      number,
      hash,
      parentHash: blocks.at(-1)?.hash ?? toHex(0n, { size: 32 }),
      timestamp: GENESIS_TIMESTAMP + number,
      baseFeePerGas,
      transactions: [],
      after: new Map(),
    });
  }
  const tipOf = (): MemoryBlock => {
    const tip = blocks.at(-1);
    if (tip === undefined) throw new Error("invariant violated: a chain without blocks");
    return tip;
  };

  const execute = (
    cells: Cells,
    transaction: ChainTransaction,
    block: Pick<BlockRef, "number" | "timestamp" | "hash">,
    firstLog: number,
  ): MinedTransaction | undefined => {
    const { from, to, input, value, nonce, gas, maxFeePerGas, maxPriorityFeePerGas, hash } = transaction;
    if (maxFeePerGas < baseFeePerGas) return undefined;
    if (Number(cells.get(nonceKey(from)) ?? 0n) !== nonce) return undefined;
    const balance = cells.get(balanceKey(NATIVE, from)) ?? 0n;
    if (balance < value + gas * maxFeePerGas) return undefined;
    const tipFee =
      maxPriorityFeePerGas < maxFeePerGas - baseFeePerGas
        ? maxPriorityFeePerGas
        : maxFeePerGas - baseFeePerGas;
    const price = baseFeePerGas + tipFee;
    cells.set(nonceKey(from), BigInt(nonce + 1));
    cells.set(balanceKey(NATIVE, from), balance - gas * price);
    const run = new Execution(cells, contracts, block, clone);
    const before = new Map(cells);
    let succeeded = true;
    try {
      run.run({ from, to, value, data: input });
      if (run.gas > gas) throw new Reverted("out of gas");
    } catch (error) {
      if (!(error instanceof Reverted)) throw error;
      succeeded = false;
      cells.clear();
      for (const [key, amount] of before) cells.set(key, amount);
    }
    const gasUsed = run.gas > gas ? gas : run.gas;
    const fee = gasUsed * price;
    const key = balanceKey(NATIVE, from);
    cells.set(key, (cells.get(key) ?? 0n) + gas * price - fee);
    const logs = succeeded
      ? run.logs.map((log, at) => ({
          ...log,
          logIndex: firstLog + at,
          blockNumber: block.number,
          blockHash: block.hash,
          txHash: hash,
        }))
      : [];
    return {
      transaction,
      receipt: {
        txHash: hash,
        status: succeeded ? "success" : "reverted",
        blockNumber: block.number,
        blockHash: block.hash,
        gasUsed,
        effectiveGasPrice: price,
        logs,
      },
      movements: succeeded ? run.movements : [],
      deposits: succeeded ? run.deposits : [],
      fee,
    };
  };

  /** Whether a transaction is delayed by one block. Half of all transactions are, depending on their hash. */
  const isDelayed = ({ hash }: ChainTransaction): boolean =>
    BigInt(hash) % 2n === 1n && receivedAtHeight.get(hash) === tipOf().number;

  const mineBlock = (timestampSeconds: number): void => {
    const tip = tipOf();
    const number = tip.number + 1n;
    const hash = newHash();
    const requested = BigInt(timestampSeconds);
    const timestamp = requested > tip.timestamp ? requested : tip.timestamp + 1n;
    const cells: Cells = new Map(tip.after);
    const transactions: MinedTransaction[] = [];
    // A delayed replacement also delays the transaction that it replaces. Otherwise that one could be mined
    // after its payment was abandoned.
    const delayed = new Set<string>();
    // Each pass includes every transaction whose nonce is next. Another pass is needed if such a transaction
    // was behind a later nonce in the mempool.
    for (let hasMined = true; hasMined;) {
      hasMined = false;
      for (const transaction of [...pool].toSorted(bySenderNonceAndFee)) {
        const senderAndNonce = `${transaction.from} ${transaction.nonce}`;
        if (isDelayed(transaction)) delayed.add(senderAndNonce);
        if (delayed.has(senderAndNonce)) continue;
        const firstLog = transactions.reduce((sum, { receipt }) => sum + receipt.logs.length, 0);
        const mined = execute(cells, transaction, { number, timestamp, hash }, firstLog);
        if (mined === undefined) continue;
        transactions.push(mined);
        pool = pool.filter(({ from, nonce }) => from !== transaction.from || nonce > transaction.nonce);
        hasMined = true;
      }
    }
    add({ number, hash, parentHash: tip.hash, timestamp, baseFeePerGas, transactions, after: cells });
  };

  return {
    chain,
    get blocks() {
      return blocks;
    },
    get pool() {
      return pool;
    },
    get baseFeePerGas() {
      return baseFeePerGas;
    },
    get tip() {
      return tipOf();
    },
    setBaseFee: async (wei) => {
      baseFeePerGas = wei;
    },
    mine: async (timestampSeconds) => mineBlock(timestampSeconds),
    async reorg(depth, fate, isOurs) {
      const keep = Math.max(blocks.length - depth, 2);
      const removed = blocks.slice(keep);
      if (removed.length === 0) return;
      blocks = blocks.slice(0, keep);
      const orphaned = removed.flatMap(({ transactions }) =>
        transactions.map(({ transaction }) => transaction),
      );
      for (const { hash } of orphaned) index.delete(hash);
      const returned = orphaned.filter(
        ({ from }) => fate !== "dropped" && (fate !== "droppedUsers" || isOurs(from)),
      );
      const waiting = pool;
      pool = fate === "minedAgain" ? [...returned, ...waiting] : [];
      const timestamps = removed.map(({ timestamp }) => Number(timestamp));
      const last = timestamps.at(-1) ?? 0;
      for (const timestamp of timestamps) mineBlock(timestamp);
      mineBlock(last + 1);
      if (fate !== "minedAgain") pool = [...returned, ...waiting];
    },
    async send(from, { to, data = "0x", value = 0n }) {
      const pooled = pool.filter((transaction) => transaction.from === from).length;
      const nonce = Number(tipOf().after.get(nonceKey(from)) ?? 0n) + pooled;
      const hash = keccakOf(toHex(`${chain.id} ${from} ${nonce} ${++sendCount}`));
      pool.push({
        hash,
        from,
        to,
        input: data,
        value,
        nonce,
        gas: DEFAULT_GAS,
        maxFeePerGas: USER_FEE_CAP,
        maxPriorityFeePerGas: 1n,
      });
      return hash;
    },
    add: (transaction) => {
      receivedAtHeight.set(transaction.hash, tipOf().number);
      pool.push(transaction);
    },
    balance: (currency, holder) => tipOf().after.get(balanceKey(currency, holder)) ?? 0n,
    async give(currency, holder, amount) {
      const { after } = tipOf();
      after.set(balanceKey(currency, holder), (after.get(balanceKey(currency, holder)) ?? 0n) + amount);
    },
    approve: async (token, owner, spender, amount) =>
      void tipOf().after.set(allowanceKey(token, owner, spender), amount),
    setCell: (key, value) => void tipOf().after.set(key, value),
    try(frame) {
      const tip = tipOf();
      const cells = new Map(tip.after);
      const run = new Execution(cells, contracts, tip, clone);
      try {
        return { run, reverted: undefined, output: run.run(frame) };
      } catch (error) {
        if (error instanceof Reverted) return { run, reverted: error.message, output: "0x" };
        throw error;
      }
    },
    mined: (hash) => index.get(hash),
    blockByHash: (hash) => allBlocks.get(hash),
  };
}

/** Sorts by sender and nonce. For one nonce, the transaction with the highest fee comes first. */
function bySenderNonceAndFee(a: ChainTransaction, b: ChainTransaction): number {
  if (a.from !== b.from) return a.from < b.from ? -1 : 1;
  if (a.nonce !== b.nonce) return a.nonce - b.nonce;
  return a.maxFeePerGas > b.maxFeePerGas ? -1 : 1;
}

/**
 * Decodes signed bytes; the signature identifies the sender.
 *
 * @throws if no account of this world signed it
 */
export function readSigned(raw: Hex): ChainTransaction & { readonly chainId: number } {
  const parsed = parseTransaction(raw);
  if (parsed.type !== "eip1559") throw new Error(`transactions of type ${parsed.type} are not modeled`);
  const { to, data = "0x", value = 0n, nonce = 0, gas = 0n, chainId, r } = parsed;
  if (to === null || to === undefined || r === undefined)
    throw new Error("invariant violated: a signed call without a target");
  return {
    hash: keccakOf(raw),
    from: signerOfSignature(r),
    to: lower(to),
    input: data,
    value,
    nonce,
    gas,
    maxFeePerGas: parsed.maxFeePerGas ?? 0n,
    maxPriorityFeePerGas: parsed.maxPriorityFeePerGas ?? 0n,
    chainId,
  };
}
