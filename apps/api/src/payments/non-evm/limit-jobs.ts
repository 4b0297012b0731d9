import { ShareUsedUp } from "@causeway/chains";
import type { ConnectedRail } from "../../chains/chains.port.ts";
import type { Progress } from "../../db/wait.ts";

/**
 * Jobs of one kind that may query a rate-limited chain at once, so that its limit does not occupy the slots
 * of other chains.
 */
const MAX_JOBS = 2;
const LOOK_AGAIN_MS = 2_000;

type Kind = "fill" | "refund";

const running = new WeakMap<ConnectedRail["rail"], Record<Kind, number>>();

/**
 * Runs a job that queries a non-EVM chain. On a rate-limited chain at most two of each kind run per process;
 * others, and those that exceed the limit, retry later without holding a slot.
 */
export async function limitJobs(
  { chain, rail }: Pick<ConnectedRail, "chain" | "rail">,
  kind: Kind,
  job: () => Promise<Progress>,
): Promise<Progress> {
  if (rail.isRateLimited !== true) return await job();
  const jobs = running.get(rail) ?? { fill: 0, refund: 0 };
  running.set(rail, jobs);
  if (jobs[kind] >= MAX_JOBS)
    return { waitMs: LOOK_AGAIN_MS, why: `earlier payments wait for the rate limit of ${chain.name}` };
  jobs[kind] += 1;
  try {
    return await job();
  } catch (error) {
    if (!(error instanceof ShareUsedUp)) throw error;
    return { waitMs: error.retryAfterSeconds * 1_000, why: error.message };
  } finally {
    jobs[kind] -= 1;
  }
}
