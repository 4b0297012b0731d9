-- Up Migration
-- Announcements (NOTIFY) of committed changes that were not sent yet. A row is written with the change; after the commit it is sent and deleted. Unlogged: a crash of the
-- server ends every connection, and who listens reads everything anew then.
create unlogged table announcements (
  id bigint generated always as identity primary key,
  channel text not null,
  payload text not null,
  created_at timestamptz not null default clock_timestamp()
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- Down Migration
drop table announcements;
