import type { ExecutionRecord, HubAttempt, HubTransaction } from "./settlement.port.ts";
import { hubExecutions, type hubAttempts, type hubTransactions } from "./settlement.tables.ts";

/** The columns of an {@link ExecutionRecord}. */
export const EXECUTION = {
  id: hubExecutions.id,
  idempotencyKey: hubExecutions.idempotencyKey,
  kind: hubExecutions.kind,
  actions: hubExecutions.actions,
  signature: hubExecutions.signature,
  state: hubExecutions.state,
  reason: hubExecutions.reason,
  apart: hubExecutions.apart,
};

export function executionOf(
  row: Pick<typeof hubExecutions.$inferSelect, keyof typeof EXECUTION>,
): ExecutionRecord {
  return { ...row, id: String(row.id), reason: row.reason ?? undefined };
}

export function hubTransactionOf(
  { callTo, callData, state: _, ...row }: typeof hubTransactions.$inferSelect,
  attempts: readonly (typeof hubAttempts.$inferSelect)[],
): HubTransaction {
  return {
    ...row,
    id: String(row.id),
    call: { to: callTo, data: callData },
    gasLimit: BigInt(row.gasLimit),
    attempts: attempts.map(attemptOf),
  };
}

function attemptOf({ transactionId: _, ...row }: typeof hubAttempts.$inferSelect): HubAttempt {
  return { ...row, broadcastAtMs: row.broadcastAtMs ?? undefined };
}
