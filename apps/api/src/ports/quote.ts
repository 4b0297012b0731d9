import type { Address, FeePolicy, Hex32, RequestTerms, StepGas } from "@causeway/domain";
import type { NewDepositAddress } from "./deposit-addresses.ts";

/** Unpredictable bytes as an argument. */
export interface Random {
  bytes32(): Hex32;
}

/** Where fresh quotes are kept. */
export interface QuotedRequests {
  /**
   * Settles when the terms are committed, with the address that they are paid to: a deposit that comes a
   * moment later must find them.
   */
  insertQuoted(terms: RequestTerms, address?: NewDepositAddress): Promise<void>;
}

/** Inventory that payments under way will still take; the balances read from the chain do not show it yet. */
export interface Reservations {
  /** Smallest units of `currency` on this chain. */
  reserved(chainId: number, currency: Address): bigint;
}

/**
 * Whether recipients are contracts, as of some minutes ago: decides how a native payment is made, and so what
 * its gas costs.
 */
export interface RecipientCodes {
  hasCode(chainId: number, recipient: Address): boolean | Promise<boolean>;
}

/** How long routes take, as this instance measured it. */
export interface RouteTimings {
  /** Seconds from the deposit transaction to the mined fill, for deposits that need so many confirmations. */
  estimateSeconds(originChainId: number, destinationChainId: number, confirmations: number): number;
}

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
