import type { ExecutionRecord } from "./settlement.port.ts";
import { hubExecutions } from "./settlement.tables.ts";

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
