-- Up Migration

-- Fills that are final, and whose apps are not credited yet because no fresh price was there: found again whatever became of the job.
create table app_fees_due (
  request_id text collate "C" primary key,
  since_ms bigint not null
);

-- Down Migration
drop table app_fees_due;
