-- Up Migration

-- Calls that the service sends for users: what was asked, what it was priced with, and whose balance bears it. One per request, written when it is accepted.
create table executions (
  request_id text primary key,
  key_id text not null,
  -- Whose balance pays; null: the output of the quote does.
  wallet text,
  -- SHA-256 of what was asked: the same question again gets the same answer.
  question_hash text not null,
  chain_id bigint not null,
  call_to text not null,
  call_data text not null,
  call_value numeric(78, 0) not null,
  -- Signed EIP-7702 authorizations (JSON); null: none.
  call_authorizations text,
  gas_limit bigint not null,
  -- The most that was reckoned with, wei per gas, a replacement included.
  max_fee_per_gas numeric(78, 0) not null,
  -- USD per whole coin of the chain at acceptance, and the flat fee; both with 18 decimals.
  coin_usd numeric(78, 0) not null,
  flat_usd numeric(78, 0) not null,
  -- What rides along with the fill (JSON), null: nothing.
  destination text,
  -- Whom and what it is for, where budgets count it, and the UTC day (since 1970) of acceptance.
  user_address text,
  target text not null,
  day integer not null,
  -- USD with 18 decimals: the most it may cost until what it did cost is known.
  cost_usd numeric(78, 0) not null,
  -- What the transaction on the origin chain and the calls beside the fill did cost; null: not known yet.
  origin_usd numeric(78, 0),
  destination_usd numeric(78, 0),
  -- The reservation was paid or released.
  settled boolean not null default false,
  created_at_ms bigint not null
);
create index executions_budget on executions (key_id, day);
create index executions_unsettled on executions (created_at_ms) where not settled;

-- Down Migration
drop table executions;
