import type { JobName } from "./job-name.port.ts";

/** Which legs have a job that waits for its turn or is running. */
export interface QueuedLegs {
  /**
   * Ids of legs whose job is in the outbox, waits in the queue or is running. Jobs that wait for a time of
   * their own are not listed: their runs are noted. Undefined while Redis does not answer, or if the list
   * is too long to read.
   */
  of(job: JobName): Promise<ReadonlySet<string> | undefined>;
}
