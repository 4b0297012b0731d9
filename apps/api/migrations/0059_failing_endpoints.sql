-- No transaction
-- Up Migration
-- Claims of deliveries serve failing endpoints last. They read these as a set instead of looking up every endpoint with something to deliver.
create index concurrently webhook_endpoints_failing on webhook_endpoints (id)
  where failing_since_ms is not null and deleted_at_ms is null;

-- Down Migration
drop index concurrently if exists webhook_endpoints_failing;
