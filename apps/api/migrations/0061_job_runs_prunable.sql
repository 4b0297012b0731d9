-- No transaction
-- Up Migration
-- Pruning looks every minute for what was lost long ago, and would otherwise read the whole table.
create index concurrently job_runs_lost on job_runs (lost_after_ms);

-- Down Migration
drop index concurrently if exists job_runs_lost;
