import type { EnginePolicy } from "../db/engine-policy.port.ts";

/** Pace of settlement, and of its transactions; all times in ms. */
export interface SettlementPolicy extends Pick<
  EnginePolicy,
  "stuckAfterMs" | "rebroadcastIntervalMs" | "maxAttempts"
> {
  /** Pause between two rounds. */
  readonly intervalMs: number;
  /** Delay before a failed oracle request is retried. It doubles with each failure, up to the maximum. */
  readonly retryMs: number;
  readonly maxRetryMs: number;
  /** Delay before the attestation of a rejected payment is requested again: its cause may have been fixed. */
  readonly rejectedRetryMs: number;
  /** Payments whose attestation is requested at the same time. */
  readonly concurrency: number;
  /** Maximum number of executions per hub transaction. */
  readonly batchSize: number;
}
