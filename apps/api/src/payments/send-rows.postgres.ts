import type { SendRecord } from "../db/records.port.ts";
import { sends } from "./sends.tables.ts";

/** The columns of a {@link SendRecord}. */
export const SEND = {
  chainId: sends.chainId,
  txHash: sends.txHash,
  requestId: sends.requestId,
  sender: sends.sender,
  blockNumber: sends.blockNumber,
  blockHash: sends.blockHash,
  createdAtMs: sends.createdAtMs,
};
type SendRow = Pick<typeof sends.$inferSelect, keyof typeof SEND>;

export function sendOf({ createdAtMs, blockNumber, blockHash, ...row }: SendRow): SendRecord {
  return {
    ...row,
    blockNumber: blockNumber === null ? undefined : BigInt(blockNumber),
    blockHash: blockHash ?? undefined,
    reportedAtMs: createdAtMs,
  };
}
