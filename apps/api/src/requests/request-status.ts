import { fundsAt, nextAction, pollAfterMs, publicStatus } from "@causeway/domain";
import type { RequestId, TxHash } from "@causeway/domain";
import type { Reads } from "../db/reads.port.ts";
import type { StatusRecord } from "../db/records.port.ts";
import type { StatusView } from "./status-view.port.ts";
import type { Services } from "../db/services.port.ts";
import type { AddressFormat } from "../chains/address-format.port.ts";
import { formatTransactionIds, addressFormatOf } from "../chains/index.ts";

/** The status of a request; undefined if it is unknown. Concurrent reads share one query. */
export async function requestStatus(
  services: Pick<Services, "chains" | "clock"> & { readonly reads: Pick<Reads, "status"> },
  requestId: RequestId,
): Promise<StatusView | undefined> {
  const { reads, chains, clock } = services;
  const record = await reads.status(requestId);
  if (record === undefined) return undefined;
  const format = addressFormatOf(chains);
  const nowMs = clock.nowMs();
  if (record.supersededBy === undefined) return statusView(record, nowMs, format);
  // The funds at the deposit address belong to the successor, so the successor's status says where they are.
  const successor = await reads.status(record.supersededBy);
  return successor === undefined
    ? statusView(record, nowMs, format)
    : successorView(record, { ...successor, requestId: record.supersededBy }, nowMs, format);
}

/** Accepts a deposit's transaction hash in place of a request id. The view has the request's own id. */
export async function statusByIdOrDeposit(
  services: Pick<Services, "chains" | "clock"> & {
    readonly reads: Pick<Reads, "status" | "requestOfDeposit">;
  },
  idOrHash: RequestId | TxHash,
): Promise<StatusView | undefined> {
  const view = await requestStatus(services, idOrHash);
  if (view !== undefined) return view;
  const requestId = await services.reads.requestOfDeposit(idOrHash);
  return requestId && (await requestStatus(services, requestId));
}

/**
 * The view of a superseded request: its successor's view, under its own id. Later funds at the address do not
 * belong to the superseded request.
 */
export function successorView(
  superseded: StatusRecord,
  successor: StatusRecord,
  nowMs: number,
  format: AddressFormat,
): StatusView {
  return {
    ...statusView(successor, nowMs, format),
    requestId: superseded.requestId,
    supersededByRequestId: successor.requestId,
  };
}

function hasEnded({ name }: StatusRecord["state"]): boolean {
  return ["filled", "refunded", "failed", "expired"].includes(name);
}

/** The reason for clients, which must not learn the operator's limits. */
function heldReason(rule: string): string {
  return rule === "paused"
    ? "The operator has paused new payments of this route"
    : "The payment waits because the operator's policy does not allow it now";
}

/** The wire form of a stored status. */
export function statusView(record: StatusRecord, nowMs: number, format: AddressFormat): StatusView {
  const { state, originChainId, destinationChainId, addressFunds, payByMs } = record;
  const isOverdue = nowMs > payByMs;
  const status = publicStatus(state, addressFunds);
  return {
    requestId: record.requestId,
    status,
    inTxHashes: formatTransactionIds(format, originChainId, record.inTxHashes),
    txHashes: formatTransactionIds(format, destinationChainId, record.txHashes),
    refundTxHashes: formatTransactionIds(format, originChainId, record.refundTxHashes),
    updatedAtMs: record.updatedAtMs,
    quoteCreatedAtMs: record.createdAtMs,
    originChainId,
    destinationChainId,
    failReason: state.failReason ?? "N/A",
    refundFailReason: state.refundFailReason ?? "N/A",
    final: state.final,
    fundsAt: fundsAt(state, addressFunds),
    nextAction: nextAction(state, addressFunds, isOverdue),
    ...(state.name === "quoted" && !isOverdue && { payByMs }),
    pollAfterMs: pollAfterMs(state, addressFunds),
    ...(record.heldBy !== undefined && !hasEnded(state) && { heldReason: heldReason(record.heldBy) }),
    // Older clients retry a failure with any other details.
    ...(status === "failure" ? { details: `Transaction failed: ${state.failReason ?? "UNKNOWN"}` } : {}),
  };
}
