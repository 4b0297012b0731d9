import type { JobName } from "./job-name.port.ts";
import { COMMIT_LEASE_MS } from "./new-jobs.ts";

/** An outbox row that this process queues or runs right after its commit, without reading the table. */
export interface InProgress {
  readonly job: JobName;
  /** Whether it runs in this process, and is leased. */
  readonly isRunHere: boolean;
  /** On the monotonic clock, like `untilMs`. */
  readonly begunAtMs: number;
  /** When the relay reads it from the table after all. */
  readonly untilMs: number;
}

/** Age above which a lease is renewed: quick jobs cost nothing, and a renewal may fail twice. */
const RENEWED_AFTER_MS = 2_000;
const CHECK_INTERVAL_MS = 750;

/**
 * Renews the leases of jobs that this process still runs, all in one statement, so that a slow job is not
 * given to another process. The leases of a dead process end within {@link COMMIT_LEASE_MS}.
 * @param options.hangsAfterMs age at which a job counts as lost, and its lease is left to end
 */
export function startLeaseRenewal(
  inProgress: Map<number, InProgress>,
  options: {
    readonly hangsAfterMs: number;
    readonly renew: (ids: readonly number[]) => Promise<void>;
    readonly onFault: (error: unknown) => void;
  },
): { close(): void } {
  let isRenewing = false;
  const renewDue = async (): Promise<void> => {
    const nowMs = performance.now();
    const due = [...inProgress].filter(([, row]) => isDue(row, nowMs, options.hangsAfterMs));
    if (isRenewing || due.length === 0) return;
    isRenewing = true;
    try {
      await options.renew(due.map(([id]) => id));
      // Counted from before the statement, so this process never relies on a lease that has ended.
      for (const [id, row] of due)
        if (inProgress.has(id)) inProgress.set(id, { ...row, untilMs: nowMs + COMMIT_LEASE_MS });
    } catch (error) {
      options.onFault(error);
    } finally {
      isRenewing = false;
    }
  };
  const timer = setInterval(() => void renewDue(), CHECK_INTERVAL_MS);
  timer.unref();
  return { close: () => clearInterval(timer) };
}

function isDue({ isRunHere, begunAtMs, untilMs }: InProgress, nowMs: number, hangsAfterMs: number): boolean {
  const ageMs = nowMs - (untilMs - COMMIT_LEASE_MS);
  return (
    isRunHere && nowMs - begunAtMs < hangsAfterMs && ageMs >= RENEWED_AFTER_MS && ageMs < COMMIT_LEASE_MS
  );
}
