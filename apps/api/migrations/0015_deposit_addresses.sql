-- Up Migration

-- The deposit address that a request's money comes through, and the request that took its place when another sum came than was quoted.
alter table requests add column deposit_address text collate "C";
alter table requests add column superseded_by text collate "C";
-- Money lies at the request's deposit address and waits for somebody: it can be neither filled nor given back.
alter table requests add column funds_held boolean not null default false;
-- One that another stands in for never ends by itself: it is not looked at when deadlines are.
drop index requests_waiting_deadline;
create index requests_waiting_deadline on requests (fill_deadline_ms) where state in ('quoted', 'depositing') and superseded_by is null;
create index requests_deposit_address on requests (deposit_address) where deposit_address is not null;

-- Addresses that were given out, each with the quote that it was given out for.
create table deposit_addresses (
  address text collate "C" primary key,
  -- The request of that quote, and its order: `id` of the key that the address is made of.
  request_id text collate "C" not null unique,
  order_id text not null,
  depositor text not null,
  -- The zero address: nobody.
  recovery text not null,
  strict boolean not null,
  -- Null: nobody was named; the zero address: whoever sent it.
  refund_to text,
  -- What was asked for (JSON text), to be asked again for another sum.
  question text not null,
  key_id text,
  created_at_ms bigint not null,
  -- When it was given out, used or asked about last: it is looked at less often the longer ago that is.
  active_at_ms bigint not null
);
create index deposit_addresses_active on deposit_addresses (active_at_ms desc);

-- What lies at an address and is not yet on its way: one row for each currency. A balance that changes is another observation.
create sequence deposit_address_observations;
create table deposit_address_funds (
  address text collate "C" not null references deposit_addresses (address),
  chain_id bigint not null,
  currency text collate "C" not null,
  observation bigint not null default nextval('deposit_address_observations'),
  amount numeric(78, 0) not null,
  -- Block in which it was seen first, and the last one before that in which it was not there (null: nobody looked).
  seen_block bigint not null,
  unseen_block bigint,
  seen_at_ms bigint not null,
  -- Why it stays there; null: it is not decided yet.
  held_reason text,
  primary key (address, chain_id, currency)
);
create index deposit_address_funds_age on deposit_address_funds (seen_at_ms);

-- Money that is moved from an address into the depository, under an order, in one transaction.
create table deposit_sweeps (
  id bigint generated always as identity primary key,
  -- Of one observation there is one sweep: the database itself refuses a second.
  observation bigint not null unique,
  address text collate "C" not null,
  chain_id bigint not null,
  currency text collate "C" not null,
  -- Deposited under the order, and what is deposited under it beside that (0: nothing).
  amount numeric(78, 0) not null,
  excess numeric(78, 0) not null,
  order_id text not null,
  request_id text collate "C" not null,
  -- planned | sent | mined | final | void: never made, the money is still there
  state text not null default 'planned',
  block_number bigint,
  tx_hash text,
  created_at_ms bigint not null
);
create index deposit_sweeps_open on deposit_sweeps (chain_id, address) where state in ('planned', 'sent', 'mined');
create index deposit_sweeps_address on deposit_sweeps (address, id);
create index deposit_sweeps_planned on deposit_sweeps (created_at_ms) where state = 'planned';
create index deposit_sweeps_request on deposit_sweeps (request_id);

-- A request that is listed is listed with its address.
create function list_deposit_address() returns trigger language plpgsql as $$
begin
  select deposit_address into new.deposit_address from requests where request_id = new.request_id;
  return new;
end $$;
create trigger request_history_deposit_address before insert on request_history
  for each row execute function list_deposit_address();

-- Down Migration
drop trigger request_history_deposit_address on request_history;
drop function list_deposit_address;
drop table deposit_sweeps, deposit_address_funds, deposit_addresses;
drop sequence deposit_address_observations;
drop index requests_deposit_address;
drop index requests_waiting_deadline;
create index requests_waiting_deadline on requests (fill_deadline_ms) where state in ('quoted', 'depositing');
alter table requests drop column funds_held, drop column superseded_by, drop column deposit_address;
