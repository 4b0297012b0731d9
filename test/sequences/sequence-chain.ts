import type { Signer } from "@causeway/attest";
import type { BlockRef, ChainReader, ChainWriter, ReceiptFact, TransactionFact } from "@causeway/chains";
import type { Address, Chain, Hex, TxHash } from "@causeway/domain";
import type { LiquiditySource } from "../../apps/api/src/markets/liquidity/liquidity.port.ts";
import type { TroubledNode } from "./troubles.ts";
import type { DepositMade, Movement } from "./memory-evm.ts";

/**
 * A chain as the actions drive it and the books read it. Reads are synchronous; changes may have to ask a
 * node.
 */
export interface SequenceChain {
  readonly chain: Chain;
  /** Canonical blocks; a block's number is its index. */
  readonly blocks: readonly SequenceBlock[];
  readonly pool: readonly ChainTransaction[];
  readonly tip: SequenceBlock;
  /** Applies to the next block and those after it. */
  setBaseFee(wei: bigint): Promise<void>;
  /** Mines one block with the transactions in the mempool that the chain accepts. */
  mine(timestampSeconds: number): Promise<void>;
  /** Replaces the newest `depth` blocks by one more than that. */
  reorg(depth: number, fate: ReorgedTransactions, isOurs: (sender: Address) => boolean): Promise<void>;
  /** Signs and pools a transaction of an account, with its next nonce. */
  send(from: Address, call: UserCall): Promise<TxHash>;
  balance(currency: Address, holder: Address): bigint;
  /** Creates money in the newest state. */
  give(currency: Address, holder: Address, amount: bigint): Promise<void>;
  /** Creates an allowance in the newest state. */
  approve(token: Address, owner: Address, spender: Address, amount: bigint): Promise<void>;
  mined(hash: TxHash): MinedTransaction | undefined;
  /** Undefined if the node cannot be put into trouble. */
  readonly node?: Omit<TroubledNode, "reader" | "writer">;
  /** The chain as the service sees it, from one start of the service to the next. */
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
   * @param fund gives every account its initial money; the state after it may be reused for further sequences
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
  /** What it moved, except its fee. */
  readonly movements: readonly Movement[];
  readonly deposits: readonly DepositMade[];
  /** Wei. */
  readonly fee: bigint;
}

export interface SequenceBlock extends BlockRef {
  readonly baseFeePerGas: bigint;
  readonly transactions: readonly MinedTransaction[];
}

/** What happens to the transactions of blocks that a reorg replaces. */
export type ReorgedTransactions = "minedAgain" | "pooled" | "droppedUsers" | "dropped";
