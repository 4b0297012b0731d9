import type { ExecutionRecord } from "../executions.port.ts";

/** Neither charged nor forgiven, so its transaction may still be sent. */
export function isOpen(execution: ExecutionRecord | undefined): execution is ExecutionRecord {
  return execution !== undefined && !execution.settled && execution.originUsd === undefined;
}
