import type { RequestId } from "@causeway/domain";
import type { RequestRecord } from "../db/records.port.ts";
import type { WorkerServices } from "../db/services.port.ts";
import { NOT_STORED } from "../deposits/index.ts";
import { connectedChainOf } from "../http/connected-chain.ts";
import { isBasisOf } from "./fill-basis.ts";
import { previewFill } from "./plan/decide-fill.ts";
import type { FillBasis, FillsAhead, PlanAhead, PlannedFill } from "./planned-fill.port.ts";

/** As many as jobs run concurrently, so that a slow node gets no more requests than those jobs would send. */
const MAX_FILLS = 128;
/** Age (ms) above which a job does not use a plan. */
const MAX_AGE_MS = 2_000;

interface StartedPlan {
  readonly request: RequestRecord;
  readonly atMs: number;
  readonly plan: Promise<PlannedFill | undefined>;
  readonly basis: FillBasis | undefined;
}

export function createFillsAhead(nowMs: () => number = () => performance.now()): FillsAhead {
  const started = new Map<RequestId, StartedPlan>();
  let running = 0;
  const isOld = ({ atMs }: StartedPlan): boolean => nowMs() - atMs > MAX_AGE_MS;
  return {
    begin(request, plan, basis) {
      const { requestId } = request.terms;
      // Plans stay here if another process runs their job. The map is ordered by start, oldest first.
      for (const [id, entry] of started) {
        if (!isOld(entry)) break;
        started.delete(id);
      }
      const previous = started.get(requestId);
      if (previous !== undefined && basis !== undefined && isNowStored(previous.basis, basis)) {
        const stored = previous.plan.then((planned) => planned && { ...planned, basis });
        started.set(requestId, { ...previous, request, basis, plan: stored });
        return;
      }
      // A new job follows a newer commit, which an older plan has not seen.
      started.delete(requestId);
      if (started.size >= MAX_FILLS || running >= MAX_FILLS) return;
      running++;
      // If the error persists, the job gets it, too, and reports it.
      const planning = plan().catch(() => undefined);
      started.set(requestId, { request, atMs: nowMs(), plan: planning.finally(() => running--), basis });
    },
    async take(requestId) {
      const entry = started.get(requestId);
      if (entry === undefined) return undefined;
      started.delete(requestId);
      if (isOld(entry) || isNotStored(entry.basis)) return undefined;
      // No timeout: without this plan, the job would send all of its queries to the slow node again.
      const planned = await entry.plan;
      return planned && { request: entry.request, planned, checkedAtMs: entry.atMs };
    },
  };
}

function isNotStored(basis: FillBasis | undefined): boolean {
  return basis?.kind === "deposit" && basis.deposit.id === NOT_STORED;
}

/**
 * Whether `basis` has the deposit of `before`, stored since: a plan for `before` then holds for `basis`, too.
 */
function isNowStored(before: FillBasis | undefined, basis: FillBasis): boolean {
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
    const connected = connectedChainOf(services.chains, destination.chainId);
    // Left to the jobs, which obey the chain's rate limit.
    if (connected === undefined || connected.isRateLimited) return;
    const plan = async (): Promise<PlannedFill | undefined> => {
      const preview = await previewFill(services, request, basis);
      if (preview.kind !== "planned" || preview.whyPaid !== undefined || preview.planned.kind !== "ready")
        return undefined;
      // Left to the job, which reads the newest cost of reverted fills.
      return preview.planned.burn.uncoveredUsd > 0n ? undefined : preview.planned;
    };
    services.fillsAhead?.begin(request, plan, basis);
  };
}
