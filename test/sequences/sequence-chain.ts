import type { Signer } from "@causeway/attest";
import type { BlockRef, ChainReader, ChainWriter, ReceiptFact, TransactionFact } from "@causeway/chains";
import type { Address, Chain, Hex, TxHash } from "@causeway/domain";
import type { LiquiditySource } from "../../apps/api/src/markets/liquidity/liquidity.port.ts";
import type { TroubledNode } from "./troubles.ts";
import type { DepositMade, Movement } from "./memory-evm.ts";

/**
 * A chain that a sequence's actions change and the test's own books read. Reads are synchronous. Changes
 * may call a node.
 */
export interface SequenceChain {
  readonly chain: Chain;
  /** The canonical blocks. The index of a block is its number. */
  readonly blocks: readonly SequenceBlock[];
  readonly pool: readonly ChainTransaction[];
  readonly tip: SequenceBlock;
  /** Sets the base fee of all later blocks. */
  setBaseFee(wei: bigint): Promise<void>;
  /** Mines one block with the transactions in the mempool that the chain accepts. */
  mine(timestampSeconds: number): Promise<void>;
  /** Replaces the newest `depth` blocks with `depth + 1` new blocks. */
  reorg(depth: number, fate: ReorgedTransactions, isOurs: (sender: Address) => boolean): Promise<void>;
  /** Signs a transaction with the account's next nonce, and adds it to the mempool. */
  send(from: Address, call: UserCall): Promise<TxHash>;
  balance(currency: Address, holder: Address): bigint;
  /** Creates an amount in the newest state. */
  give(currency: Address, holder: Address, amount: bigint): Promise<void>;
  /** Creates an allowance in the newest state. */
  approve(token: Address, owner: Address, spender: Address, amount: bigint): Promise<void>;
  mined(hash: TxHash): MinedTransaction | undefined;
  /** Injects faults of the node; undefined if this kind of node supports none. */
  readonly node?: Omit<TroubledNode, "reader" | "writer">;
  /** The ports of the service for this chain, for one start of the service. */
  connect(knownHead: () => BlockRef | undefined): {
    readonly reader: ChainReader;
    readonly writer: ChainWriter;
  };
}

/** Chains in memory, or real nodes with the real contracts. */
export type NodeKind = "memory" | "anvil";

/** Where the two chains of each sequence come from. */
export interface SequenceNodes {
  readonly kind: NodeKind;
  /**
   * @param fund gives every account its initial funds; later sequences may reuse the resulting state
   */
  start(fund: (chain: SequenceChain) => Promise<void>): Promise<readonly [SequenceChain, SequenceChain]>;
  signer(address: Address): Signer;
  /** Absent if nothing is swapped on these chains. */
  readonly liquidity?: (chains: readonly SequenceChain[]) => LiquiditySource;
  close(): Promise<void>;
}

export interface UserCall {
  readonly to: Address;
  readonly data?: Hex;
  readonly value?: bigint;
}

export interface ChainTransaction extends TransactionFact {
  readonly to: Address;
  readonly gas: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

export interface MinedTransaction {
  readonly transaction: ChainTransaction;
  readonly receipt: ReceiptFact;
  /** The funds that it moved, excluding its fee. */
  readonly movements: readonly Movement[];
  readonly deposits: readonly DepositMade[];
  /** In wei. */
  readonly fee: bigint;
}

export interface SequenceBlock extends BlockRef {
  readonly baseFeePerGas: bigint;
  readonly transactions: readonly MinedTransaction[];
}

/** What happens to the transactions of blocks that a reorg replaces. */
export type ReorgedTransactions = "minedAgain" | "pooled" | "droppedUsers" | "dropped";
