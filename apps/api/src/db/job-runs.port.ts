import type { JobName } from "./job-name.port.ts";

/** A job of a leg, as the queue knows it. */
export interface LegJob {
  readonly job: JobName;
  readonly legId: string;
  readonly jobId: string;
}

/** Which legs have a waiting job, so that only lost jobs are queued again. */
export interface JobRuns {
  /** The job keeps waiting in the queue; it counts as lost if it does not run again before `lostAfterMs`. */
  noteWaiting(run: LegJob, nowMs: number, lostAfterMs: number): Promise<void>;
  /**
   * {@link noteWaiting} for a job that the reconciler queued again. Returns false and stores nothing if
   * another job waits for the leg.
   */
  takeOver(run: LegJob, nowMs: number, lostAfterMs: number): Promise<boolean>;
  /** The queue gave up on the leg's job: it counts as lost. */
  noteFailed(run: LegJob, nowMs: number): Promise<void>;
  /** The queue has lost its jobs; none is waiting. */
  forgetAll(): Promise<void>;
}

/** Legs unchanged since `sinceBeforeMs` without a waiting job at `nowMs`. */
export interface Overdue {
  readonly sinceBeforeMs: number;
  readonly nowMs: number;
}
