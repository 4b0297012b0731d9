import { NATIVE_CURRENCY, parseAddress, totalOf } from "@causeway/domain";
import type {
  Address,
  FundsLayer,
  HoldReason,
  OrderId,
  RefundWish,
  RequestId,
  TxHash,
} from "@causeway/domain";
import type {
  DepositAddress,
  ObservedFunds,
  RouteQuestion,
  SweepRecord,
  SweepState,
} from "./deposit-addresses.port.ts";

const STORED_COLUMNS =
  "address, request_id, order_id, depositor, recovery, strict, bound_to_order, refund_to, key_id, created_at_ms, active_at_ms, quoted_chain_id, quoted_currency";
export const NEW_ADDRESS_COLUMNS = `${STORED_COLUMNS}, question`;
/** Reads `question` only for rows of a version without `quoted_currency`. */
export const ADDRESS_COLUMNS = `${STORED_COLUMNS}, case when quoted_currency is null then question end as question`;
export const FUNDS_COLUMNS =
  "address, chain_id, currency, observation, amount, seen_block, layers, seen_at_ms, held_reason, alarmed_reason";
export const SWEEP_COLUMNS =
  "id, observation, address, chain_id, currency, amount, excess, order_id, request_id, coalesce(arrived_at_ms, created_at_ms) as arrived_at_ms, state, tx_hash, refused_since_ms, created_at_ms";

export interface AddressRow {
  address: string;
  request_id: string;
  order_id: string;
  depositor: string;
  recovery: string;
  strict: boolean;
  bound_to_order: boolean | null;
  refund_to: string | null;
  quoted_chain_id: number | null;
  quoted_currency: string | null;
  question: string | null;
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
      strict: row.bound_to_order ?? row.strict,
    },
    strict: row.strict,
    refundTo: wishOf(row.refund_to),
    quoted: quotedOf(row),
    keyId: row.key_id ?? undefined,
    createdAtMs: row.created_at_ms,
    activeAtMs: row.active_at_ms,
  };
}

function quotedOf({
  quoted_chain_id: id,
  quoted_currency: stored,
  question,
}: AddressRow): DepositAddress["quoted"] {
  if (id !== null && stored !== null) return { chainId: id, currency: stored as Address };
  const { originChainId, originCurrency } = JSON.parse(question ?? "null") as RouteQuestion;
  const currency = parseAddress(originCurrency);
  return currency && { chainId: originChainId, currency };
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
  layers: string | null;
  seen_at_ms: number;
  held_reason: string | null;
  alarmed_reason: string | null;
}

export function fundsOf(row: FundsRow): ObservedFunds {
  return {
    address: row.address as Address,
    chainId: row.chain_id,
    currency: row.currency as Address,
    observation: row.observation,
    amount: row.amount,
    layers: layersOf(row),
    changedBlock: BigInt(row.seen_block),
    seenAtMs: row.seen_at_ms,
    held: (row.held_reason as HoldReason | null) ?? undefined,
    alarmed: (row.alarmed_reason as HoldReason | null) ?? undefined,
  };
}

/**
 * A stored layer: amount, the block from which it counts, the last block read before that (null: unknown),
 * the time (ms), and the block in which it was found if different.
 */
type StoredLayer = [
  amount: string,
  since: string,
  unseen: string | null,
  seenAtMs: number,
  found?: string | null,
];

export function layersText(layers: readonly FundsLayer[]): string {
  return JSON.stringify(
    layers.map(({ amount, sinceBlock, unseenBlock, seenAtMs, foundBlock }): StoredLayer => [
      amount.toString(),
      sinceBlock.toString(),
      unseenBlock?.toString() ?? null,
      seenAtMs,
      foundBlock?.toString() ?? null,
    ]),
  );
}

/** Rows of a version that knows no layers are one layer: all of it is as young as its last change. */
function layersOf({ layers, amount, seen_block, seen_at_ms }: FundsRow): readonly FundsLayer[] {
  const stored = ((layers === null ? [] : JSON.parse(layers)) as StoredLayer[]).map(
    ([part, since, unseen, seenAtMs, found]): FundsLayer => ({
      amount: BigInt(part),
      sinceBlock: BigInt(since),
      ...(unseen !== null && { unseenBlock: BigInt(unseen) }),
      seenAtMs,
      ...(found != null && { foundBlock: BigInt(found) }),
    }),
  );
  return totalOf(stored) === amount
    ? stored
    : [{ amount, sinceBlock: BigInt(seen_block), seenAtMs: seen_at_ms }];
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
  arrived_at_ms: number;
  state: string;
  tx_hash: string | null;
  refused_since_ms: number | null;
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
    arrivedAtMs: row.arrived_at_ms,
    state: row.state as SweepState,
    txHash: (row.tx_hash as TxHash | null) ?? undefined,
    refusedSinceMs: row.refused_since_ms ?? undefined,
    createdAtMs: row.created_at_ms,
  };
}
