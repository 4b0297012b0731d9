import { sql as text, type SQL } from "drizzle-orm";
import type { Outbox, OutboxEntry } from "./unit-of-work.port.ts";
import { storeAnnouncements } from "./announcements.postgres.ts";
import { jobRuns, outbox as jobs } from "./db.tables.ts";
import {
  columnsOf,
  defineSql,
  defineSqlWrite,
  nameOf,
  namesOf,
  type Params,
} from "./define-query.postgres.ts";
import { rescueJobId } from "./leg-of-job-id.ts";
import type { JobName } from "./job-name.port.ts";
import { COMMIT_LEASE_MS, type StoredJob } from "./new-jobs.ts";
import type { Sql } from "./pool.postgres.ts";

/** Channel on which a commit with new jobs is announced. */
export const OUTBOX_CHANNEL = "causeway_outbox";

/** Maximum pause before a stuck leg is queued again; each pause is twice the last. */
const MAX_RESCUE_PAUSE_MS = text.raw("30000");
/** A leg that was not queued again for this long starts with the shortest pause. */
const RESCUES_FORGOTTEN_MS = text.raw("600000");

interface Jobs extends Record<string, unknown> {
  readonly names: readonly string[];
  readonly jobIds: readonly string[];
  readonly payloads: readonly string[];
}
interface NewJobRows extends Jobs {
  readonly atMs: readonly number[];
  readonly isLeased: readonly boolean[];
}
const stored = [jobs.jobName, jobs.jobId, jobs.payload, jobs.createdAtMs] as const;
const unlessOpen = text`on conflict (${nameOf(jobs.jobId)}) where ${nameOf(jobs.publishedAtMs)} is null do nothing`;
/** Announces, once, the rows that the part of the statement named `queued` inserted. */
const announceQueued = storeAnnouncements(
  text`select ${text.raw(`'${OUTBOX_CHANNEL}'`)}, '' where exists (select from queued)`,
);
/** When a lease that begins now ends. */
export const LEASE_END = text.raw(`clock_timestamp() + interval '${COMMIT_LEASE_MS} milliseconds'`);
const addJobs = (p: Params<NewJobRows>): SQL => text`
  insert into ${jobs} (${namesOf(...stored, jobs.leasedUntil)})
  select job_name, job_id, payload, at_ms, case when is_leased then ${LEASE_END} end
  from unnest(${p.names}::text[], ${p.jobIds}::text[], ${p.payloads}::text[], ${p.atMs}::bigint[],
    ${p.isLeased}::boolean[]) as a (job_name, job_id, payload, at_ms, is_leased)
  ${unlessOpen}`;
const STORED = { id: jobs.id, jobId: jobs.jobId };
const add = defineSql(
  "outbox_add",
  STORED,
  (p: Params<NewJobRows>) => text`${addJobs(p)} returning ${columnsOf(STORED)}`,
);
const addAnnounced = defineSqlWrite(
  "outbox_add_announced",
  (p: Params<NewJobRows>) => text`
    with queued as (${addJobs(p)} returning ${jobs.id}) ${announceQueued}`,
  { announces: true },
);

// If several processes find the same lost leg, one queues it and the others see that. A run recorded more
// than a pause ago does not count, because the leg may have moved since.
const rescue = defineSql(
  "outbox_rescue",
  { id: jobs.id },
  (
    p: Params<Jobs & { readonly legIds: readonly string[]; readonly atMs: number; readonly pauseMs: number }>,
  ) => {
    const [now, pause]: SQL[] = [text`${p.atMs}::bigint`, text`${p.pauseMs}::bigint`];
    const isForgotten = text`${jobRuns.lostAfterMs} < ${now} - ${RESCUES_FORGOTTEN_MS}`;
    return text`
      with lost as (
        select * from unnest(${p.names}::text[], ${p.jobIds}::text[], ${p.payloads}::text[], ${p.legIds}::text[])
          as l (job_name, job_id, payload, leg_id)),
      taken as (
        insert into ${jobRuns} (${namesOf(
          jobRuns.jobName,
          jobRuns.legId,
          jobRuns.jobId,
          jobRuns.ranAtMs,
          jobRuns.lostAfterMs,
          jobRuns.rescues,
        )})
        select job_name, leg_id, job_id, ${now}, ${now} + ${pause}, 1 from lost
        on conflict (${namesOf(jobRuns.jobName, jobRuns.legId)}) do update set
          ${nameOf(jobRuns.jobId)} = excluded.${nameOf(jobRuns.jobId)},
          ${nameOf(jobRuns.ranAtMs)} = excluded.${nameOf(jobRuns.ranAtMs)},
          ${nameOf(jobRuns.rescues)} = case when ${isForgotten} then 1 else ${jobRuns.rescues} + 1 end,
          ${nameOf(jobRuns.lostAfterMs)} = ${now} + case when ${isForgotten} then ${pause}
            else greatest(${pause}, least(${MAX_RESCUE_PAUSE_MS}, ${pause} * (1 << least(${jobRuns.rescues}, 10)))) end
        where ${jobRuns.lostAfterMs} <= ${now} or ${jobRuns.ranAtMs} <= ${now} - ${pause}
        returning ${jobRuns.jobName}, ${jobRuns.legId}),
      queued as (
        insert into ${jobs} (${namesOf(...stored)})
        select l.job_name, l.job_id, l.payload, ${now} from lost l join taken t on t.job_name = l.job_name and t.leg_id = l.leg_id
        ${unlessOpen} returning ${jobs.id}),
      announced as (${announceQueued})
      select id from queued`;
  },
  { announces: true },
);

interface PruneParams extends Record<string, unknown> {
  readonly beforeMs: number;
  readonly limit: number;
}
// A leg that is being queued again is locked, so it is skipped.
const pruneRuns = defineSql(
  "job_runs_prune",
  { jobName: jobRuns.jobName },
  (p: Params<PruneParams>) => text`delete from ${jobRuns} where ctid = any(array(
      select ctid from ${jobRuns} where ${jobRuns.lostAfterMs} < ${p.beforeMs}
      order by ${jobRuns.lostAfterMs} limit ${p.limit} for update skip locked))
    returning ${jobRuns.jobName}`,
);
const prune = defineSql(
  "outbox_prune",
  { id: jobs.id },
  (p: Params<PruneParams>) => text`delete from ${jobs} where ${jobs.id} = any(array(
      select ${jobs.id} from ${jobs} where ${jobs.publishedAtMs} < ${p.beforeMs} order by ${jobs.publishedAtMs} limit ${p.limit}))
    returning ${jobs.id}`,
);

/** The outbox of one transaction, which writes added jobs at the end of the transaction. */
export interface PendingOutbox extends Outbox {
  /**
   * Writes the added jobs in one statement. Call just before the commit.
   * @param announces whether relays of other processes learn of them before they poll
   * @param leases whether this process runs jobs of this queue itself: relays leave them to it for a while
   * @returns the stored jobs; none if they are announced
   */
  flush(announces: boolean, leases?: (job: JobName) => boolean): Promise<readonly StoredJob[]>;
}

/** Jobs written in the same transaction as the state that needs them. */
export function outbox(sql: Sql): PendingOutbox {
  const added: Array<OutboxEntry & { readonly atMs: number }> = [];
  return {
    async add(entries: readonly OutboxEntry[], atMs: number): Promise<void> {
      added.push(...entries.map((entry) => ({ ...entry, atMs })));
    },
    async flush(announces, leases = () => false): Promise<readonly StoredJob[]> {
      const entries = added.splice(0);
      if (entries.length === 0) return [];
      const rows = {
        names: entries.map((entry) => entry.job),
        jobIds: entries.map((entry) => entry.jobId),
        payloads: entries.map((entry) => JSON.stringify(entry.payload)),
        atMs: entries.map((entry) => entry.atMs),
        isLeased: entries.map((entry) => !announces && leases(entry.job)),
      };
      if (announces) {
        await addAnnounced(sql, rows);
        return [];
      }
      const byId = new Map(entries.map((entry) => [entry.jobId, entry]));
      return (await add(sql, rows)).flatMap(({ id, jobId }) => {
        const entry = byId.get(jobId);
        return entry === undefined ? [] : { id, job: entry.job, jobId, payload: entry.payload };
      });
    },
    async rescue(lost, atMs, pauseMs): Promise<number> {
      if (lost.length === 0) return 0;
      const queued = await rescue(sql, {
        names: lost.map(({ job }) => job),
        jobIds: lost.map(({ job, legId }) => rescueJobId(job, legId)),
        payloads: lost.map(({ payload }) => JSON.stringify({ ...payload, rescue: 1 })),
        legIds: lost.map(({ legId }) => legId),
        atMs,
        pauseMs,
      });
      return queued.length;
    },
    async prune(beforeMs, limit): Promise<number> {
      const runs = await pruneRuns(sql, { beforeMs, limit });
      return runs.length + (await prune(sql, { beforeMs, limit })).length;
    },
  };
}
