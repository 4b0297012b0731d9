-- Up Migration

-- Ids are compared by their bytes wherever they stand: a join of two orders cannot use an index of either.
alter table request_events
  alter column request_id type text collate "C";
alter table deposits
  alter column request_id type text collate "C",
  alter column order_id type text collate "C";
alter table sends
  alter column request_id type text collate "C";
alter table slots
  alter column request_id type text collate "C";
alter table settlements
  alter column request_id type text collate "C";
alter table fee_reservations
  alter column request_id type text collate "C";
alter table holds
  alter column request_id type text collate "C";
alter table executions
  alter column request_id type text collate "C";
alter table fast_fills
  alter column request_id type text collate "C";
alter table origin_transactions
  alter column request_id type text collate "C";
alter table ledger_movements
  alter column request_id type text collate "C";

-- What clients may list requests by: one row for each request that anything has happened to, in their words. A quote that nobody pays costs nothing here.
-- Rows are written where `requests` is, in the same commit, by the triggers below: whatever changes a request, old code or new, its row follows.

-- The client's word for a state: `publicStatus` of the domain.
create function request_status_word(state text) returns text language sql immutable parallel safe as $$
  select case
    when state in ('quoted', 'accepted') then 'waiting'
    when state = 'depositing' then 'depositing'
    when state in ('deposited', 'fillable', 'filling', 'refunding') then 'pending'
    when state = 'submitted' then 'submitted'
    when state = 'filled' then 'success'
    when state = 'refunded' then 'refund'
    when state in ('failed', 'expired') then 'failure'
  end
$$;

-- Names of currencies, as the configuration and the token book have them: what a currency is called when a request is first listed.
create table currency_names (
  chain_id bigint not null,
  address text collate "C" not null,
  -- The same for one asset on all chains; null: nobody says what it is the same as.
  asset text collate "C",
  symbol text not null,
  -- The token is the chain's native coin, one for one.
  wraps_native boolean not null default false,
  primary key (chain_id, address)
);

create table request_history (
  -- Breaks ties of the sort key, in a fraction of the bytes of a request id.
  n bigint generated always as identity primary key,
  request_id text collate "C" not null references requests (request_id) on delete cascade,
  -- When it was quoted, and when what clients see of it last changed.
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  status text collate "C" not null,
  fail_reason text collate "C",
  refund_fail_reason text collate "C",
  -- Bridge, Crosschain Swap, Same-chain Swap, Send, Wrap, Unwrap, Call
  request_type text collate "C" not null,
  user_address text collate "C",
  recipient text collate "C",
  deposit_address text collate "C",
  origin_chain_id bigint not null,
  destination_chain_id bigint not null,
  -- What the user pays and what the recipient gets; symbols in lower case, null when nobody has named them.
  currency_in text collate "C",
  currency_out text collate "C",
  symbol_in text collate "C",
  symbol_out text collate "C",
  -- Millionths of a USD, as quoted.
  amount_usd bigint not null,
  app_fees_usd bigint not null default 0,
  features text[] not null default '{}',
  -- The API key that asked, and what it called itself.
  key_id text collate "C",
  referrer text,
  -- Block of the deposit on the origin chain, and when it was seen there.
  in_block bigint,
  in_seen_at_ms bigint,
  -- From then until the fill was in a block; null unless the fill waited for the deposit.
  fill_ms bigint
);
create unique index request_history_request on request_history (request_id);
create index request_history_created on request_history (created_at_ms, n);
create index request_history_updated on request_history (updated_at_ms, n);
create index request_history_amount on request_history (amount_usd, n, created_at_ms);
create index request_history_status on request_history (status, created_at_ms, n);
create index request_history_type on request_history (request_type, created_at_ms, n);
create index request_history_user on request_history (user_address, created_at_ms, n);
create index request_history_recipient on request_history (recipient, created_at_ms, n);
create index request_history_origin on request_history (origin_chain_id, created_at_ms, n);
create index request_history_destination on request_history (destination_chain_id, created_at_ms, n);
create index request_history_currency_in on request_history (currency_in, created_at_ms, n);
create index request_history_currency_out on request_history (currency_out, created_at_ms, n);
create index request_history_symbol_in on request_history (symbol_in, created_at_ms, n);
create index request_history_symbol_out on request_history (symbol_out, created_at_ms, n);
create index request_history_block on request_history (in_block, created_at_ms, n);
create index request_history_chain_block on request_history (origin_chain_id, in_block, in_seen_at_ms);
-- Most have none of these.
create index request_history_fail on request_history (fail_reason, created_at_ms, n) where fail_reason is not null;
create index request_history_refund_fail on request_history (refund_fail_reason, created_at_ms, n)
  where refund_fail_reason is not null;
create index request_history_key on request_history (key_id, created_at_ms, n) where key_id is not null;
create index request_history_deposit_address on request_history (deposit_address, created_at_ms, n)
  where deposit_address is not null;
create index request_history_fill_time on request_history (fill_ms, created_at_ms, n) where fill_ms is not null;
create index request_history_app_fees on request_history (app_fees_usd, created_at_ms, n) where app_fees_usd > 0;
-- Few have a feature; by these each is listed in order, without sorting all that have it.
create index request_history_fast_fill on request_history (created_at_ms, n) where features @> '{fast-fill}';
create index request_history_execution on request_history (created_at_ms, n) where features @> '{execution}';
create index request_history_origin_swap on request_history (created_at_ms, n) where features @> '{origin-swap}';
create index request_history_destination_swap on request_history (created_at_ms, n) where features @> '{destination-swap}';
create index request_history_calls on request_history (created_at_ms, n) where features @> '{calls}';

-- The transactions of a request, by hash: `in_tx_hashes`, `tx_hashes` and `refund_tx_hashes` of `requests` the other way round.
create table request_transactions (
  tx_hash text collate "C" not null,
  request_id text collate "C" not null references requests (request_id) on delete cascade,
  -- deposit | fill | refund
  kind text collate "C" not null,
  primary key (tx_hash, request_id, kind)
);
create index request_transactions_request on request_transactions (request_id);

-- Each request as it is listed. Escapes are cut out of the terms first: texts of callers may hold characters that JSON knows and the database does not.
create view request_listing as
select r.request_id, r.created_at_ms, r.updated_at_ms, request_status_word(r.state) as status, r.fail_reason, r.refund_fail_reason,
  case
    when r.kind = 'call' then 'Call'
    when r.kind = 'send' then 'Send'
    when r.origin_chain_id = r.destination_chain_id then case
      when name_out.wraps_native and name_in.asset = name_out.asset then 'Wrap'
      when name_in.wraps_native and name_in.asset = name_out.asset then 'Unwrap'
      else 'Same-chain Swap' end
    when name_in.asset = name_out.asset then 'Bridge'
    else 'Crosschain Swap'
  end as request_type,
  agreed ->> 'user' as user_address, agreed ->> 'recipient' as recipient, r.origin_chain_id, r.destination_chain_id,
  coins.paid as currency_in, coins.got as currency_out, lower(name_in.symbol) as symbol_in, lower(name_out.symbol) as symbol_out,
  least(div(coalesce((agreed #>> '{inputUsd,$n}')::numeric, 0), 1e12), 9e18)::bigint as amount_usd,
  least(div(coalesce((agreed #>> '{appFeesUsd,$n}')::numeric, 0), 1e12), 9e18)::bigint as app_fees_usd,
  array_remove(array[
    case when r.front <> 'none' then 'fast-fill' end,
    case when r.state = 'accepted' or r.kind = 'call'
      or exists (select from executions e where e.request_id = r.request_id) then 'execution' end,
    case when agreed ? 'input' then 'origin-swap' end,
    case when agreed -> 'destination' ? 'paidFrom' then 'destination-swap' end,
    case when coalesce(agreed #> '{order,output,calls}', '[]') <> '[]' then 'calls' end
  ], null) as features,
  agreed ->> 'keyId' as key_id, agreed ->> 'referrer' as referrer, seen.block_number as in_block, seen.at_ms as in_seen_at_ms,
  -- Of one that was filled before it was listed, its trace knows when.
  case when r.state = 'filled' and r.front = 'none' and r.deposit_id is not null then (
    select greatest(max(e.at_ms) - seen.at_ms, 0) from request_events e
    where e.request_id = r.request_id and e.event = 'fillMined') end as fill_ms
from requests r
cross join lateral (
  -- Reckoned once.
  select regexp_replace(r.terms, '\\(\\|u[0-9a-fA-F]{4})', '', 'g')::jsonb as agreed offset 0
) terms
cross join lateral (
  select coalesce(agreed #>> '{input,currency}', agreed #>> '{origin,currency}') as paid, agreed #>> '{destination,currency}' as got
) coins
left join currency_names name_in on name_in.chain_id = r.origin_chain_id and name_in.address = coins.paid
left join currency_names name_out on name_out.chain_id = r.destination_chain_id and name_out.address = coins.got
left join lateral (
  -- The deposit, or the user's own payment when it was reported.
  select d.block_number, d.seen_at_ms as at_ms from deposits d where d.id = r.deposit_id
  union all select s.block_number, s.created_at_ms from sends s where s.request_id = r.request_id
  limit 1
) seen on true;

create view request_transaction_listing as
select listed.hash as tx_hash, r.request_id, listed.kind
from requests r cross join lateral (
  select unnest(r.in_tx_hashes) as hash, 'deposit' as kind
  union select unnest(r.tx_hashes), 'fill'
  union select unnest(r.refund_tx_hashes), 'refund') listed;

create function keep_request_history() returns trigger language plpgsql as $$
declare
  known request_history;
begin
  if tg_op = 'UPDATE' then
    select * into known from request_history where request_id = new.request_id;
    -- Nobody has paid, and nobody is about to.
    if not found and new.state in ('quoted', 'expired') and new.deposit_id is null then return null; end if;
  end if;
  if known.n is null then
    insert into request_history (request_id, created_at_ms, updated_at_ms, status, fail_reason, refund_fail_reason, request_type,
        user_address, recipient, origin_chain_id, destination_chain_id, currency_in, currency_out, symbol_in, symbol_out, amount_usd,
        app_fees_usd, features, key_id, referrer, in_block, in_seen_at_ms, fill_ms)
      select * from request_listing where request_id = new.request_id;
    insert into request_transactions (tx_hash, request_id, kind)
      select tx_hash, request_id, kind from request_transaction_listing where request_id = new.request_id;
    return null;
  end if;
  if (old.in_tx_hashes, old.tx_hashes, old.refund_tx_hashes) is distinct from (new.in_tx_hashes, new.tx_hashes, new.refund_tx_hashes) then
    delete from request_transactions where request_id = new.request_id;
    insert into request_transactions (tx_hash, request_id, kind)
      select tx_hash, request_id, kind from request_transaction_listing where request_id = new.request_id;
  end if;
  -- Steps that clients do not see write nothing: each row stands in many indexes.
  if (known.status, known.fail_reason, known.refund_fail_reason) is not distinct from
      (request_status_word(new.state), new.fail_reason, new.refund_fail_reason)
    and (old.in_tx_hashes, old.tx_hashes, old.refund_tx_hashes, old.front, old.deposit_id) is not distinct from
      (new.in_tx_hashes, new.tx_hashes, new.refund_tx_hashes, new.front, new.deposit_id)
    and new.state <> 'accepted'
  then return null; end if;
  if old.deposit_id is distinct from new.deposit_id or new.kind in ('send', 'swap') then
    select in_block, in_seen_at_ms into known.in_block, known.in_seen_at_ms from request_listing where request_id = new.request_id;
  end if;
  update request_history set
    status = request_status_word(new.state), fail_reason = new.fail_reason, refund_fail_reason = new.refund_fail_reason,
    updated_at_ms = new.updated_at_ms,
    features = known.features
      || case when new.front <> 'none' and not known.features @> '{fast-fill}' then '{fast-fill}' else '{}'::text[] end
      || case when new.state = 'accepted' and not known.features @> '{execution}' then '{execution}' else '{}'::text[] end,
    in_block = known.in_block, in_seen_at_ms = known.in_seen_at_ms,
    fill_ms = case
      when new.state <> 'filled' or new.front <> 'none' or new.deposit_id is null then null
      when known.status = 'success' then known.fill_ms
      else greatest(new.updated_at_ms - known.in_seen_at_ms, 0) end
  where n = known.n;
  return null;
end $$;

insert into request_history (request_id, created_at_ms, updated_at_ms, status, fail_reason, refund_fail_reason, request_type, user_address,
    recipient, origin_chain_id, destination_chain_id, currency_in, currency_out, symbol_in, symbol_out, amount_usd, app_fees_usd, features,
    key_id, referrer, in_block, in_seen_at_ms, fill_ms)
  select l.* from request_listing l join requests r using (request_id)
  where r.state not in ('quoted', 'expired') or r.deposit_id is not null
    or exists (select from deposits d where d.request_id = r.request_id)
    or exists (select from executions e where e.request_id = r.request_id);
insert into request_transactions (tx_hash, request_id, kind)
  select t.tx_hash, t.request_id, t.kind from request_transaction_listing t join request_history using (request_id);

-- A fresh quote, of which there are thousands for each that is paid, calls nothing.
create trigger requests_listed after insert on requests
  for each row when (new.state not in ('quoted', 'expired') or new.deposit_id is not null) execute function keep_request_history();
create trigger requests_keep_history after update on requests
  for each row when (
    (old.state, old.deposit_id, old.fail_reason, old.refund_fail_reason, old.front) is distinct from
      (new.state, new.deposit_id, new.fail_reason, new.refund_fail_reason, new.front)
    or (old.in_tx_hashes, old.tx_hashes, old.refund_tx_hashes) is distinct from
      (new.in_tx_hashes, new.tx_hashes, new.refund_tx_hashes))
  execute function keep_request_history();

-- A reorg moves a deposit to another block while its request stays as it is.
create function keep_history_block() returns trigger language plpgsql as $$
begin
  update request_history h set in_block = new.block_number
    from requests r where r.deposit_id = new.id and r.request_id = new.request_id and h.request_id = r.request_id;
  return null;
end $$;
create trigger deposits_keep_history after update of block_number on deposits
  for each row when (old.block_number <> new.block_number and new.request_id is not null) execute function keep_history_block();

-- The trace of a request reads all payments that were ever planned for it.
create index slots_request on slots (request_id) where request_id is not null;

-- Down Migration
drop index slots_request;
drop trigger deposits_keep_history on deposits;
drop trigger requests_keep_history on requests;
drop trigger requests_listed on requests;
drop function keep_history_block, keep_request_history;
drop view request_transaction_listing, request_listing;
drop table request_transactions, request_history, currency_names;
drop function request_status_word;
alter table request_events
  alter column request_id type text collate "default";
alter table deposits
  alter column request_id type text collate "default",
  alter column order_id type text collate "default";
alter table sends
  alter column request_id type text collate "default";
alter table slots
  alter column request_id type text collate "default";
alter table settlements
  alter column request_id type text collate "default";
alter table fee_reservations
  alter column request_id type text collate "default";
alter table holds
  alter column request_id type text collate "default";
alter table executions
  alter column request_id type text collate "default";
alter table fast_fills
  alter column request_id type text collate "default";
alter table origin_transactions
  alter column request_id type text collate "default";
alter table ledger_movements
  alter column request_id type text collate "default";
