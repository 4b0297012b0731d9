-- Up Migration

-- Withdrawals of the solver's balance on the hub, by the address that they have there. What is on the chains decides; this remembers what cannot be made twice.
create table hub_withdrawals (
  withdrawal_address text primary key,
  chain_name text not null,
  depository text not null,
  currency text not null,
  amount numeric(78, 0) not null,
  recipient text not null,
  nonce text not null,
  -- The one payload that may ever be signed for it: written before it is recorded on the hub, and recorded before it is signed.
  payload text,
  -- executed: paid out, the balance burned | expired: never to be paid out, the balance given back; null while under way
  outcome text,
  created_at_ms bigint not null,
  updated_at_ms bigint not null
);

-- Down Migration
drop table hub_withdrawals;
