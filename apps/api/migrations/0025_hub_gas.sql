-- Up Migration

-- A transaction that carried it was refused for good: it goes alone from now on.
alter table hub_executions add column apart boolean not null default false;
-- Since when it is set aside, because no transaction of the hub has room for it; null while it is not.
alter table hub_executions add column set_aside_since_ms bigint;
-- The hub refused the transaction for good: it gave up what it carried, and its nonce is spent on a no-op.
alter table hub_transactions add column is_noop boolean not null default false;
alter table hub_attempts add column is_noop boolean not null default false;

-- Down Migration
alter table hub_attempts drop column is_noop;
alter table hub_transactions drop column is_noop;
alter table hub_executions drop column set_aside_since_ms, drop column apart;
