import type { JobName } from "./job-name.port.ts";

/** A job of a leg, as the queue knows it. */
export interface LegJob {
  readonly job: JobName;
  readonly legId: string;
  readonly jobId: string;
}

/** Which legs have a job that waits for them, so that only what is lost is queued again. */
export interface JobRuns {
  /**
   * The job goes on waiting in the queue; it counts as lost when it does not run again before `lostAfterMs`.
   */
  noteWaiting(run: LegJob, nowMs: number, lostAfterMs: number): Promise<void>;
  /**
   * The same for a job that was queued again. False, and nothing is noted, when another job waits for the leg
   * already.
   */
  takeOver(run: LegJob, nowMs: number, lostAfterMs: number): Promise<boolean>;
  /** The queue has given up the job that waited for the leg: it counts as lost. */
  noteFailed(run: LegJob, nowMs: number): Promise<void>;
  /** The queue has lost its jobs: none of them waits any more. */
  forgetAll(): Promise<void>;
}

/** Legs that stand since before `sinceBeforeMs` and for which no job waits at `nowMs`. */
export interface Overdue {
  readonly sinceBeforeMs: number;
  readonly nowMs: number;
}
