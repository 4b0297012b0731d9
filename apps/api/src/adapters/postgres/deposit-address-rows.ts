import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Address, HoldReason, OrderId, RefundWish, RequestId, TxHash } from "@causeway/domain";
import type {
  DepositAddress,
  ObservedFunds,
  RouteQuestion,
  SweepRecord,
  SweepState,
} from "../../ports/deposit-addresses.ts";

export const ADDRESS_COLUMNS =
  "address, request_id, order_id, depositor, recovery, strict, refund_to, question, key_id, created_at_ms, active_at_ms";
export const FUNDS_COLUMNS =
  "address, chain_id, currency, observation, amount, seen_block, unseen_block, seen_at_ms, held_reason";
export const SWEEP_COLUMNS =
  "id, observation, address, chain_id, currency, amount, excess, order_id, request_id, state, tx_hash, created_at_ms";

export interface AddressRow {
  address: string;
  request_id: string;
  order_id: string;
  depositor: string;
  recovery: string;
  strict: boolean;
  refund_to: string | null;
  question: string;
  key_id: string | null;
  created_at_ms: number;
  active_at_ms: number;
}

export function addressOf(row: AddressRow): DepositAddress {
  return {
    address: row.address as Address,
    requestId: row.request_id as RequestId,
    key: {
      id: row.order_id as OrderId,
      depositor: row.depositor as Address,
      recovery: row.recovery as Address,
      strict: row.strict,
    },
    refundTo: wishOf(row.refund_to),
    question: JSON.parse(row.question) as RouteQuestion,
    keyId: row.key_id ?? undefined,
    createdAtMs: row.created_at_ms,
    activeAtMs: row.active_at_ms,
  };
}

function wishOf(refundTo: string | null): RefundWish {
  if (refundTo === null) return "nobody";
  return refundTo === NATIVE_CURRENCY ? "sender" : (refundTo as Address);
}

/** What is stored of it. */
export function refundColumn(refundTo: RefundWish): string | null {
  if (refundTo === "nobody") return null;
  return refundTo === "sender" ? NATIVE_CURRENCY : refundTo;
}

export interface FundsRow {
  address: string;
  chain_id: number;
  currency: string;
  observation: number;
  amount: bigint;
  seen_block: number;
  unseen_block: number | null;
  seen_at_ms: number;
  held_reason: string | null;
}

export function fundsOf(row: FundsRow): ObservedFunds {
  return {
    address: row.address as Address,
    chainId: row.chain_id,
    currency: row.currency as Address,
    observation: row.observation,
    amount: row.amount,
    seenBlock: BigInt(row.seen_block),
    unseenBlock: row.unseen_block === null ? undefined : BigInt(row.unseen_block),
    seenAtMs: row.seen_at_ms,
    held: (row.held_reason as HoldReason | null) ?? undefined,
  };
}

export interface SweepRow {
  id: number;
  observation: number;
  address: string;
  chain_id: number;
  currency: string;
  amount: bigint;
  excess: bigint;
  order_id: string;
  request_id: string;
  state: string;
  tx_hash: string | null;
  created_at_ms: number;
}

export function sweepOf(row: SweepRow): SweepRecord {
  return {
    id: String(row.id),
    observation: row.observation,
    address: row.address as Address,
    chainId: row.chain_id,
    currency: row.currency as Address,
    amount: row.amount,
    excess: row.excess,
    orderId: row.order_id as OrderId,
    requestId: row.request_id as RequestId,
    state: row.state as SweepState,
    txHash: (row.tx_hash as TxHash | null) ?? undefined,
    createdAtMs: row.created_at_ms,
  };
}
