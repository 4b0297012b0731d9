import type { JobName } from "./job-name.port.ts";

/** The id of a job that the reconciler queues again: one per leg. */
export function rescueJobId(job: JobName, legId: string): string {
  return `rescue-${job}-${legId}`;
}

/** The leg of a job, by its id: `<job>-<leg>-<number>`, or the one that {@link rescueJobId} gives. */
export function legOfJobId(job: JobName, jobId: string): string {
  const rescue = rescueJobId(job, "");
  if (jobId.startsWith(rescue)) return jobId.slice(rescue.length);
  return jobId.slice(job.length + 1).replace(/-\d+$/, "");
}
