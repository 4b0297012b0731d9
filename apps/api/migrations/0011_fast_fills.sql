-- Up Migration

-- What was promised when an app vouched for a deposit; the hold beside it says what that costs the app.
create table fast_fills (
  request_id text primary key,
  key_id text not null,
  wallet text not null,
  -- What the recipient gets, smallest units of the destination's currency.
  amount numeric(78, 0) not null check (amount > 0),
  -- What it was priced on, smallest units of the origin's currency: at most what was quoted.
  input_amount numeric(78, 0) not null check (input_amount > 0),
  -- What the app's balance gets when the deposit is there and is worth more than `input_amount`; 0: nothing.
  surplus_chain_id bigint not null,
  surplus_currency text not null,
  surplus_amount numeric(78, 0) not null check (surplus_amount >= 0),
  -- True while it has it: a reorg takes it back. Each time is a movement of its own.
  surplus_credited boolean not null default false,
  surplus_moves integer not null default 0,
  accepted_at_ms bigint not null
);

-- Transactions of a request's user that name its order and were reported before they were mined: a fast fill looks at them.
create table origin_transactions (
  request_id text not null references requests (request_id) on delete cascade,
  tx_hash text not null,
  reported_at_ms bigint not null,
  primary key (request_id, tx_hash)
);

-- The watcher looks, at each head, for deposits of fast fills that have their confirmations now.
create index requests_fronted_deposit on requests (origin_chain_id) where front in ('held', 'debited') and deposit_id is not null;

-- Down Migration
drop index requests_fronted_deposit;
drop table origin_transactions, fast_fills;
