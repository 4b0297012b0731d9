import type { ExecutionGas } from "./hub.port.ts";
import type { ExecutionRecord } from "./settlement.port.ts";

/** An execution and its gas. */
export interface EstimatedExecution {
  readonly execution: ExecutionRecord;
  readonly gas: ExecutionGas;
}

export interface Batch {
  /** In the given order; empty if nothing fits. */
  readonly executions: readonly ExecutionRecord[];
  /** Covers all of them, within the limit. */
  readonly gasLimit: bigint;
  /** Executions that exceed the limit by themselves. */
  readonly oversized: readonly EstimatedExecution[];
}

/** Gas of a transaction without executions. */
const TRANSACTION_GAS = 60_000n;

/** Gas that the executions of a transaction may use together. */
export function gasForExecutions(limit: bigint): bigint {
  return limit > TRANSACTION_GAS ? limit - TRANSACTION_GAS : 0n;
}

/**
 * Chooses the next hub transaction: as many executions as its gas allows, in order, because later ones may
 * depend on earlier ones.
 */
export function nextBatch(candidates: readonly EstimatedExecution[], limit: bigint): Batch {
  const maxGas = gasForExecutions(limit);
  const isOversized = ({ gas }: EstimatedExecution): boolean => gas.kind === "tooLarge" || gas.gas > maxGas;
  const executions: ExecutionRecord[] = [];
  let used = 0n;
  for (const { execution, gas } of candidates) {
    if (gas.kind === "tooLarge" || gas.gas > maxGas) continue;
    if (used + gas.gas > maxGas || (execution.apart && executions.length > 0)) break;
    executions.push(execution);
    used += gas.gas;
    if (execution.apart) break;
  }
  return { executions, gasLimit: TRANSACTION_GAS + used, oversized: candidates.filter(isOversized) };
}
