-- Up Migration

-- How far the watcher of a chain that is reached by a rail has read. What the cursor says is the rail's own business.
create table rail_cursors (
  chain_id bigint primary key,
  cursor text not null,
  -- The block (slot, ledger) up to which it was read, and its unix seconds.
  block_number bigint not null,
  block_hash text not null,
  block_seconds bigint not null
);

-- On some chains a transfer cannot carry an id: its sender says beside it, by the nonce that he signed it with, what it is for.
alter table deposits
  add column wallet_nonce numeric(78, 0),
  -- Until when he may still say it; null: nothing is waited for.
  add column mapping_until_ms bigint;
-- Who it is for is known later, so it is no part of what such a deposit is known by.
create unique index deposits_by_nonce on deposits (chain_id, tx_hash, sender, wallet_nonce, ordinal) where wallet_nonce is not null;
create index deposits_unmapped on deposits (chain_id, id) where mapping_until_ms is not null;

-- Down Migration
drop index deposits_unmapped;
drop index deposits_by_nonce;
alter table deposits drop column mapping_until_ms, drop column wallet_nonce;
drop table rail_cursors;
