import type { RequestId } from "@causeway/domain";
import type { RequestRecord } from "../db/records.port.ts";
import type { WorkerServices } from "../db/services.port.ts";
import { NOT_STORED } from "../deposits/index.ts";
import { endOf } from "../http/request-end.ts";
import { isBasisOf } from "./fill-basis.ts";
import { previewFill } from "./plan/decide-fill.ts";
import type { FillBasis, FillsAhead, PlanAhead, PlannedFill } from "./planned-fill.port.ts";

/** As many as jobs run concurrently, so that a slow node gets no more requests than those jobs would send. */
const MAX_FILLS = 128;
/** Age above which a job does not take a plan. */
const MAX_AGE_MS = 2_000;

interface Begun {
  readonly request: RequestRecord;
  readonly atMs: number;
  readonly plan: Promise<PlannedFill | undefined>;
  readonly basis: FillBasis | undefined;
}

export function createFillsAhead(nowMs: () => number = () => performance.now()): FillsAhead {
  const begun = new Map<RequestId, Begun>();
  let running = 0;
  const isOld = ({ atMs }: Begun): boolean => nowMs() - atMs > MAX_AGE_MS;
  return {
    begin(request, plan, basis) {
      const { requestId } = request.terms;
      // Plans stay here if another process runs their job. The map is ordered by start, oldest first.
      for (const [id, one] of begun) {
        if (!isOld(one)) break;
        begun.delete(id);
      }
      const before = begun.get(requestId);
      if (before !== undefined && basis !== undefined && isBeforeStored(before.basis, basis)) {
        const stored = before.plan.then((planned) => planned && { ...planned, basis });
        begun.set(requestId, { ...before, request, basis, plan: stored });
        return;
      }
      // A new job follows a newer commit, which an older plan has not seen.
      begun.delete(requestId);
      if (begun.size >= MAX_FILLS || running >= MAX_FILLS) return;
      running++;
      // If the error persists, the job gets it, too, and reports it.
      const answer = plan().catch(() => undefined);
      begun.set(requestId, { request, atMs: nowMs(), plan: answer.finally(() => running--), basis });
    },
    async take(requestId) {
      const one = begun.get(requestId);
      if (one === undefined) return undefined;
      begun.delete(requestId);
      if (isOld(one) || isNotStored(one.basis)) return undefined;
      // No timeout: without this plan, the job would send all of its queries to the slow node again.
      const planned = await one.plan;
      return planned && { request: one.request, planned, checkedAtMs: one.atMs };
    },
  };
}

function isNotStored(basis: FillBasis | undefined): boolean {
  return basis?.kind === "deposit" && basis.deposit.id === NOT_STORED;
}

/** Whether `basis` is `before` with its deposit stored: a plan for `before` then holds for `basis`, too. */
function isBeforeStored(before: FillBasis | undefined, basis: FillBasis): boolean {
  if (before?.kind !== "deposit" || basis.kind !== "deposit" || !isNotStored(before)) return false;
  const [seen, stored] = [before.deposit, basis.deposit];
  return (
    seen.txHash === stored.txHash &&
    seen.blockHash === stored.blockHash &&
    seen.ordinal === stored.ordinal &&
    seen.currency === stored.currency &&
    seen.amount === stored.amount &&
    seen.depositor === stored.depositor &&
    seen.seenAtMs === stored.seenAtMs
  );
}

/**
 * Plans fills while the transactions that make them possible are still being committed. The commit that
 * reserves the slot checks again, under the request's lock, the request and that its deposit is the same.
 */
export function planAhead(services: WorkerServices): PlanAhead {
  return (request, deposit) => {
    const { destination } = request.terms;
    const basis = { kind: "deposit", deposit, sinceMs: deposit.seenAtMs } as const;
    if (!isBasisOf(basis, request.state)) return;
    const end = endOf(services.chains, destination.chainId);
    // Left to the jobs, which obey the chain's rate limit.
    if (end === undefined || end.isRateLimited) return;
    const plan = async (): Promise<PlannedFill | undefined> => {
      const look = await previewFill(services, request, basis);
      if (look.kind !== "planned" || look.whyPaid !== undefined || look.planned.kind !== "ready")
        return undefined;
      // Left to the job, which reads the newest cost of reverted fills.
      return look.planned.burn.uncoveredUsd > 0n ? undefined : look.planned;
    };
    services.fillsAhead?.begin(request, plan, basis);
  };
}
