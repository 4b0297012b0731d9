import type { JobRuns } from "./job-runs.port.ts";
import type { JobName } from "./job-name.port.ts";
import { statement } from "./pool.postgres.ts";
import type { Sql } from "./pool.postgres.ts";

const noteWaiting = statement(
  "job_run_note_waiting",
  `insert into job_runs (job_name, leg_id, job_id, ran_at_ms, lost_after_ms) values ($1, $2, $3, $4, $5)
   on conflict (job_name, leg_id) do update set job_id = excluded.job_id, ran_at_ms = excluded.ran_at_ms,
     lost_after_ms = excluded.lost_after_ms, rescues = 0`,
);
const takeOver = statement(
  "job_run_take_over",
  `insert into job_runs as r (job_name, leg_id, job_id, ran_at_ms, lost_after_ms) values ($1, $2, $3, $4, $5)
   on conflict (job_name, leg_id) do update set job_id = excluded.job_id, ran_at_ms = excluded.ran_at_ms,
     lost_after_ms = excluded.lost_after_ms, rescues = 0
   where r.job_id = excluded.job_id or r.lost_after_ms <= $4
   returning 1`,
);
// Not of a leg that was queued again: its next turn is set already.
const noteFailed = statement(
  "job_run_note_failed",
  `update job_runs set lost_after_ms = least(lost_after_ms, $4)
   where job_name = $1 and leg_id = $2 and job_id = $3 and rescues = 0`,
);
const forgetAll = statement("job_runs_forget_all", "delete from job_runs");

/**
 * Parts of a statement that finds legs without a job. `$3` is now, ms; `since` says when the leg got into its
 * state: what ran before it is of another job.
 */
export function withoutJob(
  job: JobName,
  legId: string,
  since: string,
): { readonly join: string; readonly isLost: string; readonly order: string } {
  return {
    join: `left join job_runs j on j.job_name = '${job}' and j.leg_id = ${legId} and j.ran_at_ms >= ${since}`,
    isLost: "coalesce(j.lost_after_ms, 0) <= $3",
    // Those that were queued again come last: what cannot go on does not hide what was lost.
    order: `coalesce(j.lost_after_ms, ${since})`,
  };
}

/** Job runs, on a Postgres pool. */
export function jobRuns(sql: Sql): JobRuns {
  return {
    async noteWaiting({ job, legId, jobId }, nowMs, lostAfterMs) {
      await sql.query(noteWaiting, [job, legId, jobId, nowMs, lostAfterMs]);
    },
    async takeOver({ job, legId, jobId }, nowMs, lostAfterMs) {
      return (await sql.query(takeOver, [job, legId, jobId, nowMs, lostAfterMs])).length > 0;
    },
    async noteFailed({ job, legId, jobId }, nowMs) {
      await sql.query(noteFailed, [job, legId, jobId, nowMs]);
    },
    async forgetAll() {
      await sql.query(forgetAll, []);
    },
  };
}
