import { RpcFault } from "@causeway/chains";
import { ServiceError } from "@causeway/domain";
import type { RequestId } from "@causeway/domain";
import type { PlanFaults } from "./plan-faults.port.ts";

/** Maximum requests whose faults are remembered; the oldest are dropped. */
const MAX_REMEMBERED = 10_000;

interface Row {
  readonly reason: string;
  readonly firstMs: number;
  readonly lastMs: number;
}

/**
 * In memory: a restart starts over. A process that keeps restarting refunds at the fill deadline at the
 * latest.
 */
export function createPlanFaults(): PlanFaults {
  const rows = new Map<RequestId, Row>();
  return {
    failedForMs: (requestId, error, nowMs, forgetAfterMs) => {
      const reason = reasonOf(error);
      if (reason === undefined) return undefined;
      const previous = rows.get(requestId);
      const continues = previous?.reason === reason && nowMs - previous.lastMs <= forgetAfterMs;
      const firstMs = continues ? previous.firstMs : nowMs;
      rows.delete(requestId);
      rows.set(requestId, { reason, firstMs, lastMs: nowMs });
      const [oldest] = rows.keys();
      if (rows.size > MAX_REMEMBERED && oldest !== undefined) rows.delete(oldest);
      return nowMs - firstMs;
    },
    clear: (requestId) => void rows.delete(requestId),
  };
}

/** Block numbers, hashes and amounts differ between attempts and are replaced. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof RpcFault && error.isPause) return undefined;
  if (error instanceof RpcFault) return `${error.kind} ${error.message}`.replaceAll(/0x[0-9a-f]+|\d+/gi, "#");
  if (error instanceof ServiceError) return error.code;
  return undefined;
}
