import type { ExecutionRecord } from "../executions.port.ts";

/** Neither charged nor forgiven: it has not happened yet, and may. */
export function isOpen(execution: ExecutionRecord | undefined): execution is ExecutionRecord {
  return execution !== undefined && !execution.settled && execution.originUsd === undefined;
}
