-- Up Migration
-- What a paid reservation cost, USD with 18 decimals; budgets count it. Null: all of it, or not paid.
alter table fee_reservations add column paid_usd numeric(78, 0);

-- Down Migration
alter table fee_reservations drop column paid_usd;
