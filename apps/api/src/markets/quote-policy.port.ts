import type { FeePolicy, StepGas } from "@causeway/domain";

/** Gas units of one payment by the solver. */
export interface PaymentGas {
  readonly native: bigint;
  /** Through the router, because a contract would interpret the order id as a call. */
  readonly nativeToContract: bigint;
  readonly erc20: bigint;
}

/** Gas units of the router in addition to a swap. */
export interface RoutedGas {
  /** A user transaction to the router with native tokens, before it does anything with them. */
  readonly native: bigint;
  /**
   * A user transaction with a token that the approval proxy pulls, before it does anything with the token.
   */
  readonly pulled: bigint;
  readonly wrap: bigint;
  readonly unwrap: bigint;
  readonly depositNative: bigint;
  readonly depositErc20: bigint;
  /** Paying the recipient, or verifying that the recipient was paid. */
  readonly pay: bigint;
}

/** Gas amounts for pricing quotes. */
export interface QuoteGas {
  /** The user's own transactions. */
  readonly steps: StepGas;
  readonly fill: PaymentGas;
  readonly refund: PaymentGas;
  /** A fill that swaps the solver's inventory or makes calls, without the swap and the calls themselves. */
  readonly swapFill: bigint;
  readonly routed: RoutedGas;
}

/** The configuration of quotes. */
export interface QuotePolicy extends FeePolicy {
  readonly gas: QuoteGas;
  /** Maximum `ttl` of a quote request, seconds. */
  readonly maxTtlSeconds: number;
  /** Name of the solver's home chain in orders. */
  readonly solverChainName: string;
}
