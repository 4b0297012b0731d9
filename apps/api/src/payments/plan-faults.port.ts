import type { RequestId } from "@causeway/domain";

/** How long planning a request's fill has failed for one reason, as seen by this process. */
export interface PlanFaults {
  /**
   * Milliseconds since the first consecutive failure with this reason. Undefined unless the error comes from
   * the chain or a price source; also undefined for rate limits, which say nothing about the fill.
   * @param forgetAfterMs a failure this long after the previous one restarts the count
   */
  failedForMs(requestId: RequestId, error: unknown, nowMs: number, forgetAfterMs: number): number | undefined;
  /** Forgets the failures of a request, whose planning succeeded. */
  clear(requestId: RequestId): void;
}
