import type { ChainConnection, ChainRail, EffectsView, GasPrices, Head, PayingRail } from "@causeway/chains";
import type { Address, Chain, Currency, RailChain } from "@causeway/domain";
import type { RailUsers } from "./rail-steps.port.ts";

/**
 * The newest facts of one chain, refreshed once per block and kept in memory: what a quote needs without
 * asking the chain.
 */
export interface ChainPulse {
  /** Newest head; undefined before the first one arrived. */
  head(): Head | undefined;
  /** @throws ServiceError RPC_HTTP_ERROR when nothing fresh is known. */
  gasPrices(): GasPrices;
  /**
   * What the solver holds of a configured currency, smallest units, at the newest block read.
   *
   * @throws ServiceError RPC_HTTP_ERROR when nothing fresh is known.
   */
  solverBalance(currency: Address): { readonly amount: bigint; readonly blockNumber: bigint };
  /**
   * What an account of ours that only pays for gas has of the native token, wei, at the newest block read.
   * @throws ServiceError RPC_HTTP_ERROR when nothing fresh is known; RangeError for an account that is not
   * watched
   */
  gasBalance(account: Address): { readonly amount: bigint; readonly blockNumber: bigint };
  /** True when no block came for much longer than the chain's block time. */
  lagging(): boolean;
  /** Time since the newest head arrived, or since the start while none has, ms. */
  headAgeMs(): number;
  /** How the node tells what a call would do; undefined or absent: it was not asked yet. */
  effectsView?(): EffectsView | undefined;
  /** Median time of the newest calls to the node, ms; undefined or absent: there were too few. */
  latencyMs?(): number | undefined;
}

export interface ConnectedChain {
  readonly chain: Chain;
  readonly connection: ChainConnection;
  readonly pulse: ChainPulse;
}

/** The newest facts of a chain that is reached by a rail, refreshed in the background. */
export interface RailPulse {
  /**
   * What the solver holds of a configured currency, smallest units.
   *
   * @throws ServiceError RPC_HTTP_ERROR when nothing fresh is known.
   */
  solverBalance(currency: Address): bigint;
  /**
   * What a payment in this currency costs the solver, smallest units of the native currency.
   *
   * @throws ServiceError RPC_HTTP_ERROR when nothing fresh is known.
   */
  paymentCost(currency: Address): bigint;
  /** True when nothing was heard of it for much longer than its block time. */
  lagging(): boolean;
  /** Time since its state was last read, or since the start while it was not, ms. */
  headAgeMs(): number;
}

/** A chain without account nonces (Solana, Bitcoin, the perpetuals exchange), and how it is reached. */
export interface ConnectedRail<R extends ChainRail = ChainRail> {
  readonly chain: RailChain;
  readonly rail: R;
  readonly pulse: RailPulse;
  /** Undefined: this build makes no steps for users there, and nothing is quoted from it. */
  readonly users?: RailUsers;
}

/** A rail on which this process can pay. */
export type ConnectedPayingRail = ConnectedRail<PayingRail>;

/** A chain that a request comes from or goes to, however it is reached. */
export type RequestEnd<R extends ChainRail = ChainRail> = ConnectedChain | ConnectedRail<R>;

/** Every enabled chain of this instance. */
export interface ChainDirectory<R extends ChainRail = ChainRail> {
  /** EVM chains. */
  readonly all: readonly ConnectedChain[];
  /** Chains that are reached by a rail. */
  readonly rails: readonly ConnectedRail<R>[];
  /** Undefined when no rail chain has this id. */
  rail(chainId: number): ConnectedRail<R> | undefined;
  /** What is known of any chain, whatever its family; undefined when it is not configured or not enabled. */
  profile(chainId: number): Chain | RailChain | undefined;
  /** Undefined when no EVM chain has this id, or it is not enabled. */
  get(chainId: number): ConnectedChain | undefined;
  /** The configured currency; undefined when unknown on that chain. */
  currency(chainId: number, address: Address): Currency | undefined;
}
