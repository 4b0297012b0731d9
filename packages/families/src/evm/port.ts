import type { Address, FrameLog, Hex, Hex32, SimulationFailure, TxHash } from "@causeway/domain";

/**
 * Reads and writes of one EVM chain. Missing or unsettled facts are values, never exceptions. Exceptions are
 * {@link RpcFault}s: the node's or the network's fault, retryable.
 */

/** One block of the trail. */
export interface BlockRef {
  readonly number: bigint;
  readonly hash: Hex;
  readonly parentHash: Hex;
  /** Unix seconds. */
  readonly timestamp: bigint;
  /** Wei per gas; undefined on chains without EIP-1559. */
  readonly baseFeePerGas: bigint | undefined;
}

/** Consecutive blocks of the chain that the caller follows. */
export interface BlockRange {
  /** Inclusive. */
  readonly from: bigint;
  /** Inclusive. */
  readonly to: bigint;
  /** Hashes of the blocks that the caller knows; answers about other blocks are refused. */
  readonly hashes: ReadonlyMap<bigint, Hex>;
}

/** A new head, with the time (ms since epoch) at which this process first saw it. */
export interface Head extends BlockRef {
  readonly seenAtMs: number;
}

/** Funds that arrived at the depository, read from one canonical block. */
export interface DepositFact {
  readonly txHash: TxHash;
  /**
   * Position (0, 1, …) among the deposits of the same transaction with equal currency, amount, depositor,
   * sender and id: together they identify the deposit permanently. Neither the rest of the transaction, nor
   * the configuration, nor a reorg changes it.
   */
  readonly ordinal: number;
  readonly logIndex: number;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  /** The depositor of the event, or the token sender of a direct transfer. */
  readonly depositor: Address;
  /** Account that signed the transaction. */
  readonly sender: Address;
  /** Zero address = native. */
  readonly currency: Address;
  /** The amount that the depository actually received, in base units. */
  readonly amount: bigint;
  /** The depository that received the funds, as bytes; absent: the configured depository. */
  readonly depository?: Hex;
  /** The deposit's id; undefined if it has none. */
  readonly id: Hex | undefined;
  /**
   * The nonce of the sender's signature, on chains whose transfers cannot carry an id: there, wallets map the
   * nonce to an order (Hyperliquid).
   */
  readonly nonce?: bigint;
  /**
   * Unix seconds of the deposit, according to the chain. Absent if only a transaction was read.
   */
  readonly timestamp?: bigint;
  /**
   * Oracles cannot attest the transaction (see `evm/attestable.ts`), so a payment for this deposit would
   * never be repaid.
   */
  readonly isUnattestable?: true;
  /**
   * With `isUnattestable`: the node was too slow, so an earlier reading of the same block remains valid, and
   * a later one may differ.
   */
  readonly isAttestabilityUnknown?: true;
}

/** A transfer to the solver that is marked as a top-up of an app balance; read from one canonical block. */
export interface TopUpFact {
  readonly txHash: TxHash;
  /**
   * Position among the top-ups of the same transaction with equal currency, amount, sender and wallet:
   * together they identify the top-up permanently.
   */
  readonly ordinal: number;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  /** The account that sent the funds. */
  readonly sender: Address;
  /** Zero address = native. */
  readonly currency: Address;
  /** The amount that arrived, in base units. */
  readonly amount: bigint;
  /** The wallet to credit; undefined if the marker is ambiguous. */
  readonly wallet: Address | undefined;
}

/** The current state of a transaction on chain. */
export type TransactionState =
  | { readonly kind: "absent" }
  | { readonly kind: "pending"; readonly transaction: TransactionFact }
  | { readonly kind: "mined"; readonly transaction: TransactionFact; readonly receipt: ReceiptFact };

export interface TransactionFact {
  readonly hash: TxHash;
  readonly from: Address;
  readonly to: Address | undefined;
  readonly input: Hex;
  readonly value: bigint;
  readonly nonce: number;
  /** Maximum fee per gas that the transaction offers, in wei; absent if the node does not return it. */
  readonly maxFeePerGas?: bigint;
  /** Absent if the node does not return it. */
  readonly gasLimit?: bigint;
}

export interface ReceiptFact {
  readonly txHash: TxHash;
  readonly status: "success" | "reverted";
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  readonly gasUsed: bigint;
  /** Wei per unit of gas; a rollup's data fee is spread over the units, rounded up. */
  readonly effectiveGasPrice: bigint;
  readonly logs: readonly LogFact[];
}

export interface LogFact {
  readonly address: Address;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly logIndex: number;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  readonly txHash: TxHash;
}

/** Live price of block space, wei. */
export interface GasPrices {
  readonly baseFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  /** Suggested cap, which leaves room for the base fee to rise for several blocks. */
  readonly maxFeePerGas: bigint;
}

/** The fees that a transaction offers, in wei per gas. */
export type FeeCaps = Pick<GasPrices, "maxFeePerGas" | "maxPriorityFeePerGas">;

/**
 * The balance and allowance of an account in one currency, base units, read at one block.
 */
export interface AccountState {
  readonly blockNumber: bigint;
  readonly balance: bigint;
  /** For the requested spender; 2^256-1 for the native currency. */
  readonly allowance: bigint;
}

export interface CallPlan {
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
}

export type SimulationOutcome =
  | { readonly kind: "ok"; readonly gas: bigint }
  /** The node reports that the call reverts; `data` is the raw revert data, `reason` a readable text. */
  | { readonly kind: "reverts"; readonly data: Hex; readonly reason: string }
  /** The sender's native balance does not cover value plus gas. */
  | { readonly kind: "insufficientFunds" };

/** One account's signed authorization to run the code of `address` as its own (EIP-7702). */
export interface Authorization {
  /** 0 = any chain. */
  readonly chainId: number;
  /** The account whose code to run; the zero address removes the delegation. */
  readonly address: Address;
  /** The nonce that the signing account must have. */
  readonly nonce: number;
  readonly yParity: 0 | 1;
  readonly r: Hex32;
  readonly s: Hex32;
}

/** A call that may change the code of accounts before it runs. */
export interface TracedCall extends CallPlan {
  readonly authorizationList?: readonly Authorization[];
  /** The gas limit of the transaction. Absent: the required limit is determined. */
  readonly gas?: bigint;
}

export interface TraceOptions {
  readonly signal?: AbortSignal;
  /** Timeout of each request to the node, ms. Default: the connection's. */
  readonly deadlineMs?: number;
  /** A call that needs more gas than this counts as out of gas. Default: the block's gas limit. */
  readonly maxGas?: bigint;
  /** Margin that the caller will add to the limit, bps; the sum must fit into a block. Default: none. */
  readonly roomBps?: bigint;
  /**
   * Known native balance of the sender, in wei. If set, a call similar to an earlier one may be traced only
   * once, with the gas limit found earlier, and its effects are read from its calls instead of the whole
   * state: enough for a quote, but not for signing.
   */
  readonly senderBalanceWei?: bigint;
}

/** The state of an account before and after a call. */
export interface AccountChange {
  readonly balanceBefore: bigint;
  readonly balanceAfter: bigint;
  readonly nonceBefore: bigint;
  readonly nonceAfter: bigint;
  /** Whether the code was set, replaced or removed. */
  readonly codeChanged: boolean;
}

/** The effects of a call, including its own gas if it was priced. */
export type CallEffects =
  | {
      readonly kind: "seen";
      /** Logs of everything that did not revert, in order of emission. */
      readonly logs: readonly FrameLog[];
      /** Accounts that changed, by lower-case address. */
      readonly accounts: ReadonlyMap<Address, AccountChange>;
    }
  /** The node can show whether the call succeeds, but not its effects. */
  | { readonly kind: "unseen" };

/** A call within a traced one. */
export interface InnerCall {
  /** The caller: `msg.sender` of the called contract, lower case. */
  readonly from: Address;
  /** Lower case. */
  readonly to: Address;
  /** First four bytes of the call data, lower case; undefined if there are fewer. */
  readonly selector: Hex | undefined;
  /** Native value transferred to the called account, wei; 0 if the call or an enclosing call failed. */
  readonly value: bigint;
  /** The call data, if it looks like user operations for an entry point. */
  readonly userOperations: Hex | undefined;
}

/**
 * How a node shows the effects of a call: by traces, by `eth_simulateV1` (no inner calls, nonces or codes),
 * or not at all.
 */
export type EffectsView = "traced" | "simulated" | "unseen";

export type TraceOutcome =
  | {
      readonly kind: "ok";
      /**
       * The gas limit to use: with exactly this limit, the call had the same effects as with a whole block's
       * gas. It has no margin for state changes.
       */
      readonly gas: bigint;
      /** The gas used, after refunds. */
      readonly gasUsed: bigint;
      readonly effects: CallEffects;
      /** All inner calls at every depth; undefined if the node does not report them. */
      readonly calls: readonly InnerCall[] | undefined;
    }
  | { readonly kind: "reverts"; readonly failure: SimulationFailure }
  /** The sender's native balance does not cover value plus gas. */
  | { readonly kind: "insufficientFunds" };

/**
 * A node's answer to signed bytes. Everything else (timeouts, 5xx) is an RpcFault: the outcome is unknown, so
 * send again.
 */
export type BroadcastOutcome =
  | { readonly kind: "accepted" }
  /** The node already has these bytes, or they are mined. */
  | { readonly kind: "alreadyKnown" }
  /** The nonce is used, by this transaction or by another; only receipts show which. */
  | { readonly kind: "nonceTooLow" }
  /** Another transaction with this nonce is pending, and ours does not raise its fees enough. */
  | { readonly kind: "underpriced" }
  | { readonly kind: "insufficientFunds" }
  /** The node refuses these bytes permanently. */
  | { readonly kind: "rejected"; readonly reason: string };

/**
 * Reads of one chain. Calls in the same tick are batched: small reads in one HTTP request, logs and
 * transactions in another.
 */
export interface ChainReader {
  readonly chainId: number;
  /** The chain id that the node reports. */
  remoteChainId(): Promise<number>;
  head(): Promise<BlockRef>;
  block(number: bigint): Promise<BlockRef | undefined>;
  blockByHash(hash: Hex): Promise<BlockRef | undefined>;
  /**
   * Deposits in these blocks, in chain order.
   *
   * @throws RpcFault when an answer is about other blocks, or the node does not have all of them
   */
  depositsIn(range: BlockRange): Promise<DepositFact[]>;
  /** Deposits of one mined transaction; may be empty. */
  depositsOf(state: TransactionState): DepositFact[];
  /**
   * Top-ups by transfers to `solver` in these blocks (consecutive, ascending, of the chain that the caller
   * follows). Needs one log query and the blocks' transactions.
   *
   * @throws RpcFault when an answer is about other blocks
   */
  topUpsIn(solver: Address, blocks: readonly BlockRef[]): Promise<TopUpFact[]>;
  /**
   * Top-ups that are token transfers, found without reading whole blocks.
   *
   * @throws RpcFault as `depositsIn`
   */
  tokenTopUpsIn(solver: Address, range: BlockRange): Promise<TopUpFact[]>;
  /** Top-ups of one mined transaction; may be empty. */
  topUpsOf(solver: Address, state: TransactionState): TopUpFact[];
  transaction(hash: TxHash): Promise<TransactionState>;
  receipt(hash: TxHash): Promise<ReceiptFact | undefined>;
  /**
   * The transaction count of `account`, in the latest block or including the node's pool. With several
   * endpoints: the count that a quorum has reached (`agreed`, the default), or the highest count of any
   * endpoint. A nonce counts as free only if no endpoint shows it as used.
   */
  nonce(account: Address, tag: "latest" | "pending", count?: "agreed" | "highest"): Promise<number>;
  /** The transaction with which `account` used `nonce`, if it is in the blocks from…to. */
  transactionByNonce(account: Address, nonce: number, from: bigint, to: bigint): Promise<TxHash | undefined>;
  gasPrices(): Promise<GasPrices>;
  /** Balances of `account` in several currencies at the latest block, one multicall. */
  balances(
    account: Address,
    currencies: readonly Address[],
  ): Promise<{ blockNumber: bigint; balances: Map<Address, bigint> }>;
  /**
   * Balances of many accounts in several currencies, all at one block; undefined: the token did not respond.
   *
   * @throws RpcFault also if the node does not have the block (yet)
   */
  accountBalances(
    accounts: readonly Address[],
    currencies: readonly Address[],
    atBlock: bigint,
  ): Promise<readonly { account: Address; currency: Address; amount: bigint | undefined }[]>;
  /**
   * Payments of one currency to an account in the blocks from…to that logs or transactions show; undefined:
   * too many blocks to read.
   */
  paymentsTo(
    account: Address,
    currency: Address,
    from: bigint,
    to: bigint,
  ): Promise<readonly { from: Address; amount: bigint }[] | undefined>;
  /**
   * Balance and allowance. Reads in the same tick share a multicall, and results are cached until the next
   * head.
   */
  accountState(account: Address, currency: Address, spender: Address): Promise<AccountState>;
  hasCode(account: Address): Promise<boolean>;
  /** The current data fee of a transaction with this call on rollups, in wei; zero elsewhere. */
  dataFee(
    call: CallPlan & { readonly authorizationList?: readonly Authorization[] | undefined },
  ): Promise<bigint>;
  /**
   * A contract's return data for a call on the latest state (`0x` without a contract); undefined if it
   * reverts.
   */
  ask(to: Address, data: Hex): Promise<Hex | undefined>;
  /**
   * Simulates a call on the latest state. With `fees`, the call sees its real gas price, and the sender must
   * be able to pay for the gas at `maxFeePerGas`. Without `fees`, the gas price is zero, so a recipient can
   * distinguish the simulation from a payment.
   */
  simulate(from: Address, call: CallPlan, fees?: FeeCaps): Promise<SimulationOutcome>;
  /**
   * Simulates a call on the newest block's state at its real gas price, and returns all its effects or the
   * exact reason why it fails. A user operation that fails inside a successful call, and an authorization
   * that the chain would skip, are failures too. Throws RpcFault if the node does not answer.
   */
  trace(from: Address, call: TracedCall, fees: FeeCaps, options?: TraceOptions): Promise<TraceOutcome>;
}

/** Sends signed bytes. */
export interface ChainWriter {
  broadcast(raw: Hex): Promise<BroadcastOutcome>;
}

/**
 * Reports new heads: by subscription if the node offers one, by polling otherwise and whenever the socket is
 * silent.
 */
export interface HeadSource {
  /** The newest known head; undefined before the first. */
  readonly latest: Head | undefined;
  /**
   * Calls `listener` for every new head. Heads may be skipped, repeated, or replace one of equal height.
   * Returns a function that unsubscribes.
   */
  onHead(listener: (head: Head) => void): () => void;
  close(): Promise<void>;
}

/** One connected chain. */
export interface ChainConnection {
  readonly reader: ChainReader;
  readonly writer: ChainWriter;
  readonly heads: HeadSource;
  close(): Promise<void>;
}
