import type {
  ChainConnection,
  NonEvmConnection,
  EffectsView,
  EndpointStatus,
  GasPrices,
  Head,
  PayingConnection,
} from "@causeway/chains";
import type { Address, Chain, Currency, Hex, NonEvmChain } from "@causeway/domain";
import type { NonEvmUsers } from "@causeway/chains";

/** The newest facts of a chain of any family, kept in memory, so that quotes do not wait for the chain. */
export interface Pulse {
  /**
   * The solver's balance of a configured currency, base units.
   * @throws ServiceError RPC_HTTP_ERROR when no fresh value is known
   */
  solverBalance(currency: Address): { readonly amount: bigint };
  /**
   * The cost of a payment in this currency, base units of the native currency, without the chain's margin.
   * @param gas units that it uses, on chains with gas
   * @throws ServiceError RPC_HTTP_ERROR when no fresh value is known
   */
  paymentCost(currency: Address, gas: bigint): bigint;
  /** True when the chain was silent for much longer than its block time. */
  isLagging(): boolean;
  /**
   * Time since the newest head arrived, ms; since the start of the process if there was no head. On non-EVM
   * chains: time since the state was last read, or since the newest head once it is late.
   */
  headAgeMs(): number;
  /** Newest head; undefined before the first one arrived. Absent: blocks are not tracked. */
  head?(): Head | undefined;
  /** How the node reports the effects of a call; undefined or absent: not probed yet. */
  effectsView?(): EffectsView | undefined;
  /** Median time of the newest calls to the node, ms; undefined or absent: too few calls. */
  latencyMs?(): number | undefined;
  /** The endpoints that the chain is read from, in the order of the configuration. Absent: not tracked. */
  endpoints?(): readonly EndpointStatus[];
}

/** The newest facts of one EVM chain, refreshed once per block. */
export interface ChainPulse extends Pulse {
  head(): Head | undefined;
  /** @throws ServiceError RPC_HTTP_ERROR when no fresh value is known */
  gasPrices(): GasPrices;
  /**
   * The solver's balance of a configured currency, base units, at the newest block read.
   * @throws ServiceError RPC_HTTP_ERROR when no fresh value is known
   */
  solverBalance(currency: Address): { readonly amount: bigint; readonly blockNumber: bigint };
  /**
   * The native balance of one of our accounts that only pays gas, wei, at the newest block read.
   * @throws ServiceError RPC_HTTP_ERROR when no fresh value is known; RangeError for an account that is not
   * watched
   */
  gasBalance(account: Address): { readonly amount: bigint; readonly blockNumber: bigint };
}

/** Optional members of chains of any family. */
interface Connected {
  /** Requests wait for a share of the endpoint's rate limit. */
  readonly isRateLimited?: true;
  /**
   * The cost of paying this account, base units of the native currency; at least the usual cost, and it may
   * rise later. Absent: always the usual cost.
   * @throws RpcFault if the chain does not answer; ServiceError RPC_HTTP_ERROR if its state is stale
   */
  costOfPaying?(currency: Hex, account: Hex): Promise<bigint>;
}

export interface ConnectedChain extends Connected {
  readonly chain: Chain;
  readonly connection: ChainConnection;
  readonly pulse: ChainPulse;
  readonly users: Pick<NonEvmUsers, "balance">;
}

/** An EVM chain as the engine needs it to sign, send and follow transactions. */
export interface LaneChain {
  readonly chain: Pick<Chain, "id" | "name" | "contracts">;
  readonly connection: Pick<ChainConnection, "reader" | "writer">;
}

/** An EVM chain on which the service calls contracts, even if no watcher follows it. */
export interface CalledChain extends LaneChain {
  /**
   * The newest final block, and the nonces that the account had used at it. Undefined: no block is final.
   * @throws RpcFault
   */
  final(account: Address): Promise<{ readonly number: bigint; readonly nonce: number } | undefined>;
  /** Wei, at the newest block. @throws RpcFault */
  nativeBalance(account: Address): Promise<bigint>;
}

/** The newest facts of a non-EVM chain, refreshed in the background. */
export interface NonEvmPulse extends Pulse {
  paymentCost(currency: Address): bigint;
}

/** A chain without account nonces (Solana, Bitcoin, Hyperliquid), and the connection to it. */
export interface ConnectedNonEvmChain<R extends NonEvmConnection = NonEvmConnection> extends Connected {
  readonly chain: NonEvmChain;
  readonly connection: R;
  readonly pulse: NonEvmPulse;
  /** Undefined: this build cannot make steps for its users, so nothing is quoted from it. */
  readonly users?: NonEvmUsers;
}

/** A non-EVM chain on which this process can pay. */
export type TransferChain = ConnectedNonEvmChain<PayingConnection>;

/** A chain of any family, and the connection to it. */
export type AnyConnectedChain<R extends NonEvmConnection = NonEvmConnection> =
  | ConnectedChain
  | ConnectedNonEvmChain<R>;

/** Every enabled chain of this instance. */
export interface ChainDirectory<R extends NonEvmConnection = NonEvmConnection> {
  /** EVM chains. */
  readonly evmChains: readonly ConnectedChain[];
  /** Non-EVM chains. */
  readonly nonEvmChains: readonly ConnectedNonEvmChain<R>[];
  /** Undefined when no non-EVM chain has this id. */
  nonEvm(chainId: number): ConnectedNonEvmChain<R> | undefined;
  /** The configured facts of a chain of any family; undefined when it is not configured or not enabled. */
  profile(chainId: number): Chain | NonEvmChain | undefined;
  /** Undefined when the id is not of an enabled EVM chain. */
  get(chainId: number): ConnectedChain | undefined;
  /** The configured currency; undefined when unknown on that chain. */
  currency(chainId: number, address: Address): Currency | undefined;
}
