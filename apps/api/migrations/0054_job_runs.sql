-- Up Migration

-- Legs whose job waits in the queue or has been queued again, so that what waits does not count as lost. Unlogged: after a crash of Postgres it is empty, and what waits is queued
-- again like what was lost, which changes nothing.
create unlogged table job_runs (
  job_name text not null,
  leg_id text collate "C" not null,
  -- The job that waits for the leg.
  job_id text not null,
  ran_at_ms bigint not null,
  -- From then on the job counts as lost.
  lost_after_ms bigint not null,
  -- How often in a row the leg was queued again.
  rescues integer not null default 0,
  primary key (job_name, leg_id)
) with (fillfactor = 70);

-- A job that is not on the queue yet is not written down again.
delete from outbox a using outbox b
  where a.published_at_ms is null and b.published_at_ms is null and a.job_id = b.job_id and a.id > b.id;
create unique index outbox_open_job on outbox (job_id) where published_at_ms is null;

-- Down Migration
drop index outbox_open_job;
drop table job_runs;
