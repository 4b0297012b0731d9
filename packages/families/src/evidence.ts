import type { Address, Hex, Hex32 } from "@causeway/domain";

/** How far a chain is final. */
export interface FinalHead {
  /** Number of the block; slot. */
  readonly height: bigint;
  /** Unix seconds of the block; undefined when the node does not return it with the height. */
  readonly timestamp: bigint | undefined;
}

export type Evidence<T> =
  | { readonly kind: "final"; readonly value: T }
  /** Seen, but it may still be reorged out. */
  | { readonly kind: "notFinal"; readonly reason: string; readonly retryAfterSeconds: number }
  /** The chain does not know the transaction. */
  | { readonly kind: "absent" }
  /**
   * Final, and it contradicts what was claimed: the transaction failed, came too late, does not name the
   * order, …
   */
  | {
      readonly kind: "refuted";
      readonly reason: string;
      /** It concerns what this endpoint does not show, not the chain: another endpoint may show it. */
      readonly ofEndpoint?: true;
    };

export interface TransactionDeposits {
  /** The depository that received, in the family's address format. */
  readonly depository: string;
  readonly deposits: readonly DepositEvidence[];
  /** Unix seconds of the block that holds the transaction. */
  readonly timestamp: bigint;
  /** Of that block; only where block times are not in the order of blocks (Bitcoin). */
  readonly height?: bigint;
}

/** One deposit. Addresses and currencies in the family's canonical format (lower case on EVM chains). */
export interface DepositEvidence {
  /**
   * Third part of the on-chain id. On EVM chains the block-wide log index: of the Transfer where there is
   * one, else of the event.
   */
  readonly index: string;
  readonly depositor: string;
  readonly currency: string;
  readonly amount: bigint;
  /** 32 bytes; undefined when it carries none. */
  readonly depositId: Hex32 | undefined;
  /**
   * Only a token's own Transfer proves it, and it names no order: any contract can emit such a log at little
   * cost.
   */
  readonly isBare?: true;
}

/**
 * What a paying transaction is asked about; all of one order's payments at once, so that no transfer is
 * counted twice.
 */
export interface PaymentQuestion {
  readonly orderId: Hex32;
  /** The account that signed the order, as EVM chains write it. Payments may come from others. */
  readonly solver: Address;
  /** Unix seconds; a block that is certainly later than this refutes (`headerSkewSeconds`). */
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
   * What the payer gave each recipient of the question, less what the recipient gave back in the same
   * transaction, base units; never negative. See ADR 22.
   */
  readonly amounts: readonly bigint[];
  /** Unix seconds of the block that holds the transaction. */
  readonly timestamp: bigint;
  /** As in {@link TransactionDeposits}. */
  readonly height?: bigint;
}

export interface WithdrawalAnswer {
  /** The family's id of the payload. */
  readonly withdrawalId: Hex32;
  /** The depository that paid; for an unused payload that names none, the present one. */
  readonly depository: string;
  /**
   * Only of an unused payload that names no depository: former depositories that it may be meant for instead.
   */
  readonly formerDepositories?: readonly string[];
  /** `pending`: neither executed nor impossible at the final block. */
  readonly status: "pending" | "executed" | "expired";
  /** What the payload pays. */
  readonly recipient: string;
  readonly currency: string;
  readonly amount: bigint;
}
