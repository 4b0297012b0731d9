-- Up Migration

-- Jobs to be queued, committed together with the state that asks for them; the relay moves them to the queue.
create table outbox (
  id bigint generated always as identity primary key,
  job_name text not null,
  job_id text not null,
  payload text not null,
  created_at_ms bigint not null,
  published_at_ms bigint
);
create index outbox_unpublished on outbox (id) where published_at_ms is null;
create index outbox_published on outbox (published_at_ms) where published_at_ms is not null;

-- Down Migration
drop table outbox;
