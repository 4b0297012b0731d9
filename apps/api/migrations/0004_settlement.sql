-- Up Migration

-- Whether a payment that is final was handed to settlement. A sweep looks for it: payments themselves know nothing of settlement and never wait for it.
alter table slots add column settlement_noted boolean not null default false;
create index slots_settlement_due on slots (id) where state = 'final' and not settlement_noted;

-- One payment of the solver (the fill of a request, the refund of a deposit) that the hub owes it for.
create table settlements (
  slot_id bigint primary key references slots (id),
  request_id text not null,
  -- due: no quorum has signed it yet | attested: signed, to be carried out on the hub | settled: carried out, beyond reorgs of the hub
  state text not null,
  -- What it waits for, in words; null when nothing is known.
  reason text,
  -- An oracle has said no, or no oracle can attest it: asked again rarely.
  rejected boolean not null default false,
  tries integer not null default 0,
  next_try_ms bigint not null,
  -- The executions that settle it: the deposit becomes money on the hub, then that money goes to the solver.
  deposit_key text,
  payment_key text,
  created_at_ms bigint not null,
  updated_at_ms bigint not null
);
create index settlements_due on settlements (next_try_ms) where state = 'due';
create index settlements_attested on settlements (slot_id) where state = 'attested';
create index settlements_request on settlements (request_id);

-- A transaction that carries executions to the hub: one nonce, and the signed variants of it. Its call never changes.
create table hub_transactions (
  id bigint generated always as identity primary key,
  sender text not null,
  nonce bigint not null,
  call_to text not null,
  call_data text not null,
  gas_limit bigint not null,
  max_fee_per_gas numeric(78, 0) not null,
  max_priority_fee_per_gas numeric(78, 0) not null,
  -- open: the nonce may still be free | final: it is used up, beyond reorgs of the hub
  state text not null,
  created_at_ms bigint not null,
  unique (sender, nonce)
);
create index hub_transactions_open on hub_transactions (nonce) where state = 'open';

-- Signed bytes of such a transaction: committed before they are broadcast.
create table hub_attempts (
  transaction_id bigint not null references hub_transactions (id),
  n integer not null,
  raw text not null,
  tx_hash text not null,
  max_fee_per_gas numeric(78, 0) not null,
  max_priority_fee_per_gas numeric(78, 0) not null,
  created_at_ms bigint not null,
  broadcast_at_ms bigint,
  primary key (transaction_id, n)
);

-- What a quorum of oracles signed, to be carried out on the hub once. The id is the order in which it is carried out.
create table hub_executions (
  id bigint generated always as identity primary key,
  idempotency_key text not null unique,
  -- deposit | fill | refund | initiation | withdrawal
  kind text not null,
  actions text[] not null,
  -- As many signatures as the multisig reads, ascending by signer, one after the other.
  signature text not null,
  -- attested: to be carried out | settled: carried out, beyond reorgs of the hub | refused: the hub did not carry it out; it is to be attested anew
  state text not null,
  -- The transaction that carries it; null while none does.
  transaction_id bigint references hub_transactions (id),
  reason text,
  next_try_ms bigint not null,
  created_at_ms bigint not null,
  settled_at_ms bigint
);
create index hub_executions_due on hub_executions (id) where state = 'attested' and transaction_id is null;
create index hub_executions_transaction on hub_executions (transaction_id) where state = 'attested';

-- Down Migration
drop table hub_executions, hub_attempts, hub_transactions, settlements;
alter table slots drop column settlement_noted;
