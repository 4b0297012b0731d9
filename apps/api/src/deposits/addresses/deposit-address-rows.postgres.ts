import { NATIVE_CURRENCY, totalOf } from "@causeway/domain";
import type { Address, FundsLayer, RefundTarget } from "@causeway/domain";
import { getTableColumns } from "drizzle-orm";
import type { DepositAddress, ObservedFunds, SweepRecord } from "./deposit-addresses.port.ts";
import type { Row } from "../../db/define-query.postgres.ts";
import { depositAddresses, depositAddressFunds, depositSweeps } from "./deposit-addresses.tables.ts";

const { question: _, ...storedColumns } = getTableColumns(depositAddresses);
/** The columns of a {@link DepositAddress}. */
export const ADDRESS = storedColumns;
type AddressRow = Omit<typeof depositAddresses.$inferSelect, "question">;

export function addressOf(row: AddressRow): DepositAddress {
  return {
    address: row.address,
    requestId: row.requestId,
    key: {
      id: row.orderId,
      depositor: row.depositor,
      recovery: row.recovery,
      strict: row.boundToOrder,
    },
    strict: row.strict,
    refundTo: refundTargetOf(row.refundTo),
    quoted: { chainId: row.quotedChainId, currency: row.quotedCurrency },
    keyId: row.keyId ?? undefined,
    createdAtMs: row.createdAtMs,
    activeAtMs: row.activeAtMs,
  };
}

function refundTargetOf(refundTo: Address | null): RefundTarget {
  if (refundTo === null) return "nobody";
  return refundTo === NATIVE_CURRENCY ? "sender" : refundTo;
}

/** The stored value of `refundTo`. */
export function refundColumn(refundTo: RefundTarget): Address | null {
  if (refundTo === "nobody") return null;
  return refundTo === "sender" ? NATIVE_CURRENCY : refundTo;
}

/** The columns of {@link ObservedFunds}. */
export const FUNDS = {
  address: depositAddressFunds.address,
  chainId: depositAddressFunds.chainId,
  currency: depositAddressFunds.currency,
  observation: depositAddressFunds.observation,
  amount: depositAddressFunds.amount,
  seenBlock: depositAddressFunds.seenBlock,
  layers: depositAddressFunds.layers,
  seenAtMs: depositAddressFunds.seenAtMs,
  heldReason: depositAddressFunds.heldReason,
  alarmedReason: depositAddressFunds.alarmedReason,
};

export function fundsOf(row: Row<typeof FUNDS>): ObservedFunds {
  return {
    address: row.address,
    chainId: row.chainId,
    currency: row.currency,
    observation: row.observation,
    amount: row.amount,
    layers: layersOf(row),
    changedBlock: BigInt(row.seenBlock),
    seenAtMs: row.seenAtMs,
    held: row.heldReason ?? undefined,
    alarmed: row.alarmedReason ?? undefined,
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

/** Rows written before layers existed count as one layer, as old as its last change. */
function layersOf({
  layers,
  amount,
  seenBlock,
  seenAtMs: sinceMs,
}: Row<typeof FUNDS>): readonly FundsLayer[] {
  const parts = ((layers === null ? [] : JSON.parse(layers)) as StoredLayer[]).map(
    ([part, since, unseen, seenAtMs, found]): FundsLayer => ({
      amount: BigInt(part),
      sinceBlock: BigInt(since),
      ...(unseen !== null && { unseenBlock: BigInt(unseen) }),
      seenAtMs,
      ...(found != null && { foundBlock: BigInt(found) }),
    }),
  );
  return totalOf(parts) === amount ? parts : [{ amount, sinceBlock: BigInt(seenBlock), seenAtMs: sinceMs }];
}

/** The columns of a {@link SweepRecord}. */
export const SWEEP = {
  id: depositSweeps.id,
  observation: depositSweeps.observation,
  address: depositSweeps.address,
  chainId: depositSweeps.chainId,
  currency: depositSweeps.currency,
  amount: depositSweeps.amount,
  excess: depositSweeps.excess,
  orderId: depositSweeps.orderId,
  requestId: depositSweeps.requestId,
  arrivedAtMs: depositSweeps.arrivedAtMs,
  state: depositSweeps.state,
  txHash: depositSweeps.txHash,
  refusedSinceMs: depositSweeps.refusedSinceMs,
  createdAtMs: depositSweeps.createdAtMs,
};

export function sweepOf(row: Row<typeof SWEEP>): SweepRecord {
  return {
    ...row,
    id: String(row.id),
    arrivedAtMs: row.arrivedAtMs ?? row.createdAtMs,
    txHash: row.txHash ?? undefined,
    refusedSinceMs: row.refusedSinceMs ?? undefined,
  };
}
