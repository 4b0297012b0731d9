-- Up Migration
-- Deliveries that are being sent: their places count. A lease that ended stays until its delivery is claimed again.
create index webhook_deliveries_leased on webhook_deliveries (lease_until_ms) where state = 'waiting' and lease_until_ms > 0;
-- How many endpoints a key made of late, removed ones included.
create index webhook_endpoints_made on webhook_endpoints (key_id, created_at_ms);
-- Removed endpoints, to be deleted when their deliveries are forgotten.
create index webhook_endpoints_removed on webhook_endpoints (deleted_at_ms) where deleted_at_ms is not null;

-- Down Migration
drop index webhook_deliveries_leased, webhook_endpoints_made, webhook_endpoints_removed;
