import type { JobName } from "./job-name.port.ts";

/** Which legs have a job that waits for its turn or is running. */
export interface QueuedLegs {
  /**
   * Ids of legs whose job is in the outbox, waits in the queue or is running. Delayed jobs are not listed:
   * their runs are recorded (`JobRuns`). Undefined while Redis does not answer, or if the list is too long
   * to read.
   */
  legIdsOf(job: JobName): Promise<ReadonlySet<string> | undefined>;
}
