import type { FundsPlace, NextAction, PublicStatus, RequestId } from "@causeway/domain";

/** Where a request stands, in the words of the wire. */
export interface StatusView {
  readonly requestId: RequestId;
  readonly status: PublicStatus;
  /** As their chains' clients write them. */
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
  /** When `nextAction` changes without an event, ms; missing when it does not. */
  readonly payByMs?: number;
  readonly pollAfterMs: number;
  /** Only on `failure`, and then beginning with `Transaction failed`. */
  readonly details?: string | undefined;
  /**
   * Everything else tells of that request: it stands in for this one, whose deposit address got another sum.
   */
  readonly supersededByRequestId?: RequestId;
}
