import type { ChainConnection, GasPrices, Head } from "@causeway/chains";
import type { Address, Chain, Currency } from "@causeway/domain";

/** The newest facts of one chain, refreshed once per block and kept in memory: what a quote needs without asking the chain. */
export interface ChainPulse {
  /** Newest head; undefined before the first one arrived. */
  head(): Head | undefined;
  /** @throws ServiceError RPC_HTTP_ERROR when nothing fresh is known. */
  gasPrices(): GasPrices;
  /** What the solver holds of a configured currency, smallest units, at the newest block read. @throws ServiceError RPC_HTTP_ERROR when nothing fresh is known. */
  solverBalance(currency: Address): { readonly amount: bigint; readonly blockNumber: bigint };
  /** Native coin of the executor, wei, at the newest block read. @throws ServiceError RPC_HTTP_ERROR when nothing fresh is known; RangeError without an executor */
  executorBalance(): { readonly amount: bigint; readonly blockNumber: bigint };
  /** True when no block came for much longer than the chain's block time. */
  lagging(): boolean;
}

export interface ConnectedChain {
  readonly chain: Chain;
  readonly connection: ChainConnection;
  readonly pulse: ChainPulse;
}

/** Every enabled chain of this instance. */
export interface ChainDirectory {
  readonly all: readonly ConnectedChain[];
  /** Undefined when the chain is not configured or not enabled. */
  get(chainId: number): ConnectedChain | undefined;
  /** The configured currency; undefined when unknown on that chain. */
  currency(chainId: number, address: Address): Currency | undefined;
}
