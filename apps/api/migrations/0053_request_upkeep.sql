-- Up Migration

-- Pruning has looked at the request and keeps it.
alter table requests add column kept boolean not null default false;

-- Down Migration
alter table requests drop column kept;
