-- Up Migration

-- One lane per (chain, sender): the next nonce to give away. Locked `for update` by whoever reserves.
create table lanes (
  chain_id bigint not null,
  sender text not null,
  next_nonce bigint not null,
  primary key (chain_id, sender)
);

-- One nonce of a lane, given to one leg (the fill of a request, the refund of a deposit) for good.
create table slots (
  id bigint generated always as identity primary key,
  chain_id bigint not null,
  sender text not null,
  nonce bigint not null,
  -- fill | refund
  leg_kind text not null,
  -- request id of a fill, deposit id of a refund
  leg_id text not null,
  request_id text,
  call_to text not null,
  call_data text not null,
  call_value numeric(78, 0) not null,
  gas_limit bigint not null,
  max_fee_per_gas numeric(78, 0) not null,
  max_priority_fee_per_gas numeric(78, 0) not null,
  -- What the solver's inventory loses when it is mined: counted as reserved until then.
  outflow_currency text not null,
  outflow_amount numeric(78, 0) not null,
  -- open: not mined | mined: in a canonical block | final: beyond reorgs | dead: the nonce is used up and the leg was not paid by it
  state text not null,
  -- Set when the leg must not be paid any more by this nonce: the next attempts are no-ops.
  cancel_reason text,
  cancel_after_ms bigint not null,
  -- The attempt found in a canonical block.
  mined_attempt integer,
  mined_block_number bigint,
  mined_block_hash text,
  mined_status text,
  gas_used numeric(78, 0),
  effective_gas_price numeric(78, 0),
  -- Height at which the nonce was first seen used while none of our attempts was found.
  unexplained_since bigint,
  dead_reason text,
  created_at_ms bigint not null,
  unique (chain_id, sender, nonce)
);
-- A leg is paid by at most one nonce that is not known to be dead: the database itself refuses a second payment.
create unique index slots_one_live_per_leg on slots (leg_kind, leg_id) where state <> 'dead';
create index slots_unsettled on slots (chain_id, sender, nonce) where state in ('open', 'mined');

-- Signed bytes for a slot. Committed before they are broadcast; a replacement has the same nonce and higher fees.
create table attempts (
  slot_id bigint not null references slots (id),
  n integer not null,
  -- pay | noop
  kind text not null,
  raw text not null,
  tx_hash text not null,
  max_fee_per_gas numeric(78, 0) not null,
  max_priority_fee_per_gas numeric(78, 0) not null,
  created_at_ms bigint not null,
  -- Null until a node took it; set back to null when it must be sent again.
  broadcast_at_ms bigint,
  first_broadcast_at_ms bigint,
  -- Since when nodes have had it without a break: how long it has been waiting for a block.
  offered_since_ms bigint,
  primary key (slot_id, n)
);
create unique index attempts_tx_hash on attempts (tx_hash);

-- Down Migration
drop table attempts, slots, lanes;
