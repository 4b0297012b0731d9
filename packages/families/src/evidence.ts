import type { Address, Hex, Hex32 } from "@causeway/domain";

/** The newest final block of a chain. */
export interface FinalHead {
  /** Block number or slot. */
  readonly height: bigint;
  /** Unix seconds of the block; undefined if the node does not return it with the height. */
  readonly timestamp: bigint | undefined;
}

export type Evidence<T> =
  | { readonly kind: "final"; readonly value: T }
  /** The transaction was seen, but may still be reorged out. */
  | { readonly kind: "notFinal"; readonly reason: string; readonly retryAfterSeconds: number }
  /** The chain does not know the transaction. */
  | { readonly kind: "absent" }
  /** Final, but contradicts the claim: the transaction failed, was too late, does not name the order, … */
  | {
      readonly kind: "refuted";
      readonly reason: string;
      /** This endpoint does not have the data; another endpoint may. */
      readonly ofEndpoint?: true;
    };

export interface TransactionDeposits {
  /** The depository that received the deposits, in the family's address format. */
  readonly depository: string;
  readonly deposits: readonly DepositEvidence[];
  /** Unix seconds of the transaction's block. */
  readonly timestamp: bigint;
  /** Height of that block; only if block times are not monotonic (Bitcoin). */
  readonly height?: bigint;
}

/** One deposit. Addresses and currencies in the family's canonical format (lower case on EVM chains). */
export interface DepositEvidence {
  /**
   * Third part of the on-chain id. On EVM chains the block-wide log index of the Transfer if there is one,
   * otherwise of the event.
   */
  readonly index: string;
  readonly depositor: string;
  readonly currency: string;
  readonly amount: bigint;
  /** 32 bytes; undefined if the deposit carries none. */
  readonly depositId: Hex32 | undefined;
  /** Proven only by a Transfer event without an order id, which any contract can emit cheaply. */
  readonly isBare?: true;
}

/**
 * A question about a paying transaction. It contains all payments of an order, so that no transfer counts
 * twice.
 */
export interface PaymentQuestion {
  readonly orderId: Hex32;
  /** The account that signed the order, in EVM format. Payments may come from other accounts. */
  readonly solver: Address;
  /** Unix seconds; a block that is certainly later refutes the payment (`headerSkewSeconds`). */
  readonly deadline: number;
  /** The order's `extraData` of this side (EVM: the fill contract, ABI-encoded; `0x`: none). */
  readonly extraData: Hex;
  /** Distinct pairs, in canonical format. */
  readonly receipts: readonly { readonly recipient: string; readonly currency: string }[];
  /** The order's encoded calls, in order; all must have been executed. */
  readonly calls: readonly Hex[];
}

export interface PaymentAnswer {
  /**
   * What the payer paid each recipient of the question, in its order, less what the recipient returned in the
   * same transaction, base units; never negative. See ADR 22.
   */
  readonly amounts: readonly bigint[];
  /** Unix seconds of the transaction's block. */
  readonly timestamp: bigint;
  /** As in {@link TransactionDeposits}. */
  readonly height?: bigint;
}

export interface WithdrawalAnswer {
  /** The family's id of the payload. */
  readonly withdrawalId: Hex32;
  /** The depository that paid; for an unused payload that does not name one, the current one. */
  readonly depository: string;
  /** Only for an unused payload that does not name a depository: former depositories that it may be for. */
  readonly formerDepositories?: readonly string[];
  /** `pending`: neither executed nor impossible at the final block. */
  readonly status: "pending" | "executed" | "expired";
  /** The payment of the payload. */
  readonly recipient: string;
  readonly currency: string;
  readonly amount: bigint;
}
