import { RateLimitShareExceeded } from "@causeway/chains";
import type { AnyConnectedChain } from "../../chains/chains.port.ts";
import type { Progress } from "../../db/wait.ts";

/**
 * Jobs of one kind that may query a rate-limited chain at once, so that jobs that wait for its limit do not
 * delay those of other chains.
 */
const MAX_JOBS = 2;
const RETRY_MS = 2_000;

const running = new WeakMap<AnyConnectedChain["chain"], Map<string, number>>();

/**
 * Runs a job that queries a chain. On a rate-limited chain at most two of each kind run per process; others,
 * and those that exceed the limit, retry later without occupying a worker.
 * @param end undefined: the chain is not enabled
 */
export async function limitJobs(
  connected: Pick<AnyConnectedChain, "chain" | "isRateLimited"> | undefined,
  kind: string,
  job: () => Promise<Progress>,
): Promise<Progress> {
  if (connected?.isRateLimited !== true) return await job();
  const { chain } = connected;
  const jobs = running.get(chain) ?? new Map<string, number>();
  running.set(chain, jobs);
  const countWith = (change: number): number => (jobs.get(kind) ?? 0) + change;
  if (countWith(0) >= MAX_JOBS)
    return { waitMs: RETRY_MS, why: `earlier payments wait for the rate limit of ${chain.name}` };
  jobs.set(kind, countWith(1));
  try {
    return await job();
  } catch (error) {
    if (!(error instanceof RateLimitShareExceeded)) throw error;
    return { waitMs: error.retryAfterSeconds * 1_000, why: error.message };
  } finally {
    jobs.set(kind, countWith(-1));
  }
}
