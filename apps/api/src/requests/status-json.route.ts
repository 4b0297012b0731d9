import type { StatusView } from "./status-view.port.ts";

/** A status as JSON text, in the form of `statusAnswer`. */
export function statusJson(view: StatusView): string {
  const { requestId, status, details, inTxHashes, txHashes, refundTxHashes, updatedAtMs } = view;
  const { originChainId, destinationChainId, failReason, refundFailReason, final, fundsAt } = view;
  const { quoteCreatedAtMs, nextAction, pollAfterMs, supersededByRequestId, heldReason } = view;
  return JSON.stringify({
    requestId,
    status,
    // Absent unless the request failed: clients keep retrying on any details that do not begin with
    // "Transaction failed".
    details,
    inTxHashes,
    txHashes,
    refundTxHashes,
    updatedAt: updatedAtMs,
    time: updatedAtMs,
    quoteCreatedAt: quoteCreatedAtMs,
    originChainId,
    destinationChainId,
    failReason,
    refundFailReason,
    final,
    fundsAt,
    nextAction,
    heldReason,
    pollAfterMs,
    supersededByRequestId,
  });
}
