-- Up Migration
-- What a fill may burn by reverting that neither its deposit nor its sponsor covers, USD with 18 decimals. Null: nothing.
alter table slots add column uncovered_usd numeric(78, 0);
create index slots_uncovered on slots (id) where uncovered_usd > 0 and state in ('open', 'mined');

-- Down Migration
drop index slots_uncovered;
alter table slots drop column uncovered_usd;
