import { sql as text, type SQL } from "drizzle-orm";
import { jobRuns as runs } from "./db.tables.ts";
import {
  defineSql,
  nameOf,
  namesOf,
  type Params,
  defineWrite,
  defineSqlWrite,
} from "./define-query.postgres.ts";
import type { JobName } from "./job-name.port.ts";
import type { JobRuns } from "./job-runs.port.ts";
import type { Sql } from "./pool.postgres.ts";

interface Run extends Record<string, unknown> {
  readonly job: JobName;
  readonly legId: string;
  readonly jobId: string;
  readonly nowMs: number;
}
interface WaitingRun extends Run {
  readonly lostAfterMs: number;
}
const note = (p: Params<WaitingRun>): SQL => text`
  insert into ${runs} (${namesOf(runs.jobName, runs.legId, runs.jobId, runs.ranAtMs, runs.lostAfterMs)})
  values (${p.job}, ${p.legId}, ${p.jobId}, ${p.nowMs}, ${p.lostAfterMs})
  on conflict (${namesOf(runs.jobName, runs.legId)}) do update set ${nameOf(runs.jobId)} = excluded.${nameOf(runs.jobId)},
    ${nameOf(runs.ranAtMs)} = excluded.${nameOf(runs.ranAtMs)},
    ${nameOf(runs.lostAfterMs)} = excluded.${nameOf(runs.lostAfterMs)}, ${nameOf(runs.rescues)} = 0`;
const noteWaiting = defineSqlWrite("job_run_note_waiting", note);
const takeOver = defineSql(
  "job_run_take_over",
  { jobId: runs.jobId },
  (p: Params<WaitingRun>) => text`${note(p)}
    where ${runs.jobId} = excluded.${nameOf(runs.jobId)} or ${runs.lostAfterMs} <= ${p.nowMs}
    returning ${runs.jobId}`,
);
// A leg that the reconciler queued again keeps its time.
const noteFailed = defineSqlWrite(
  "job_run_note_failed",
  (p: Params<Run>) => text`
    update ${runs} set ${nameOf(runs.lostAfterMs)} = least(${runs.lostAfterMs}, ${p.nowMs})
    where ${runs.jobName} = ${p.job} and ${runs.legId} = ${p.legId} and ${runs.jobId} = ${p.jobId} and ${runs.rescues} = 0`,
);
const forgetAll = defineWrite("job_runs_forget_all", (db) => db.delete(runs));

/**
 * Parts of a statement that finds legs whose job was lost.
 * @param sinceMs when the leg entered its state; an earlier run belongs to another job
 */
export function lostJob(
  job: JobName,
  legId: SQL,
  sinceMs: SQL,
  nowMs: SQL,
): { readonly join: SQL; readonly isLost: SQL; readonly order: SQL } {
  return {
    join: text`left join ${runs} on ${runs.jobName} = ${text.raw(`'${job}'`)} and ${runs.legId} = ${legId} and ${runs.ranAtMs} >= ${sinceMs}`,
    isLost: text`coalesce(${runs.lostAfterMs}, 0) <= ${nowMs}`,
    // Legs that were queued again come last, so that those that cannot proceed do not hide lost ones.
    order: text`coalesce(${runs.lostAfterMs}, ${sinceMs})`,
  };
}

/** Job runs, on a Postgres pool. */
export function jobRuns(sql: Sql): JobRuns {
  return {
    async noteWaiting({ job, legId, jobId }, nowMs, lostAfterMs) {
      await noteWaiting(sql, { job, legId, jobId, nowMs, lostAfterMs });
    },
    async takeOver({ job, legId, jobId }, nowMs, lostAfterMs) {
      return (await takeOver(sql, { job, legId, jobId, nowMs, lostAfterMs })).length > 0;
    },
    async noteFailed({ job, legId, jobId }, nowMs) {
      await noteFailed(sql, { job, legId, jobId, nowMs });
    },
    async forgetAll() {
      await forgetAll(sql, {});
    },
  };
}
