import type { FundsPlace, NextAction, PublicStatus, RequestId } from "@causeway/domain";

/** The wire form of a request's status. */
export interface StatusView {
  readonly requestId: RequestId;
  readonly status: PublicStatus;
  /** In the format of their chains. */
  readonly inTxHashes: readonly string[];
  readonly txHashes: readonly string[];
  readonly refundTxHashes: readonly string[];
  readonly updatedAtMs: number;
  readonly quoteCreatedAtMs: number;
  readonly originChainId: number;
  readonly destinationChainId: number;
  /** `N/A` unless the request failed or was refunded. */
  readonly failReason: string;
  readonly refundFailReason: string;
  readonly final: boolean;
  readonly fundsAt: FundsPlace;
  readonly nextAction: NextAction;
  /** Why the next payment of the request waits. Absent: the policy does not hold it. */
  readonly heldReason?: string;
  /** When `nextAction` changes without an event, ms; absent if it does not. */
  readonly payByMs?: number;
  readonly pollAfterMs: number;
  /** Only if the status is `failure`; starts with `Transaction failed`. */
  readonly details?: string | undefined;
  /**
   * All other fields describe that request: it replaced this one when a different amount arrived at its
   * deposit address.
   */
  readonly supersededByRequestId?: RequestId;
}
