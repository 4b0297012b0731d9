-- Up Migration

-- Expiry reads the waiting requests of one origin chain in the order of their deadlines. What a request waits for besides its deadline keeps it out.
create index requests_waiting_origin on requests (origin_chain_id, fill_deadline_ms)
  where state in ('quoted', 'depositing') and superseded_by is null and not funds_seen;
drop index requests_waiting_deadline;

-- Pruning has looked at the request and keeps it. The index holds only what pruning has still to look at, so it never walks over what it keeps.
alter table requests add column kept boolean not null default false;
create index requests_prunable on requests (fill_deadline_ms) where state = 'expired' and not kept;
drop index requests_expired;

-- Down Migration
create index requests_expired on requests (fill_deadline_ms) where state = 'expired';
drop index requests_prunable;
alter table requests drop column kept;
create index requests_waiting_deadline on requests (fill_deadline_ms) where state in ('quoted', 'depositing') and superseded_by is null;
drop index requests_waiting_origin;
