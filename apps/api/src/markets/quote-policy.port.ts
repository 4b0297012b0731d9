import type { FeePolicy, StepGas } from "@causeway/domain";

/** Gas units of one payment by the solver. */
export interface PaymentGas {
  readonly native: bigint;
  /** By the router: a contract would take the order id for a call. */
  readonly nativeToContract: bigint;
  readonly erc20: bigint;
}

/** Gas units of what the router does beside an exchange. */
export interface RoutedGas {
  /** A transaction of the user's to the router, with native coin, before anything is done with it. */
  readonly native: bigint;
  /** The same with a token that the approval proxy pulls. */
  readonly pulled: bigint;
  readonly wrap: bigint;
  readonly unwrap: bigint;
  readonly depositNative: bigint;
  readonly depositErc20: bigint;
  /** Paying the recipient, or seeing to it that he was paid. */
  readonly pay: bigint;
}

/** Gas that quotes are priced with. */
export interface QuoteGas {
  /** The user's own transactions. */
  readonly steps: StepGas;
  readonly fill: PaymentGas;
  readonly refund: PaymentGas;
  /** A fill that exchanges what the solver holds, all but the exchange itself. */
  readonly exchangedFill: bigint;
  readonly routed: RoutedGas;
}

/** Everything configured about quotes. */
export interface QuotePolicy extends FeePolicy {
  readonly gas: QuoteGas;
  /** Longest `ttl` a client may ask for, seconds. */
  readonly maxTtlSeconds: number;
  /** Name of the chain that orders give as the solver's home. */
  readonly solverChainName: string;
}
