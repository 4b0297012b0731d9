-- Up Migration
-- What an app pays per whole native token that its call carries, USD with 18 decimals. Null: it carries none, or it was accepted at coin_usd.
alter table executions add column sale_price_usd numeric(78, 0);

-- Down Migration
alter table executions drop column sale_price_usd;
