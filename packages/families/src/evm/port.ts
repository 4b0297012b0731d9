import type { Address, FrameLog, Hex, Hex32, SimulationFailure, TxHash } from "@causeway/domain";

/**
 * What every chain family can do for us, by question and not by protocol. A family fetches raw facts (I/O
 * files) and judges them (pure files); what is not there yet or not settled is a value, never an exception.
 * Exceptions are {@link RpcFault}s: the node's or the network's fault, retryable.
 */

/** One block as the trail keeps it. */
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
  /** Hashes of the blocks as far as the caller knows them: answers about others are refused. */
  readonly hashes: ReadonlyMap<bigint, Hex>;
}

/** A new head, with the moment (ms since epoch) at which this process first heard of it. */
export interface Head extends BlockRef {
  readonly seenAtMs: number;
}

/** Money that arrived at the depository, read from one canonical block. */
export interface DepositFact {
  readonly txHash: TxHash;
  /**
   * Position (0, 1, …) among the deposits of the same transaction that are alike in currency, amount,
   * depositor, sender and id: with these it names the deposit for good. Nothing else of the transaction or of
   * the configuration moves it, nor does a reorg.
   */
  readonly ordinal: number;
  readonly logIndex: number;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  /** Who is named as depositor: the event's depositor, or the token sender of a direct transfer. */
  readonly depositor: Address;
  /** Account that signed the transaction. */
  readonly sender: Address;
  /** Zero address = native. */
  readonly currency: Address;
  /** What the depository really received, smallest units. */
  readonly amount: bigint;
  /** The depository that received it, as bytes; absent: the configured one. */
  readonly depository?: Hex;
  /** The id the deposit carries; undefined when it carries none. */
  readonly id: Hex | undefined;
  /**
   * What the sender signed the transfer with, where a transfer cannot carry an id and wallets say by that
   * what it is for (the perpetuals exchange).
   */
  readonly nonce?: bigint;
  /** Unix seconds at which it happened, as the chain says; told wherever `nonce` is. */
  readonly timestamp?: bigint;
  /**
   * Oracles cannot attest its transaction (see `evm/attestable.ts`): a payment for it would never be repaid.
   */
  readonly isUnattestable?: true;
  /**
   * With `isUnattestable`: the node was too slow to tell, so an earlier reading of the same block stands, and
   * a later one may say otherwise.
   */
  readonly isAttestabilityUnknown?: true;
}

/** A transfer to the solver that credits an app balance, or was meant to; read from one canonical block. */
export interface TopUpFact {
  readonly txHash: TxHash;
  /**
   * Position among those of the same transaction that are alike in currency, amount, sender and wallet: with
   * these it names the top-up for good.
   */
  readonly ordinal: number;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  /** Whose money it was. */
  readonly sender: Address;
  /** Zero address = native. */
  readonly currency: Address;
  /** What arrived, smallest units. */
  readonly amount: bigint;
  /** Whom it credits; undefined when its marker names nobody for certain. */
  readonly wallet: Address | undefined;
}

/** A transaction as the chain knows it now. */
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
  /** Wei that it offers for a unit of gas at most; absent where the node does not say. */
  readonly maxFeePerGas?: bigint;
  /** Absent where the node does not say. */
  readonly gasLimit?: bigint;
}

export interface ReceiptFact {
  readonly txHash: TxHash;
  readonly status: "success" | "reverted";
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  readonly gasUsed: bigint;
  /**
   * Wei that a unit of gas did cost; what a rollup took for the bytes is spread over the units, rounded up.
   */
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
  /** Suggested cap: room for the base fee to rise for several blocks. */
  readonly maxFeePerGas: bigint;
}

/** What a transaction offers for its gas, wei. */
export type FeeCaps = Pick<GasPrices, "maxFeePerGas" | "maxPriorityFeePerGas">;

/**
 * What an account has, all read at one block. Keys of the maps are lower-case currency addresses (zero =
 * native).
 */
export interface AccountState {
  readonly blockNumber: bigint;
  readonly balance: bigint;
  /** Towards the asked spender; 2^256-1 for the native currency. */
  readonly allowance: bigint;
}

export interface CallPlan {
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
}

export type SimulationOutcome =
  | { readonly kind: "ok"; readonly gas: bigint }
  /** The chain itself says the call reverts; `data` is the raw revert data, `reason` a readable text. */
  | { readonly kind: "reverts"; readonly data: Hex; readonly reason: string }
  /** The sender lacks the native coin for value plus gas. */
  | { readonly kind: "insufficientFunds" };

/** One account's signed consent to run the code of `address` as its own (EIP-7702). */
export interface Authorization {
  /** 0 = any chain. */
  readonly chainId: number;
  /** Whose code; the zero address takes the code away again. */
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
  /** The limit it will be sent with; without one the limit it needs is looked for. */
  readonly gas?: bigint;
}

export interface TraceOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds for each question to the node; default the connection's. */
  readonly deadlineMs?: number;
  /**
   * More gas than this nobody would pay for: a call that needs it runs out of it. Default what a block has.
   */
  readonly maxGas?: bigint;
  /** Room that the caller will add to the limit, bps: a block has to hold it with that. Default none. */
  readonly roomBps?: bigint;
  /**
   * Native coin that the sender is known to have, wei. With it a call like one that was traced before may be
   * looked at once only, with the gas limit that was right then, and its effects on accounts are told by its
   * calls and not by the whole state: enough to promise, not enough to sign.
   */
  readonly senderHasWei?: bigint;
}

/** What an account had before a call and has after it. */
export interface AccountChange {
  readonly balanceBefore: bigint;
  readonly balanceAfter: bigint;
  readonly nonceBefore: bigint;
  readonly nonceAfter: bigint;
  /** The code is another one afterwards: put there, replaced or taken away. */
  readonly codeChanged: boolean;
}

/** What a call would leave behind, its own gas included where it was priced. */
export type CallEffects =
  | {
      readonly kind: "seen";
      /** Of everything that did not revert, in the order in which it was emitted. */
      readonly logs: readonly FrameLog[];
      /** Accounts that changed, by lower-case address. */
      readonly accounts: ReadonlyMap<Address, AccountChange>;
    }
  /** The node can tell whether the call succeeds, but not what it does. */
  | { readonly kind: "unseen" };

/** A call within a traced one. */
export interface InnerCall {
  /** Whose call it is: `msg.sender` of the called, lower case. */
  readonly from: Address;
  /** Lower case. */
  readonly to: Address;
  /** First four bytes of its data, lower case; undefined when it has fewer. */
  readonly selector: Hex | undefined;
  /** Native coin that it moves to the called account, wei; 0 when it, or a call around it, failed. */
  readonly coin: bigint;
  /** Its data when they begin like user operations for an entry point. */
  readonly userOperations: Hex | undefined;
}

/**
 * How a node tells what a call would do: by traces, by `eth_simulateV1` (no inner calls, nonces or codes), or
 * not at all.
 */
export type EffectsView = "traced" | "simulated" | "unseen";

export type TraceOutcome =
  | {
      readonly kind: "ok";
      /**
       * The limit to give it: with this very limit it was seen to do the same as with as much gas as a block
       * has. No room for a changed state in it.
       */
      readonly gas: bigint;
      /** What it uses of that, after refunds. */
      readonly gasUsed: bigint;
      readonly effects: CallEffects;
      /** Every call that it makes, at whatever depth; undefined where the node does not tell. */
      readonly calls: readonly InnerCall[] | undefined;
    }
  | { readonly kind: "reverts"; readonly failure: SimulationFailure }
  /** The sender lacks the native coin for value plus gas. */
  | { readonly kind: "insufficientFunds" };

/**
 * How a node answered to signed bytes. Everything else (timeouts, 5xx) is an RpcFault: not known, send again.
 */
export type BroadcastOutcome =
  | { readonly kind: "accepted" }
  /** The node has these very bytes already, or they are mined. */
  | { readonly kind: "alreadyKnown" }
  /** The nonce is used up: by these bytes or by others; only receipts tell. */
  | { readonly kind: "nonceTooLow" }
  /** Another transaction with this nonce waits and ours does not pay enough more. */
  | { readonly kind: "underpriced" }
  | { readonly kind: "insufficientFunds" }
  /** The node refuses these bytes for good. */
  | { readonly kind: "rejected"; readonly reason: string };

/**
 * Reads of one chain. All methods batch with others of the same tick: small reads into one HTTP request, logs
 * and transactions into another.
 */
export interface ChainReader {
  readonly chainId: number;
  /** Chain id as the node says it. */
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
  /** Deposits of one mined transaction; empty when it holds none. */
  depositsOf(state: TransactionState): DepositFact[];
  /**
   * Top-ups by transfers to `solver` in these blocks (consecutive, ascending, of the chain that the caller
   * follows): one log query, and the blocks' transactions.
   *
   * @throws RpcFault when an answer is about other blocks
   */
  topUpsIn(solver: Address, blocks: readonly BlockRef[]): Promise<TopUpFact[]>;
  /**
   * Those of them that are transfers of tokens, without reading whole blocks.
   *
   * @throws RpcFault as `depositsIn`
   */
  tokenTopUpsIn(solver: Address, range: BlockRange): Promise<TopUpFact[]>;
  /** Top-ups of one mined transaction; empty when it holds none. */
  topUpsOf(solver: Address, state: TransactionState): TopUpFact[];
  transaction(hash: TxHash): Promise<TransactionState>;
  receipt(hash: TxHash): Promise<ReceiptFact | undefined>;
  /**
   * Number of transactions of `account`, at the given block number, or in the latest block, or with the
   * node's pool.
   */
  nonce(account: Address, at: "latest" | "pending"): Promise<number>;
  /** The transaction by which `account` used `nonce`, when that was in the blocks from…to. */
  transactionByNonce(account: Address, nonce: number, from: bigint, to: bigint): Promise<TxHash | undefined>;
  gasPrices(): Promise<GasPrices>;
  /** Balances of `account` in several currencies at the latest block, one multicall. */
  balances(
    account: Address,
    currencies: readonly Address[],
  ): Promise<{ blockNumber: bigint; balances: Map<Address, bigint> }>;
  /**
   * Balances of many accounts in several currencies, all at one block; undefined: the token did not answer.
   *
   * @throws RpcFault also when the node does not know the block (yet)
   */
  heldAmounts(
    accounts: readonly Address[],
    currencies: readonly Address[],
    atBlock: bigint,
  ): Promise<readonly { account: Address; currency: Address; amount: bigint | undefined }[]>;
  /**
   * Payments of one currency to an account in the blocks from…to, as far as they leave a trace; undefined:
   * too many blocks would have to be read.
   */
  paymentsTo(
    account: Address,
    currency: Address,
    from: bigint,
    to: bigint,
  ): Promise<readonly { from: Address; amount: bigint }[] | undefined>;
  /**
   * Balance and allowance: all questions of one tick go into one multicall, answers are kept until the next
   * head.
   */
  accountState(account: Address, currency: Address, spender: Address): Promise<AccountState>;
  hasCode(account: Address): Promise<boolean>;
  /**
   * Wei that the bytes of a transaction with this call cost now beside its gas, as on rollups; zero
   * elsewhere.
   */
  dataFee(
    call: CallPlan & { readonly authorizationList?: readonly Authorization[] | undefined },
  ): Promise<bigint>;
  /**
   * What a contract answers to a call on the latest state (`0x` where there is no contract); undefined when
   * it reverts.
   */
  ask(to: Address, data: Hex): Promise<Hex | undefined>;
  /**
   * Runs a call on the latest state without sending it. With `fees` the call sees the gas price that it would
   * see when sent, and the sender must bear its gas at `maxFeePerGas`; without, a recipient can tell it from
   * a payment by its gas price of zero.
   */
  simulate(from: Address, call: CallPlan, fees?: FeeCaps): Promise<SimulationOutcome>;
  /**
   * Runs a call on the newest block's state without sending it, at the price it will be sent with, and tells
   * all that it does or exactly why it cannot. A user operation that fails inside a call that succeeds, and
   * an authorization that the chain would skip, are failures too. Throws RpcFault for whatever the node did
   * not say.
   */
  trace(from: Address, call: TracedCall, fees: FeeCaps, options?: TraceOptions): Promise<TraceOutcome>;
}

/** Sends signed bytes. */
export interface ChainWriter {
  broadcast(raw: Hex): Promise<BroadcastOutcome>;
}

/**
 * Tells of new heads; by subscription where the node offers one, by polling otherwise and whenever the socket
 * is silent.
 */
export interface HeadSource {
  /** The newest head heard of; undefined before the first. */
  readonly latest: Head | undefined;
  /**
   * Calls `listener` for every new head (heads may be skipped, repeated or replace one of equal height).
   * Returns the unsubscriber.
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
