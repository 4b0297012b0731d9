import type {
  Address,
  AddressFunds,
  DepositId,
  FailReason,
  Hex,
  OrderId,
  RefundFailReason,
  RequestId,
  RequestState,
  RequestTerms,
  TxHash,
} from "@causeway/domain";

import type { LaneCall, Leg } from "./leg.port.ts";

/** A request with its state, as locked for a transition. */
export interface RequestRecord {
  readonly terms: RequestTerms;
  readonly state: RequestState;
  readonly inTxHashes: readonly TxHash[];
  readonly txHashes: readonly TxHash[];
  readonly refundTxHashes: readonly TxHash[];
  readonly updatedAtMs: number;
  /** The request that replaced it: money at their deposit address belongs to that one. */
  readonly supersededBy?: RequestId;
}

/** The fields that a status response needs. */
export interface StatusRecord {
  readonly requestId: RequestId;
  readonly state: RequestState;
  readonly originChainId: number;
  readonly destinationChainId: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** When the payment is due. */
  readonly payByMs: number;
  readonly inTxHashes: readonly TxHash[];
  readonly txHashes: readonly TxHash[];
  readonly refundTxHashes: readonly TxHash[];
  /** The request that replaced it, for another amount at the same deposit address. */
  readonly supersededBy?: RequestId;
  /** The rule of the policy that its next payment waits for. Absent: none. */
  readonly heldBy?: string;
  /** Absent: it has no deposit address, or the address has no funds. */
  readonly addressFunds?: AddressFunds;
}

export type DepositDisposition = "accepted" | "refund" | "unattributed";
export type RefundState = "none" | "sent" | "final" | "impossible";

/** A transfer seen at a depository. */
export interface DepositRecord {
  readonly id: DepositId;
  readonly chainId: number;
  readonly txHash: TxHash;
  readonly ordinal: number;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  readonly canonical: boolean;
  readonly confirmAtBlock: bigint;
  readonly depositor: Address;
  readonly sender: Address;
  readonly currency: Address;
  readonly amount: bigint;
  /** The depository that received it. Absent: the configured one. */
  readonly depository?: Hex;
  readonly orderId: OrderId | undefined;
  readonly requestId: RequestId | undefined;
  readonly disposition: DepositDisposition;
  readonly reason: FailReason | undefined;
  readonly refundState: RefundState;
  readonly refundFailReason: RefundFailReason | undefined;
  /** Why settlement can never repay the refund. Absent: it can, or there is no refund. */
  readonly unrepaidReason?: string;
  /** Why its refund waits or cannot be made automatically, if known. */
  readonly refundWaits?: string;
  /** When the operator exempted its refund from the daily limit, ms since epoch. Absent: never. */
  readonly refundReleasedAtMs?: number;
  /** Oracles cannot attest its transaction. */
  readonly isUnattestable?: true;
  readonly seenAtMs: number;
}

/** A same-chain transfer reported for a request of kind `send`. */
export interface SendRecord {
  readonly chainId: number;
  readonly txHash: TxHash;
  readonly requestId: RequestId;
  /** The signer of the transaction. */
  readonly sender: Address;
  readonly blockNumber: bigint | undefined;
  readonly blockHash: Hex | undefined;
  readonly reportedAtMs: number;
}

/** The purpose of a nonce, decided before it is allocated. */
export interface SlotPlan {
  readonly chainId: number;
  readonly sender: Address;
  readonly leg: Leg;
  readonly call: LaneCall;
  readonly gasLimit: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly outflow: { readonly currency: Address; readonly amount: bigint };
  /** The amount that the recipient of a fill gets, in base units of the destination currency. */
  readonly delivers?: bigint;
  /** After this time a payment that is not mined is replaced by a cancel transaction. */
  readonly cancelAfterMs: number;
}

export type SlotState = "open" | "mined" | "final" | "dead";

/** One nonce and the leg it pays. */
export interface Slot extends SlotPlan {
  readonly id: string;
  readonly nonce: number;
  readonly state: SlotState;
  readonly cancelReason: FailReason | undefined;
  readonly minedAttempt: number | undefined;
  readonly minedBlockNumber: bigint | undefined;
  readonly minedBlockHash: Hex | undefined;
  readonly minedStatus: "success" | "reverted" | undefined;
  readonly gasUsed: bigint | undefined;
  /** Wei per gas. */
  readonly effectiveGasPrice: bigint | undefined;
  readonly unexplainedSince: bigint | undefined;
  readonly createdAtMs: number;
  /** Signed variants, oldest first. */
  readonly attempts: readonly Attempt[];
}

export type AttemptKind = "pay" | "noop";

/** Signed bytes for a slot. */
export interface Attempt {
  readonly n: number;
  readonly kind: AttemptKind;
  /** The signed bytes. `0x` once they are pruned: 30 days after the payment became final. */
  readonly raw: Hex;
  readonly txHash: TxHash;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly createdAtMs: number;
  /** When it was last broadcast. */
  readonly broadcastAtMs: number | undefined;
  /** Since when nodes have had it without interruption; a rebroadcast does not change that. */
  readonly offeredSinceMs: number | undefined;
  /** When a node first accepted it, whatever happened later. Absent: no node has. */
  readonly firstBroadcastAtMs?: number;
}
