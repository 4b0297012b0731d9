import { RpcFault } from "@causeway/chains";
import { ServiceError, type RequestId } from "@causeway/domain";

/** Requests whose faults are remembered; beyond that the oldest are forgotten. */
const MAX_REMEMBERED = 10_000;

/** Since when planning the fill of a request has failed for one reason, by what this process has seen. */
export interface PlanFaults {
  /**
   * Milliseconds since the first of the failures in a row that had this reason; undefined for an error that is neither the chain's nor a price's,
   * such as the database's: it says nothing about the fill.
   * @param forgetAfterMs a failure so long after the one before begins a new row
   */
  failedForMs(requestId: RequestId, error: unknown, nowMs: number, forgetAfterMs: number): number | undefined;
  /** Planning did not fail. */
  clear(requestId: RequestId): void;
}

interface Row {
  readonly reason: string;
  readonly firstMs: number;
  readonly lastMs: number;
}

export function createPlanFaults(): PlanFaults {
  const rows = new Map<RequestId, Row>();
  return {
    failedForMs: (requestId, error, nowMs, forgetAfterMs) => {
      const reason = reasonOf(error);
      if (reason === undefined) return undefined;
      const known = rows.get(requestId);
      const goesOn = known?.reason === reason && nowMs - known.lastMs <= forgetAfterMs;
      const firstMs = goesOn ? known.firstMs : nowMs;
      rows.delete(requestId);
      rows.set(requestId, { reason, firstMs, lastMs: nowMs });
      const [oldest] = rows.keys();
      if (rows.size > MAX_REMEMBERED && oldest !== undefined) rows.delete(oldest);
      return nowMs - firstMs;
    },
    clear: (requestId) => void rows.delete(requestId),
  };
}

/** Block numbers, hashes and amounts differ from try to try and are no part of it. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof RpcFault) return `${error.kind} ${error.message}`.replaceAll(/0x[0-9a-f]+|\d+/gi, "#");
  if (error instanceof ServiceError) return error.code;
  return undefined;
}
