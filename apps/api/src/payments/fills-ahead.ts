import type { RequestId } from "@causeway/domain";
import type { RequestRecord } from "../db/records.port.ts";
import type { WorkerServices } from "../db/services.port.ts";
import { NOT_STORED } from "../deposits/index.ts";
import { endOf } from "../http/request-end.ts";
import { isBasisOf } from "./fill-basis.ts";
import { previewFill } from "./plan/decide-fill.ts";
import type { FillBasis, FillsAhead, PlanAhead, PlannedFill } from "./planned-fill.port.ts";

/** Equal to the number of concurrent jobs, so that a slow node gets no more requests than from these. */
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
      // In the order in which they began; jobs that another process runs leave theirs.
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
      // The job meets the error itself, if it persists.
      const answer = plan().catch(() => undefined);
      begun.set(requestId, { request, atMs: nowMs(), plan: answer.finally(() => running--), basis });
    },
    async take(requestId) {
      const one = begun.get(requestId);
      if (one === undefined) return undefined;
      begun.delete(requestId);
      if (isOld(one) || isNotStored(one.basis)) return undefined;
      // Waits for a plan in progress without a timeout: the job would query a slow node for all of it again.
      const planned = await one.plan;
      return planned && { request: one.request, planned, checkedAtMs: one.atMs };
    },
  };
}

function isNotStored(basis: FillBasis | undefined): boolean {
  return basis?.kind === "deposit" && basis.deposit.id === NOT_STORED;
}

/** Whether this is the basis of a plan once its deposit is stored: nothing that plans depend on differs. */
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
 * reserves the slot checks the request again under its lock, and that this is still its deposit.
 */
export function planAhead(services: WorkerServices): PlanAhead {
  return (request, deposit) => {
    const { destination } = request.terms;
    const basis = { kind: "deposit", deposit, sinceMs: deposit.seenAtMs } as const;
    if (!isBasisOf(basis, request.state)) return;
    const end = endOf(services.chains, destination.chainId);
    // Jobs keep to the limit of a rate-limited chain.
    if (end === undefined || end.isRateLimited) return;
    const plan = async (): Promise<PlannedFill | undefined> => {
      const look = await previewFill(services, request, basis);
      if (look.kind !== "planned" || look.whyPaid !== undefined || look.planned.kind !== "ready")
        return undefined;
      // The job reads what reverted fills have cost by then.
      return look.planned.burn.uncoveredUsd > 0n ? undefined : look.planned;
    };
    services.fillsAhead?.begin(request, plan, basis);
  };
}
