-- Up Migration

alter table deposits
  -- Oracles cannot read the receipt of its transaction: neither a fill nor a refund of it is ever repaid.
  add column unattestable boolean not null default false,
  -- When the operator released its refund from the daily limit; null: never.
  add column refund_released_at_ms bigint;

-- Down Migration
alter table deposits
  drop column refund_released_at_ms,
  drop column unattestable;
