import type { Authorization } from "@causeway/chains";
import { unreachable } from "@causeway/domain";
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
  Attempt,
  AttemptKind,
  DepositDisposition,
  DepositRecord,
  RefundState,
  RequestRecord,
  SendRecord,
  Slot,
  SlotState,
  StatusRecord,
} from "../db/records.port.ts";
import type { Leg, LegKind } from "../db/leg.port.ts";
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

export const SEND_COLUMNS = "chain_id, tx_hash, request_id, sender, block_number, block_hash, created_at_ms";

export interface SendRow {
  chain_id: number;
  tx_hash: string;
  request_id: string;
  sender: string;
  block_number: number | null;
  block_hash: string | null;
  created_at_ms: number;
}

export function sendOf(row: SendRow): SendRecord {
  return {
    chainId: row.chain_id,
    txHash: row.tx_hash as TxHash,
    requestId: row.request_id as Hex,
    sender: row.sender as Address,
    blockNumber: row.block_number === null ? undefined : BigInt(row.block_number),
    blockHash: (row.block_hash as Hex | null) ?? undefined,
    reportedAtMs: row.created_at_ms,
  };
}

export interface SlotRow {
  id: number;
  chain_id: number;
  sender: string;
  nonce: number;
  leg_kind: string;
  leg_id: string;
  request_id: string | null;
  call_to: string;
  call_data: string;
  call_value: bigint;
  gas_limit: number;
  max_fee_per_gas: bigint;
  max_priority_fee_per_gas: bigint;
  outflow_currency: string;
  outflow_amount: bigint;
  state: string;
  cancel_reason: string | null;
  cancel_after_ms: number;
  mined_attempt: number | null;
  mined_block_number: number | null;
  mined_block_hash: string | null;
  mined_status: string | null;
  gas_used: bigint | null;
  effective_gas_price: bigint | null;
  call_authorizations: string | null;
  unexplained_since: number | null;
  created_at_ms: number;
}

export interface AttemptRow {
  slot_id: number;
  n: number;
  kind: string;
  raw: string;
  tx_hash: string;
  max_fee_per_gas: bigint;
  max_priority_fee_per_gas: bigint;
  created_at_ms: number;
  broadcast_at_ms: number | null;
  offered_since_ms: number | null;
  first_broadcast_at_ms: number | null;
}

export const SLOT_COLUMNS =
  "id, chain_id, sender, nonce, leg_kind, leg_id, request_id, call_to, call_data, call_value, gas_limit, max_fee_per_gas, max_priority_fee_per_gas, outflow_currency, outflow_amount, state, cancel_reason, cancel_after_ms, mined_attempt, mined_block_number, mined_block_hash, mined_status, gas_used, effective_gas_price, call_authorizations, unexplained_since, created_at_ms";
export const ATTEMPT_COLUMNS =
  "slot_id, n, kind, raw, tx_hash, max_fee_per_gas, max_priority_fee_per_gas, created_at_ms, broadcast_at_ms, offered_since_ms, first_broadcast_at_ms";

function legOf(kind: LegKind, id: string, requestId: Hex | undefined): Leg {
  switch (kind) {
    case "fill":
    case "execution":
      return { kind, requestId: id as Hex };
    case "refund":
      return { kind, depositId: id, requestId };
    case "claim":
      return { kind, claimId: id as Hex, requestId: undefined };
    case "sweep":
      if (requestId === undefined) throw new Error(`invariant violated: sweep ${id} without a request`);
      return { kind, sweepId: id, requestId };
    default:
      return unreachable(kind);
  }
}

export function slotOf(row: SlotRow, attempts: readonly AttemptRow[]): Slot {
  const requestId = (row.request_id as Hex | null) ?? undefined;
  return {
    id: String(row.id),
    chainId: row.chain_id,
    sender: row.sender as Address,
    nonce: row.nonce,
    leg: legOf(row.leg_kind as LegKind, row.leg_id, requestId),
    call: {
      to: row.call_to as Address,
      data: row.call_data as Hex,
      value: row.call_value,
      authorizationList:
        row.call_authorizations === null
          ? undefined
          : (JSON.parse(row.call_authorizations) as readonly Authorization[]),
    },
    gasLimit: BigInt(row.gas_limit),
    maxFeePerGas: row.max_fee_per_gas,
    maxPriorityFeePerGas: row.max_priority_fee_per_gas,
    outflow: { currency: row.outflow_currency as Address, amount: row.outflow_amount },
    state: row.state as SlotState,
    cancelReason: (row.cancel_reason as FailReason | null) ?? undefined,
    cancelAfterMs: row.cancel_after_ms,
    minedAttempt: row.mined_attempt ?? undefined,
    minedBlockNumber: row.mined_block_number === null ? undefined : BigInt(row.mined_block_number),
    minedBlockHash: (row.mined_block_hash as Hex | null) ?? undefined,
    minedStatus:
      row.mined_status === null ? undefined : row.mined_status === "success" ? "success" : "reverted",
    gasUsed: row.gas_used ?? undefined,
    effectiveGasPrice: row.effective_gas_price ?? undefined,
    unexplainedSince: row.unexplained_since === null ? undefined : BigInt(row.unexplained_since),
    createdAtMs: row.created_at_ms,
    attempts: attempts.map(attemptOf),
  };
}

function attemptOf(row: AttemptRow): Attempt {
  return {
    n: row.n,
    kind: row.kind as AttemptKind,
    raw: row.raw as Hex,
    txHash: row.tx_hash as TxHash,
    maxFeePerGas: row.max_fee_per_gas,
    maxPriorityFeePerGas: row.max_priority_fee_per_gas,
    createdAtMs: row.created_at_ms,
    broadcastAtMs: row.broadcast_at_ms ?? undefined,
    offeredSinceMs: row.offered_since_ms ?? undefined,
    ...(row.first_broadcast_at_ms !== null && { firstBroadcastAtMs: row.first_broadcast_at_ms }),
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
