import type { Outbox, OutboxEntry } from "./unit-of-work.port.ts";
import { announcing } from "./announcements.postgres.ts";
import { statement } from "./pool.postgres.ts";
import type { Sql } from "./pool.postgres.ts";

/** Channel on which a commit with new jobs is announced. */
export const OUTBOX_CHANNEL = "causeway_outbox";

const add = statement(
  "outbox_add",
  `insert into outbox (job_name, job_id, payload, created_at_ms)
   select *, $4::bigint from unnest($1::text[], $2::text[], $3::text[])
   on conflict (job_id) where published_at_ms is null do nothing`,
);
/**
 * Pause before a leg is queued again that was queued again before and did not move; doubled each time up to
 * this.
 */
const MAX_RESCUE_PAUSE_MS = 30_000;
/** After so long without a rescue the pauses begin anew. */
const RESCUES_FORGOTTEN_MS = 600_000;

// Of several processes that found the same leg one queues it: the others see that it has its turn. What was
// noted before the last `$5` ms does not count, for the leg may have moved since.
const rescue = statement(
  "outbox_rescue",
  `with lost as (select * from unnest($1::text[], $2::text[], $3::text[], $6::text[]) as l (job_name, job_id, payload, leg_id)),
   taken as (
     insert into job_runs as r (job_name, leg_id, job_id, ran_at_ms, lost_after_ms, rescues)
     select job_name, leg_id, job_id, $4::bigint, $4::bigint + $5::bigint, 1 from lost
     on conflict (job_name, leg_id) do update set job_id = excluded.job_id, ran_at_ms = excluded.ran_at_ms,
       rescues = case when r.lost_after_ms < $4 - ${RESCUES_FORGOTTEN_MS} then 1 else r.rescues + 1 end,
       lost_after_ms = $4 + case when r.lost_after_ms < $4 - ${RESCUES_FORGOTTEN_MS} then $5
         else greatest($5, least(${MAX_RESCUE_PAUSE_MS}, $5 * (1 << least(r.rescues, 10)))) end
     where r.lost_after_ms <= $4 or r.ran_at_ms <= $4 - $5
     returning job_name, leg_id)
   insert into outbox (job_name, job_id, payload, created_at_ms)
   select l.job_name, l.job_id, l.payload, $4 from lost l join taken t on t.job_name = l.job_name and t.leg_id = l.leg_id
   on conflict (job_id) where published_at_ms is null do nothing
   returning id`,
);
const announce = announcing("outbox_announce", "", `values ('${OUTBOX_CHANNEL}', '')`);

// A leg whose job was queued again meanwhile is locked, and passed over.
const pruneRuns = statement(
  "job_runs_prune",
  `delete from job_runs where (job_name, leg_id) in (
     select job_name, leg_id from job_runs where lost_after_ms < $1 order by lost_after_ms limit $2 for update skip locked)
   returning job_name`,
);
const prune = statement(
  "outbox_prune",
  `delete from outbox where id in (select id from outbox where published_at_ms < $1 order by published_at_ms limit $2)
   returning id`,
);

/** Jobs written together with the state that asks for them. */
export function outbox(sql: Sql): Outbox {
  return {
    async add(entries: readonly OutboxEntry[], atMs: number): Promise<void> {
      if (entries.length === 0) return;
      await sql.query(add, [
        entries.map((entry) => entry.job),
        entries.map((entry) => entry.jobId),
        entries.map((entry) => JSON.stringify(entry.payload)),
        atMs,
      ]);
      await sql.query(announce, []);
    },
    async rescue(lost, atMs, pauseMs): Promise<number> {
      if (lost.length === 0) return 0;
      const queued = await sql.query(rescue, [
        lost.map(({ job }) => job),
        lost.map(({ job, legId }) => `rescue-${job}-${legId}`),
        lost.map(({ payload }) => JSON.stringify({ ...payload, rescue: 1 })),
        atMs,
        pauseMs,
        lost.map(({ legId }) => legId),
      ]);
      if (queued.length > 0) await sql.query(announce, []);
      return queued.length;
    },
    async prune(beforeMs, limit): Promise<number> {
      const runs = await sql.query(pruneRuns, [beforeMs, limit]);
      return runs.length + (await sql.query(prune, [beforeMs, limit])).length;
    },
  };
}
