import type { Address, Hex, Hex32 } from "@causeway/domain";
import type {
  ExecutionKind,
  ExecutionRecord,
  ExecutionState,
  HubAttempt,
  HubTransaction,
} from "./settlement.port.ts";

export interface ExecutionRow {
  id: number;
  idempotency_key: string;
  kind: string;
  actions: string[];
  signature: string;
  state: string;
  reason: string | null;
  apart: boolean;
}

export const EXECUTION_COLUMNS = "id, idempotency_key, kind, actions, signature, state, reason, apart";

export function executionOf(row: ExecutionRow): ExecutionRecord {
  return {
    id: String(row.id),
    idempotencyKey: row.idempotency_key as Hex32,
    kind: row.kind as ExecutionKind,
    actions: row.actions as Hex[],
    signature: row.signature as Hex,
    state: row.state as ExecutionState,
    reason: row.reason ?? undefined,
    apart: row.apart,
  };
}

export interface HubTransactionRow {
  id: number;
  sender: string;
  nonce: number;
  call_to: string;
  call_data: string;
  gas_limit: number;
  max_fee_per_gas: bigint;
  max_priority_fee_per_gas: bigint;
  created_at_ms: number;
  is_noop: boolean;
}

export const HUB_TRANSACTION_COLUMNS =
  "id, sender, nonce, call_to, call_data, gas_limit, max_fee_per_gas, max_priority_fee_per_gas, created_at_ms, is_noop";

export interface HubAttemptRow {
  transaction_id: number;
  n: number;
  raw: string;
  tx_hash: string;
  max_fee_per_gas: bigint;
  max_priority_fee_per_gas: bigint;
  created_at_ms: number;
  broadcast_at_ms: number | null;
  is_noop: boolean;
}

export const HUB_ATTEMPT_COLUMNS =
  "transaction_id, n, raw, tx_hash, max_fee_per_gas, max_priority_fee_per_gas, created_at_ms, broadcast_at_ms, is_noop";

export function hubTransactionOf(row: HubTransactionRow, attempts: readonly HubAttemptRow[]): HubTransaction {
  return {
    id: String(row.id),
    sender: row.sender as Address,
    nonce: row.nonce,
    call: { to: row.call_to as Address, data: row.call_data as Hex },
    gasLimit: BigInt(row.gas_limit),
    maxFeePerGas: row.max_fee_per_gas,
    maxPriorityFeePerGas: row.max_priority_fee_per_gas,
    createdAtMs: row.created_at_ms,
    attempts: attempts.map(attemptOf),
    isNoop: row.is_noop,
  };
}

function attemptOf(row: HubAttemptRow): HubAttempt {
  return {
    n: row.n,
    isNoop: row.is_noop,
    raw: row.raw as Hex,
    txHash: row.tx_hash as Hex32,
    maxFeePerGas: row.max_fee_per_gas,
    maxPriorityFeePerGas: row.max_priority_fee_per_gas,
    createdAtMs: row.created_at_ms,
    broadcastAtMs: row.broadcast_at_ms ?? undefined,
  };
}
