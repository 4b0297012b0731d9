-- Up Migration

-- One row per quote given. `terms` is the agreement (JSON text, written once); the other columns are the state.
create table requests (
  request_id text primary key,
  order_id text not null,
  kind text not null,
  state text not null,
  -- The deposit that the state is about: the accepted one, or the one being refunded.
  deposit_id bigint,
  fail_reason text,
  refund_fail_reason text,
  -- True when the outcome lies deeper than any reorg this instance reckons with.
  final boolean not null default false,
  origin_chain_id bigint not null,
  destination_chain_id bigint not null,
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  fill_deadline_ms bigint not null,
  in_tx_hashes text[] not null default '{}',
  tx_hashes text[] not null default '{}',
  refund_tx_hashes text[] not null default '{}',
  terms text not null
) with (fillfactor = 90);
create unique index requests_order_id on requests (order_id);
-- The expiry sweep reads only what still waits for a deposit.
create index requests_waiting_deadline on requests (fill_deadline_ms) where state = 'quoted';
-- Pruning reads only what was never paid for.
create index requests_expired on requests (fill_deadline_ms) where state = 'expired';
-- The reconciler reads only what is under way.
create index requests_under_way on requests (updated_at_ms) where state in ('deposited', 'fillable', 'filling', 'submitted', 'refunding');

-- What happened to a request, in order: the trace.
create table request_events (
  id bigint generated always as identity primary key,
  request_id text not null,
  at_ms bigint not null,
  event text not null,
  detail text not null
);
create index request_events_request on request_events (request_id, id);

-- Money seen arriving at a depository. A deposit is what it is by who, what, how much and for which order: the same transaction can do something else in another
-- fork, and that is another deposit. `ordinal` counts equal ones within a transaction.
create table deposits (
  id bigint generated always as identity primary key,
  chain_id bigint not null,
  tx_hash text not null,
  ordinal integer not null,
  block_number bigint not null,
  block_hash text not null,
  -- False while no canonical block holds it.
  canonical boolean not null,
  -- Height of the chain at which it has the confirmations its value asks for.
  confirm_at_block bigint not null,
  depositor text not null,
  sender text not null,
  currency text not null,
  amount numeric(78, 0) not null,
  -- USD with 18 decimals when it was agreed in a quote, else 0: what is lent against its block.
  value_usd numeric(78, 0) not null,
  order_id text,
  request_id text,
  -- accepted | refund | unattributed: what we decided to do with it.
  disposition text not null,
  -- Why it is refunded or not attributed.
  reason text,
  -- none | sent | final | impossible: how far its refund is.
  refund_state text not null default 'none',
  refund_fail_reason text,
  seen_at_ms bigint not null
);
create unique index deposits_identity on deposits
  (chain_id, tx_hash, currency, amount, depositor, sender, coalesce(order_id, ''), ordinal);
create index deposits_request on deposits (request_id) where request_id is not null;
create index deposits_recent on deposits (chain_id, block_number);
create index deposits_refund_due on deposits (id) where disposition = 'refund' and refund_state = 'none';
create index deposits_unattributed on deposits (id) where disposition = 'unattributed';

-- A same-chain transfer that a client reported and that fulfils a request of kind `send`.
create table sends (
  chain_id bigint not null,
  tx_hash text not null,
  request_id text not null unique,
  -- Null until mined.
  block_number bigint,
  block_hash text,
  settled boolean not null default false,
  created_at_ms bigint not null,
  primary key (chain_id, tx_hash)
);
create index sends_unsettled on sends (chain_id) where not settled;

-- How far the watcher of a chain has read, and the hashes it read along the way (a bounded tail).
create table chain_cursors (
  chain_id bigint primary key,
  block_number bigint not null,
  block_hash text not null
);
create table chain_blocks (
  chain_id bigint not null,
  number bigint not null,
  hash text not null,
  parent_hash text not null,
  timestamp bigint not null,
  primary key (chain_id, number)
);

-- Median-like running time from deposit seen to fill mined, per route: feeds `timeEstimate`.
create table route_timings (
  origin_chain_id bigint not null,
  destination_chain_id bigint not null,
  samples bigint not null,
  average_ms double precision not null,
  primary key (origin_chain_id, destination_chain_id)
);

-- Down Migration
drop table route_timings, chain_blocks, chain_cursors, sends, deposits, request_events, requests;
