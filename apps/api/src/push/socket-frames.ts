import { jsonList } from "@causeway/service-kit";
import { STATUS_EVENT } from "@causeway/wire";
import type { StatusUpdate } from "./push-routes.port.ts";

// Frames are written out by hand where there may be thousands at a moment; what is put in holds nothing to
// escape.

export function readyFrame(id: string): string {
  return `{"type":"connection","status":"ready","data":{"id":"${id}"}}`;
}

/** Says that what was asked for is done. */
export function doneFrame(type: "subscribe" | "unsubscribe", requestId: string | undefined): string {
  return JSON.stringify({
    type,
    status: "success",
    data: { event: STATUS_EVENT, filters: requestId === undefined ? {} : { id: requestId } },
  });
}

export function errorFrame(errorCode: string, message: string): string {
  return JSON.stringify({ type: "error", errorCode, message });
}

export function eventFrame(update: StatusUpdate, publishedAtMs: number): string {
  return `{"event":"${STATUS_EVENT}","data":${updateJson(update)},"publishedAt":${publishedAtMs}}`;
}

function updateJson({ view, sequence }: StatusUpdate): string {
  return (
    `{"status":"${view.status}","inTxHashes":${hashes(view.inTxHashes)},"txHashes":${hashes(view.txHashes)},` +
    `"refundTxHashes":${hashes(view.refundTxHashes)},"updatedAt":${view.updatedAtMs},` +
    `"originChainId":${view.originChainId},"destinationChainId":${view.destinationChainId},"requestId":"${view.requestId}",` +
    `"failReason":${JSON.stringify(view.failReason)},"refundFailReason":${JSON.stringify(view.refundFailReason)},` +
    `"sequence":${sequence}}`
  );
}

const hashes = (list: readonly string[]): string => jsonList(list, (hash) => `"${hash}"`);
