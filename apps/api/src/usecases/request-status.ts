import { fundsAt, nextAction, pollAfterMs, publicStatus } from "@causeway/domain";
import type { RequestId } from "@causeway/domain";
import type { StatusRecord } from "../ports/records.ts";
import type { StatusView } from "../ports/status-view.ts";
import type { Services } from "../ports/services.ts";

/** Where a request stands; undefined when nobody knows it. One read, shared with all others of the same moment. */
export async function requestStatus(
  services: Pick<Services, "reads">,
  requestId: RequestId,
): Promise<StatusView | undefined> {
  const record = await services.reads.status(requestId);
  return record && statusView(record);
}

/** The client's words for a stored state. */
export function statusView(record: StatusRecord): StatusView {
  const { state } = record;
  const status = publicStatus(state);
  return {
    requestId: record.requestId,
    status,
    inTxHashes: record.inTxHashes,
    txHashes: record.txHashes,
    refundTxHashes: record.refundTxHashes,
    updatedAtMs: record.updatedAtMs,
    quoteCreatedAtMs: record.createdAtMs,
    originChainId: record.originChainId,
    destinationChainId: record.destinationChainId,
    failReason: state.failReason ?? "N/A",
    refundFailReason: state.refundFailReason ?? "N/A",
    final: state.final,
    fundsAt: fundsAt(state),
    nextAction: nextAction(state),
    pollAfterMs: pollAfterMs(state),
    // Older clients retry a failure whose details are any other text.
    ...(status === "failure" ? { details: `Transaction failed: ${state.failReason ?? "UNKNOWN"}` } : {}),
  };
}
