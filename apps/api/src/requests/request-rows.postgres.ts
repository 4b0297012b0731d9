import type { RequestState } from "@causeway/domain";
import type { RequestRecord, StatusRecord } from "../db/records.port.ts";
import { requests } from "./requests.tables.ts";
import { termsFromJson } from "./terms-json.postgres.ts";

export const STATE = {
  requestId: requests.requestId,
  kind: requests.kind,
  state: requests.state,
  depositId: requests.depositId,
  failReason: requests.failReason,
  refundFailReason: requests.refundFailReason,
  final: requests.final,
  front: requests.front,
};

export const STATUS = {
  ...STATE,
  originChainId: requests.originChainId,
  destinationChainId: requests.destinationChainId,
  createdAtMs: requests.createdAtMs,
  updatedAtMs: requests.updatedAtMs,
  fillDeadlineMs: requests.fillDeadlineMs,
  inTxHashes: requests.inTxHashes,
  txHashes: requests.txHashes,
  refundTxHashes: requests.refundTxHashes,
  supersededBy: requests.supersededBy,
  fundsSeen: requests.fundsSeen,
  fundsHeld: requests.fundsHeld,
};

export const REQUEST = { ...STATUS, orderId: requests.orderId, terms: requests.terms };

type Row<Columns> = Pick<typeof requests.$inferSelect, keyof Columns & keyof typeof requests.$inferSelect>;
export type StateRow = Row<typeof STATE>;
export type StatusRow = Row<typeof STATUS>;
export type RequestRow = Row<typeof REQUEST>;

export function stateOf(row: StateRow): RequestState {
  return {
    name: row.state,
    kind: row.kind,
    front: row.front,
    depositId: row.depositId === null ? undefined : String(row.depositId),
    failReason: row.failReason ?? undefined,
    refundFailReason: row.refundFailReason ?? undefined,
    final: row.final,
  };
}

export function statusOf(row: StatusRow): StatusRecord {
  return {
    requestId: row.requestId,
    state: stateOf(row),
    originChainId: row.originChainId,
    destinationChainId: row.destinationChainId,
    createdAtMs: row.createdAtMs,
    updatedAtMs: row.updatedAtMs,
    payByMs: row.fillDeadlineMs,
    inTxHashes: row.inTxHashes,
    txHashes: row.txHashes,
    refundTxHashes: row.refundTxHashes,
    ...(row.supersededBy !== null && { supersededBy: row.supersededBy }),
    // Funds that will be processed come first: that status changes without user action.
    ...(row.fundsSeen
      ? { addressFunds: "seen" as const }
      : row.fundsHeld && { addressFunds: "held" as const }),
  };
}

export function requestOf(row: RequestRow): RequestRecord {
  const { state, inTxHashes, txHashes, refundTxHashes, updatedAtMs, supersededBy } = statusOf(row);
  return {
    terms: termsFromJson(row.terms),
    state,
    inTxHashes,
    txHashes,
    refundTxHashes,
    updatedAtMs,
    ...(supersededBy !== undefined && { supersededBy }),
  };
}
