-- Up Migration

-- When a fast fill was last tried to be booked or debited: those that were not tried for longest come first, so none keeps others waiting.
alter table fast_fills add column tried_at_ms bigint not null default 0;

-- Down Migration
alter table fast_fills drop column tried_at_ms;
