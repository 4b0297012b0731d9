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
  if (record?.supersededBy === undefined) return record && statusView(record);
  // What came to its deposit address is another request's: whoever asks for this one asks what became of the money.
  const successor = await services.reads.status(record.supersededBy);
  return successor === undefined
    ? statusView(record)
    : { ...statusView(successor), requestId, supersededByRequestId: record.supersededBy };
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
    fundsAt: record.fundsHeld === true ? "depositAddress" : fundsAt(state),
    nextAction: record.fundsHeld === true ? "contact_operator" : nextAction(state),
    pollAfterMs: pollAfterMs(state),
    // Older clients retry a failure whose details are any other text.
    ...(status === "failure" ? { details: `Transaction failed: ${state.failReason ?? "UNKNOWN"}` } : {}),
  };
}
