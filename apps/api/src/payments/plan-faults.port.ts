import type { RequestId } from "@causeway/domain";

/** Since when planning the fill of a request has failed for one reason, by what this process has seen. */
export interface PlanFaults {
  /**
   * Milliseconds since the first of the failures in a row that had this reason; undefined for an error that
   * is neither the chain's nor a price's, such as the database's, and for a rate limit or the pause after it:
   * neither says anything about the fill.
   * @param forgetAfterMs a failure so long after the one before begins a new row
   */
  failedForMs(requestId: RequestId, error: unknown, nowMs: number, forgetAfterMs: number): number | undefined;
  /** Planning did not fail. */
  clear(requestId: RequestId): void;
}
