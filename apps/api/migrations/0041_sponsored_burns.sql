-- Up Migration
-- What a reverted fill burnt at the price of its block, USD with 18 decimals (null: no price), and the part that the request's sponsor was charged (null: not charged yet).
alter table fill_burns add column usd numeric(78, 0), add column sponsor_wei numeric(78, 0);
-- Where the money was at the address before the sweep, as in deposit_address_funds: a sweep that moves nothing gives it back. Null: an older version planned it.
alter table deposit_sweeps add column layers text;

-- Down Migration
alter table deposit_sweeps drop column layers;
alter table fill_burns drop column usd, drop column sponsor_wei;
