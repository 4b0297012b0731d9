import type { StatusAnswer } from "@causeway/wire";
import type { StatusView } from "../ports/route-services.ts";

/** The wire's words for where a request stands, as JSON text. */
export function statusJson(view: StatusView): string {
  return JSON.stringify(toWireStatus(view));
}

function toWireStatus(view: StatusView): StatusAnswer {
  return {
    requestId: view.requestId,
    status: view.status,
    // Left out when absent: clients retry until their timeout on any details that do not begin with "Transaction failed".
    ...(view.details === undefined ? undefined : { details: view.details }),
    inTxHashes: view.inTxHashes as string[],
    txHashes: view.txHashes as string[],
    refundTxHashes: view.refundTxHashes as string[],
    updatedAt: view.updatedAtMs,
    time: view.updatedAtMs,
    quoteCreatedAt: view.quoteCreatedAtMs,
    originChainId: view.originChainId,
    destinationChainId: view.destinationChainId,
    failReason: view.failReason,
    refundFailReason: view.refundFailReason,
    final: view.final,
    fundsAt: view.fundsAt,
    nextAction: view.nextAction,
    pollAfterMs: view.pollAfterMs,
  };
}
