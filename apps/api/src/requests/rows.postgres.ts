import type {
  Address,
  FailReason,
  FrontState,
  Hex,
  RefundFailReason,
  RequestKind,
  RequestState,
  StateName,
  TxHash,
} from "@causeway/domain";
import type {
  DepositDisposition,
  DepositRecord,
  RefundState,
  RequestRecord,
  StatusRecord,
} from "../db/records.port.ts";
import { termsFromJson } from "./terms-json.postgres.ts";

export interface StateRow {
  kind: string;
  state: string;
  deposit_id: number | null;
  fail_reason: string | null;
  refund_fail_reason: string | null;
  final: boolean;
  front: string;
}

export interface StatusRow extends StateRow {
  request_id: string;
  origin_chain_id: number;
  destination_chain_id: number;
  created_at_ms: number;
  updated_at_ms: number;
  fill_deadline_ms: number;
  in_tx_hashes: string[];
  tx_hashes: string[];
  refund_tx_hashes: string[];
  /** Absent where only some columns are read. */
  superseded_by?: string | null;
  funds_seen?: boolean;
  funds_held?: boolean;
}

export interface RequestRow extends StatusRow {
  order_id: string;
  terms: string;
}

export const STATE_COLUMNS =
  "request_id, kind, state, deposit_id, fail_reason, refund_fail_reason, final, front";
export const STATUS_COLUMNS = `${STATE_COLUMNS}, origin_chain_id, destination_chain_id, created_at_ms, updated_at_ms, fill_deadline_ms, in_tx_hashes, tx_hashes, refund_tx_hashes`;
export const REQUEST_COLUMNS = `${STATUS_COLUMNS}, superseded_by, funds_seen, funds_held, order_id, terms`;

export function stateOf(row: StateRow): RequestState {
  return {
    name: row.state as StateName,
    kind: row.kind as RequestKind,
    front: row.front as FrontState,
    depositId: row.deposit_id === null ? undefined : String(row.deposit_id),
    failReason: (row.fail_reason as FailReason | null) ?? undefined,
    refundFailReason: (row.refund_fail_reason as RefundFailReason | null) ?? undefined,
    final: row.final,
  };
}

export function statusOf(row: StatusRow): StatusRecord {
  return {
    requestId: row.request_id as Hex,
    state: stateOf(row),
    originChainId: row.origin_chain_id,
    destinationChainId: row.destination_chain_id,
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
    payByMs: row.fill_deadline_ms,
    inTxHashes: row.in_tx_hashes as TxHash[],
    txHashes: row.tx_hashes as TxHash[],
    refundTxHashes: row.refund_tx_hashes as TxHash[],
    ...(row.superseded_by != null && { supersededBy: row.superseded_by as Hex }),
    // What is on its way comes first: it changes by itself.
    ...(row.funds_seen === true
      ? { addressFunds: "seen" as const }
      : row.funds_held === true && { addressFunds: "held" as const }),
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

export interface DepositRow {
  id: number;
  chain_id: number;
  tx_hash: string;
  ordinal: number;
  block_number: number;
  block_hash: string;
  canonical: boolean;
  confirm_at_block: number;
  depositor: string;
  sender: string;
  currency: string;
  amount: bigint;
  order_id: string | null;
  request_id: string | null;
  disposition: string;
  reason: string | null;
  refund_state: string;
  refund_fail_reason: string | null;
  unrepaid_reason: string | null;
  depository: string | null;
  unattestable: boolean;
  refund_waits: string | null;
  refund_released_at_ms: number | null;
  seen_at_ms: number;
}

export const DEPOSIT_COLUMNS =
  "id, chain_id, tx_hash, ordinal, block_number, block_hash, canonical, confirm_at_block, depositor, sender, currency, amount, order_id, request_id, disposition, reason, refund_state, refund_fail_reason, unrepaid_reason, depository, unattestable, refund_waits, refund_released_at_ms, seen_at_ms";

export function depositOf(row: DepositRow): DepositRecord {
  return {
    id: String(row.id),
    chainId: row.chain_id,
    txHash: row.tx_hash as TxHash,
    ordinal: row.ordinal,
    blockNumber: BigInt(row.block_number),
    blockHash: row.block_hash as Hex,
    canonical: row.canonical,
    confirmAtBlock: BigInt(row.confirm_at_block),
    depositor: row.depositor as Address,
    sender: row.sender as Address,
    currency: row.currency as Address,
    amount: row.amount,
    orderId: (row.order_id as Hex | null) ?? undefined,
    requestId: (row.request_id as Hex | null) ?? undefined,
    disposition: row.disposition as DepositDisposition,
    reason: (row.reason as FailReason | null) ?? undefined,
    refundState: row.refund_state as RefundState,
    refundFailReason: (row.refund_fail_reason as RefundFailReason | null) ?? undefined,
    ...(row.unrepaid_reason !== null && { unrepaidReason: row.unrepaid_reason }),
    ...(row.depository !== null && { depository: row.depository as Hex }),
    ...(row.unattestable && { isUnattestable: true }),
    ...(row.refund_waits !== null && { refundWaits: row.refund_waits }),
    ...(row.refund_released_at_ms !== null && { refundReleasedAtMs: row.refund_released_at_ms }),
    seenAtMs: row.seen_at_ms,
  };
}

/** Deliveries of the rows of `event`, for statements that are still text. $n of `atMs`: now, ms. */
export function webhookDeliveries(atMs: string): string {
  return `insert into webhook_deliveries (endpoint_id, request_id, seq, next_at_ms, created_at_ms)
     select w.id, e.request_id, e.seq, ${atMs}, ${atMs} from event e join webhook_endpoints w on w.key_id = e.key_id join api_keys k on k.id = w.key_id
     where w.deleted_at_ms is null and k.revoked_at_ms is null and not e.only_final returning id`;
}

export const EVENT_COLUMNS = `e.request_id, e.seq, e.key_id, e.only_final, r.kind, e.state, e.deposit_id, e.fail_reason, e.refund_fail_reason, e.final, e.front,
  r.superseded_by, e.funds_seen, e.funds_held, r.origin_chain_id, r.destination_chain_id, r.created_at_ms, e.at_ms as updated_at_ms, r.fill_deadline_ms, e.in_tx_hashes, e.tx_hashes, e.refund_tx_hashes`;

export interface EventRow extends StatusRow {
  seq: number;
  only_final: boolean;
  key_id: string | null;
}

export function changeOf(row: EventRow): { record: StatusRecord; sequence: number; onlyFinal: boolean } {
  return { record: statusOf(row), sequence: row.seq, onlyFinal: row.only_final };
}
