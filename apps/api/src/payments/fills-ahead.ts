import type { RequestId } from "@causeway/domain";
import type { WorkerServices } from "../db/services.port.ts";
import { endOf } from "../http/request-end.ts";
import { lookAtFill } from "./plan/decide-fill.ts";
import type { FillsAhead, PlannedFill } from "./planned-fill.port.ts";

/** As many as there are jobs at a time: a node that answers slowly gets no more questions than by them. */
const MAX_FILLS = 128;
/** A plan this old is made anew. */
const MAX_AGE_MS = 2_000;

interface Begun {
  readonly atMs: number;
  readonly plan: Promise<PlannedFill | undefined>;
}

export function createFillsAhead(nowMs: () => number = () => performance.now()): FillsAhead {
  const begun = new Map<RequestId, Begun>();
  const isOld = ({ atMs }: Begun): boolean => nowMs() - atMs > MAX_AGE_MS;
  return {
    begin(requestId, plan) {
      // In the order in which they began; jobs that another process runs leave theirs.
      for (const [id, one] of begun) {
        if (!isOld(one)) break;
        begun.delete(id);
      }
      if (begun.size >= MAX_FILLS || begun.has(requestId)) return;
      // The job meets the error itself, if it persists.
      begun.set(requestId, { atMs: nowMs(), plan: plan().catch(() => undefined) });
    },
    async take(requestId) {
      const one = begun.get(requestId);
      if (one === undefined) return undefined;
      begun.delete(requestId);
      const planned = isOld(one) ? undefined : await one.plan;
      return planned === undefined || isOld(one) ? undefined : { planned, checkedAtMs: one.atMs };
    },
  };
}

/**
 * Begins to plan the fill of a request whose job is about to be queued. Writes nothing, and whoever reserves
 * the slot checks the request again under its lock.
 */
export function planAhead(services: WorkerServices, requestId: RequestId): void {
  services.fillsAhead?.begin(requestId, async () => {
    const request = await services.reads.request(requestId);
    if (request?.state.name !== "fillable") return undefined;
    const destination = endOf(services.chains, request.terms.destination.chainId);
    // Jobs keep to the limit of a rate-limited chain.
    if (destination === undefined || destination.isRateLimited) return undefined;
    const look = await lookAtFill(services, request);
    const isPlanned = look.kind === "planned" && look.whyPaid === undefined;
    return isPlanned && look.planned.kind === "ready" ? look.planned : undefined;
  });
}
