-- Up Migration

-- Money for the request is at its deposit address: confirmed there, decided about or moved, without anybody having to ask.
alter table requests add column funds_seen boolean not null default false;
create index requests_with_address_funds on requests (deposit_address) where funds_seen or funds_held;
-- What a client saw of it with each change.
alter table status_events add column funds_seen boolean not null default false, add column funds_held boolean not null default false;
-- Whether the status of a request tells of it: configured tokens do, dust does not.
alter table deposit_address_funds add column speaks boolean not null default true;

create function request_status_word(state text, funds_seen boolean) returns text language sql immutable as
  $$ select case when funds_seen and state in ('quoted', 'accepted') then 'depositing' else request_status_word(state) end $$;

create or replace function keep_request_history() returns trigger language plpgsql as $$
declare
  known request_history;
begin
  if tg_op = 'UPDATE' then
    select * into known from request_history where request_id = new.request_id;
    -- Nobody has paid, and nobody is about to.
    if not found and new.state in ('quoted', 'expired') and new.deposit_id is null and not new.funds_seen then return null; end if;
  end if;
  if known.n is null then
    insert into request_history (request_id, created_at_ms, updated_at_ms, status, fail_reason, refund_fail_reason, request_type,
        user_address, recipient, origin_chain_id, destination_chain_id, currency_in, currency_out, symbol_in, symbol_out, amount_usd,
        app_fees_usd, features, key_id, referrer, in_block, in_seen_at_ms, fill_ms)
      select * from request_listing where request_id = new.request_id;
    insert into request_transactions (tx_hash, request_id, kind)
      select tx_hash, request_id, kind from request_transaction_listing where request_id = new.request_id;
    update request_history set status = request_status_word(new.state, new.funds_seen) where new.funds_seen and request_id = new.request_id;
    return null;
  end if;
  if (old.in_tx_hashes, old.tx_hashes, old.refund_tx_hashes) is distinct from (new.in_tx_hashes, new.tx_hashes, new.refund_tx_hashes) then
    delete from request_transactions where request_id = new.request_id;
    insert into request_transactions (tx_hash, request_id, kind)
      select tx_hash, request_id, kind from request_transaction_listing where request_id = new.request_id;
  end if;
  -- Steps that clients do not see write nothing: each row stands in many indexes.
  if (known.status, known.fail_reason, known.refund_fail_reason) is not distinct from
      (request_status_word(new.state, new.funds_seen), new.fail_reason, new.refund_fail_reason)
    and (old.in_tx_hashes, old.tx_hashes, old.refund_tx_hashes, old.front, old.deposit_id) is not distinct from
      (new.in_tx_hashes, new.tx_hashes, new.refund_tx_hashes, new.front, new.deposit_id)
    and new.state <> 'accepted'
  then return null; end if;
  if old.deposit_id is distinct from new.deposit_id or new.kind in ('send', 'swap') then
    select in_block, in_seen_at_ms into known.in_block, known.in_seen_at_ms from request_listing where request_id = new.request_id;
  end if;
  update request_history set
    status = request_status_word(new.state, new.funds_seen), fail_reason = new.fail_reason, refund_fail_reason = new.refund_fail_reason,
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

drop trigger requests_keep_history on requests;
create trigger requests_keep_history after update on requests
  for each row when (
    (old.state, old.deposit_id, old.fail_reason, old.refund_fail_reason, old.front, old.funds_seen) is distinct from
      (new.state, new.deposit_id, new.fail_reason, new.refund_fail_reason, new.front, new.funds_seen)
    or (old.in_tx_hashes, old.tx_hashes, old.refund_tx_hashes) is distinct from
      (new.in_tx_hashes, new.tx_hashes, new.refund_tx_hashes))
  execute function keep_request_history();

-- Down Migration
drop trigger requests_keep_history on requests;
create or replace function keep_request_history() returns trigger language plpgsql as $$
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
create trigger requests_keep_history after update on requests
  for each row when (
    (old.state, old.deposit_id, old.fail_reason, old.refund_fail_reason, old.front) is distinct from
      (new.state, new.deposit_id, new.fail_reason, new.refund_fail_reason, new.front)
    or (old.in_tx_hashes, old.tx_hashes, old.refund_tx_hashes) is distinct from
      (new.in_tx_hashes, new.tx_hashes, new.refund_tx_hashes))
  execute function keep_request_history();
drop function request_status_word(text, boolean);
alter table deposit_address_funds drop column speaks;
alter table status_events drop column funds_seen, drop column funds_held;
drop index requests_with_address_funds;
alter table requests drop column funds_seen;
