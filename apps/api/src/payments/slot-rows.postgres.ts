import { sql as text } from "drizzle-orm";
import type { Attempt, Slot } from "../db/records.port.ts";
import { attempts, NO_CALL_DATA, slots } from "./payments.tables.ts";

/** The columns of a {@link Slot}. */
export const SLOT = {
  id: slots.id,
  chainId: slots.chainId,
  sender: slots.sender,
  nonce: slots.nonce,
  legKind: slots.legKind,
  legId: slots.legId,
  requestId: slots.requestId,
  callTo: slots.callTo,
  callData: slots.callData,
  callValue: slots.callValue,
  gasLimit: slots.gasLimit,
  maxFeePerGas: slots.maxFeePerGas,
  maxPriorityFeePerGas: slots.maxPriorityFeePerGas,
  outflowCurrency: slots.outflowCurrency,
  outflowAmount: slots.outflowAmount,
  deliveredAmount: slots.deliveredAmount,
  state: slots.state,
  cancelReason: slots.cancelReason,
  cancelAfterMs: slots.cancelAfterMs,
  minedAttempt: slots.minedAttempt,
  minedBlockNumber: slots.minedBlockNumber,
  minedBlockHash: slots.minedBlockHash,
  minedStatus: slots.minedStatus,
  gasUsed: slots.gasUsed,
  effectiveGasPrice: slots.effectiveGasPrice,
  callAuthorizations: slots.callAuthorizations,
  unexplainedSince: slots.unexplainedSince,
  createdAtMs: slots.createdAtMs,
};

/** The start time of the database server, which reveals that a server was replaced. */
export const SERVER_START = text`extract(epoch from pg_postmaster_start_time())::text`;

const KEPT_IDENTITY = text.raw("'causeway.database_identity'");
/**
 * Names the database server; differs after a failover or a restored backup. A session keeps the name: it ends
 * with its server, and the timeline of a primary never changes. Only the promotion of a standby changes it.
 */
export const SERVER_IDENTITY = text`case when pg_is_in_recovery() then database_identity()
  else coalesce(nullif(current_setting(${KEPT_IDENTITY}, true), ''), set_config(${KEPT_IDENTITY}, database_identity(), false)) end`;

/** Whether a lane was compared with its chain on this server, or never on any server (`null`). */
export function isReconciledOn(identity: string, reconciledOn: string | null): boolean {
  return reconciledOn === null || reconciledOn === identity;
}

export type SlotRow = Pick<typeof slots.$inferSelect, keyof typeof SLOT>;
export type AttemptRow = typeof attempts.$inferSelect;

export function slotOf(row: SlotRow, signed: readonly AttemptRow[]): Slot {
  return {
    id: String(row.id),
    chainId: row.chainId,
    sender: row.sender,
    nonce: row.nonce,
    leg: { kind: row.legKind, id: row.legId, requestId: row.requestId ?? undefined },
    call: {
      to: row.callTo,
      // Archived: a final payment is never sent again.
      data: row.callData === NO_CALL_DATA ? "0x" : row.callData,
      value: row.callValue,
      authorizationList: row.callAuthorizations ?? undefined,
    },
    gasLimit: BigInt(row.gasLimit),
    maxFeePerGas: row.maxFeePerGas,
    maxPriorityFeePerGas: row.maxPriorityFeePerGas,
    outflow: { currency: row.outflowCurrency, amount: row.outflowAmount },
    ...(row.deliveredAmount !== null && { delivers: row.deliveredAmount }),
    state: row.state,
    cancelReason: row.cancelReason ?? undefined,
    cancelAfterMs: row.cancelAfterMs,
    minedAttempt: row.minedAttempt ?? undefined,
    minedBlockNumber: row.minedBlockNumber === null ? undefined : BigInt(row.minedBlockNumber),
    minedBlockHash: row.minedBlockHash ?? undefined,
    minedStatus: row.minedStatus ?? undefined,
    gasUsed: row.gasUsed ?? undefined,
    effectiveGasPrice: row.effectiveGasPrice ?? undefined,
    unexplainedSince: row.unexplainedSince === null ? undefined : BigInt(row.unexplainedSince),
    createdAtMs: row.createdAtMs,
    attempts: signed.map(attemptOf),
  };
}

function attemptOf({ slotId: _, firstBroadcastAtMs, ...row }: AttemptRow): Attempt {
  return {
    ...row,
    broadcastAtMs: row.broadcastAtMs ?? undefined,
    offeredSinceMs: row.offeredSinceMs ?? undefined,
    ...(firstBroadcastAtMs !== null && { firstBroadcastAtMs }),
  };
}
