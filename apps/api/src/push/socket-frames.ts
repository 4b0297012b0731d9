import { STATUS_EVENT } from "@causeway/wire";
import type { StatusUpdate } from "./status-push.port.ts";

export function readyFrame(id: string): string {
  return JSON.stringify({ type: "connection", status: "ready", data: { id } });
}

/** Confirms a subscription or its end. */
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

export function eventFrame({ view, sequence }: StatusUpdate, publishedAtMs: number): string {
  const { status, inTxHashes, txHashes, refundTxHashes, updatedAtMs, originChainId } = view;
  const { destinationChainId, requestId, failReason, refundFailReason } = view;
  return JSON.stringify({
    event: STATUS_EVENT,
    data: {
      status,
      inTxHashes,
      txHashes,
      refundTxHashes,
      updatedAt: updatedAtMs,
      originChainId,
      destinationChainId,
      requestId,
      failReason,
      refundFailReason,
      sequence,
    },
    publishedAt: publishedAtMs,
  });
}
