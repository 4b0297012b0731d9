-- Up Migration

-- Expiry reads the waiting requests of one origin chain in the order of their deadlines. What a request waits for besides its deadline keeps it out.
create index requests_waiting_origin on requests (origin_chain_id, fill_deadline_ms)
  where state in ('quoted', 'depositing') and superseded_by is null and not funds_seen;
drop index requests_waiting_deadline;

-- Down Migration
create index requests_waiting_deadline on requests (fill_deadline_ms) where state in ('quoted', 'depositing') and superseded_by is null;
drop index requests_waiting_origin;
