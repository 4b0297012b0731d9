-- No transaction
-- Up Migration
-- Unpaid quotes whose destination calls take most of the row are pruned a day after they ended. The index holds only what pruning has still to look at.
create index concurrently requests_prunable_large on requests (greatest(fill_deadline_ms, state_since_ms))
  where state = 'expired' and not kept and deposit_address is null and octet_length(terms) > 4096;
drop index concurrently if exists requests_expired_large;

-- Down Migration
create index concurrently requests_expired_large on requests (fill_deadline_ms) where state = 'expired' and octet_length(terms) > 4096;
drop index concurrently if exists requests_prunable_large;
