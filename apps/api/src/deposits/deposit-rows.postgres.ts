import type { DepositRecord } from "../db/records.port.ts";
import { deposits } from "./deposits.tables.ts";

/** The columns of a {@link DepositRecord}. */
export const DEPOSIT = {
  id: deposits.id,
  chainId: deposits.chainId,
  txHash: deposits.txHash,
  ordinal: deposits.ordinal,
  blockNumber: deposits.blockNumber,
  blockHash: deposits.blockHash,
  canonical: deposits.canonical,
  confirmAtBlock: deposits.confirmAtBlock,
  depositor: deposits.depositor,
  sender: deposits.sender,
  currency: deposits.currency,
  amount: deposits.amount,
  orderId: deposits.orderId,
  requestId: deposits.requestId,
  disposition: deposits.disposition,
  reason: deposits.reason,
  refundState: deposits.refundState,
  refundFailReason: deposits.refundFailReason,
  unrepaidReason: deposits.unrepaidReason,
  depository: deposits.depository,
  unattestable: deposits.unattestable,
  refundWaits: deposits.refundWaits,
  refundReleasedAtMs: deposits.refundReleasedAtMs,
  seenAtMs: deposits.seenAtMs,
};

export type DepositRow = Pick<typeof deposits.$inferSelect, keyof typeof DEPOSIT>;

export function depositOf(row: DepositRow): DepositRecord {
  const { unrepaidReason, depository, unattestable, refundWaits, refundReleasedAtMs } = row;
  return {
    id: String(row.id),
    chainId: row.chainId,
    txHash: row.txHash,
    ordinal: row.ordinal,
    blockNumber: BigInt(row.blockNumber),
    blockHash: row.blockHash,
    canonical: row.canonical,
    confirmAtBlock: BigInt(row.confirmAtBlock),
    depositor: row.depositor,
    sender: row.sender,
    currency: row.currency,
    amount: row.amount,
    orderId: row.orderId ?? undefined,
    requestId: row.requestId ?? undefined,
    disposition: row.disposition,
    reason: row.reason ?? undefined,
    refundState: row.refundState,
    refundFailReason: row.refundFailReason ?? undefined,
    ...(unrepaidReason !== null && { unrepaidReason }),
    ...(depository !== null && { depository }),
    ...(unattestable && { isUnattestable: true }),
    ...(refundWaits !== null && { refundWaits }),
    ...(refundReleasedAtMs !== null && { refundReleasedAtMs }),
    seenAtMs: row.seenAtMs,
  };
}
