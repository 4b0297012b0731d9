import { NATIVE_CURRENCY, parseAddress, totalOf } from "@causeway/domain";
import type { Address, FundsLayer, RefundWish } from "@causeway/domain";
import { getTableColumns, sql as text } from "drizzle-orm";
import type { DepositAddress, ObservedFunds, RouteQuestion, SweepRecord } from "./deposit-addresses.port.ts";
import type { Row } from "../../db/define-query.postgres.ts";
import { depositAddresses, depositAddressFunds, depositSweeps } from "./deposit-addresses.tables.ts";

const { question: _, ...stored } = getTableColumns(depositAddresses);
/** The columns of a {@link DepositAddress}. `question` is read only for rows of an older version. */
export const ADDRESS = {
  ...stored,
  question: text<
    string | null
  >`case when ${depositAddresses.quotedCurrency} is null then ${depositAddresses.question} end`.as(
    "question",
  ),
};
type AddressRow = Omit<typeof depositAddresses.$inferSelect, "question"> & {
  readonly question: string | null;
};

export function addressOf(row: AddressRow): DepositAddress {
  return {
    address: row.address,
    requestId: row.requestId,
    key: {
      id: row.orderId,
      depositor: row.depositor,
      recovery: row.recovery,
      strict: row.boundToOrder ?? row.strict,
    },
    strict: row.strict,
    refundTo: wishOf(row.refundTo),
    quoted: quotedOf(row),
    keyId: row.keyId ?? undefined,
    createdAtMs: row.createdAtMs,
    activeAtMs: row.activeAtMs,
  };
}

function quotedOf({ quotedChainId, quotedCurrency, question: asked }: AddressRow): DepositAddress["quoted"] {
  if (quotedChainId !== null && quotedCurrency !== null)
    return { chainId: quotedChainId, currency: quotedCurrency };
  const { originChainId, originCurrency } = JSON.parse(asked ?? "null") as RouteQuestion;
  const currency = parseAddress(originCurrency);
  return currency && { chainId: originChainId, currency };
}

function wishOf(refundTo: Address | null): RefundWish {
  if (refundTo === null) return "nobody";
  return refundTo === NATIVE_CURRENCY ? "sender" : refundTo;
}

/** The stored value of `refundTo`. */
export function refundColumn(refundTo: RefundWish): Address | null {
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

/** Rows of a version without layers are one layer: all of it is as young as its last change. */
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
