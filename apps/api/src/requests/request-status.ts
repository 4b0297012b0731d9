import { fundsAt, nextAction, pollAfterMs, publicStatus } from "@causeway/domain";
import type { RequestId, TxHash } from "@causeway/domain";
import type { Reads } from "../db/reads.port.ts";
import type { StatusRecord } from "../db/records.port.ts";
import type { StatusView } from "./status-view.port.ts";
import type { Services } from "../db/services.port.ts";
import type { AddressFormat } from "../chains/address-format.port.ts";
import { formatAddresses, spellingOf } from "../chains/address-format.ts";

/**
 * Where a request stands; undefined when nobody knows it. One read, shared with all others of the same
 * moment.
 */
export async function requestStatus(
  services: Pick<Services, "chains" | "clock"> & { readonly reads: Pick<Reads, "status"> },
  asked: RequestId,
): Promise<StatusView | undefined> {
  const { reads, chains, clock } = services;
  const record = await reads.status(asked);
  if (record === undefined) return undefined;
  const spelling = spellingOf(chains);
  const nowMs = clock.nowMs();
  if (record.supersededBy === undefined) return statusView(record, nowMs, spelling);
  // What came to its deposit address is another request's: whoever asks for this one asks what became of the
  // money.
  const successor = await reads.status(record.supersededBy);
  return successor === undefined
    ? statusView(record, nowMs, spelling)
    : standInView(record, { ...successor, requestId: record.supersededBy }, nowMs, spelling);
}

/** Accepts a deposit's transaction hash in place of a request id. The view has the request's own id. */
export async function statusByIdOrDeposit(
  services: Pick<Services, "chains" | "clock"> & {
    readonly reads: Pick<Reads, "status" | "requestOfDeposit">;
  },
  asked: RequestId | TxHash,
): Promise<StatusView | undefined> {
  const view = await requestStatus(services, asked);
  if (view !== undefined) return view;
  const requestId = await services.reads.requestOfDeposit(asked);
  return requestId && (await requestStatus(services, requestId));
}

/**
 * The view of a superseded request: its successor's, under its own id. What comes to the address from then on
 * is not its own.
 */
export function standInView(
  own: StatusRecord,
  standIn: StatusRecord,
  nowMs: number,
  spelling: AddressFormat,
): StatusView {
  return {
    ...statusView(standIn, nowMs, spelling),
    requestId: own.requestId,
    supersededByRequestId: standIn.requestId,
  };
}

/** The client's words for a stored state. */
export function statusView(record: StatusRecord, nowMs: number, spelling: AddressFormat): StatusView {
  const { state, originChainId, destinationChainId, addressFunds, payByMs } = record;
  const isOverdue = nowMs > payByMs;
  const status = publicStatus(state, addressFunds);
  return {
    requestId: record.requestId,
    status,
    inTxHashes: formatAddresses(spelling, originChainId, record.inTxHashes),
    txHashes: formatAddresses(spelling, destinationChainId, record.txHashes),
    refundTxHashes: formatAddresses(spelling, originChainId, record.refundTxHashes),
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
    // Older clients retry a failure whose details are any other text.
    ...(status === "failure" ? { details: `Transaction failed: ${state.failReason ?? "UNKNOWN"}` } : {}),
  };
}
