-- No transaction
-- Up Migration
-- Indexes that 0050 and 0053 built inside a transaction at first: valid ones are kept.
-- Usage that has still to be summed up by the hour, and by the day.
create index concurrently api_usage_minutes on api_usage (minute_ms) where minute_ms % 3600000 <> 0;
create index concurrently api_usage_hours on api_usage (minute_ms) where minute_ms % 86400000 <> 0;
-- Expiry reads the waiting requests of one origin chain in the order of their deadlines. What a request waits for besides its deadline keeps it out.
create index concurrently requests_waiting_origin on requests (origin_chain_id, fill_deadline_ms)
  where state in ('quoted', 'depositing') and superseded_by is null and not funds_seen;
drop index concurrently if exists requests_waiting_deadline;
-- Only what pruning has still to look at, so it never walks over what it keeps.
create index concurrently requests_prunable on requests (fill_deadline_ms) where state = 'expired' and not kept;
drop index concurrently if exists requests_expired;

-- Down Migration
create index concurrently requests_expired on requests (fill_deadline_ms) where state = 'expired';
drop index concurrently if exists requests_prunable;
create index concurrently requests_waiting_deadline on requests (fill_deadline_ms) where state in ('quoted', 'depositing') and superseded_by is null;
drop index concurrently if exists requests_waiting_origin;
drop index concurrently if exists api_usage_hours;
drop index concurrently if exists api_usage_minutes;
