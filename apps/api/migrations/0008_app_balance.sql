-- Up Migration

-- A wallet with an app balance. Whoever moves its money or judges what is available locks this row first.
create table app_wallets (
  wallet text primary key,
  created_at_ms bigint not null
);

-- One movement of money: entries that sum to zero in every asset, written once and never changed.
create table ledger_movements (
  id bigint generated always as identity primary key,
  -- What this movement is, in words that come out the same when it is tried again: it is posted once.
  movement_key text not null unique,
  -- The word of GET /balance-events for it.
  context text not null,
  reason text not null,
  wallet text not null references app_wallets (wallet),
  -- The request, or the claim, that it belongs to.
  request_id text,
  created_at_ms bigint not null,
  -- The transaction that wrote it: only that one adds entries.
  written_by xid8 not null default pg_current_xact_id()
);
create index ledger_movements_request on ledger_movements (request_id) where request_id is not null;

-- Amounts are smallest units; positive adds to the account. A wallet's accounts run: number and balance of an entry come from the one before it.
create table ledger_entries (
  id bigint generated always as identity primary key,
  movement_id bigint not null references ledger_movements (id),
  account text not null,
  -- Null for accounts of the house, which keep no running balance: nobody waits for anybody there.
  wallet text references app_wallets (wallet),
  chain_id bigint not null,
  currency text not null,
  amount numeric(78, 0) not null check (amount <> 0),
  seq bigint,
  balance_after numeric(78, 0),
  constraint ledger_account_known check (
    (wallet is null and account in ('custody', 'fees', 'fronted') and seq is null and balance_after is null)
    or (wallet is not null and account in ('balance', 'pending', 'owed') and seq is not null and balance_after is not null)
  ),
  -- What a wallet owes is a balance below zero; everything else of it never is.
  constraint ledger_never_overdrawn check (
    balance_after is null or (account = 'owed' and balance_after <= 0) or (account <> 'owed' and balance_after >= 0)
  ),
  unique (movement_id, account, chain_id, currency)
);
create unique index ledger_entries_run on ledger_entries (wallet, account, chain_id, currency, seq) where wallet is not null;
create index ledger_entries_wallet on ledger_entries (wallet, id) where wallet is not null;
create index ledger_entries_house on ledger_entries (account, chain_id, currency) where wallet is null;

-- Accounts that have entries: what there is to look for.
create table ledger_accounts (
  wallet text not null references app_wallets (wallet),
  account text not null,
  chain_id bigint not null,
  currency text not null,
  primary key (wallet, account, chain_id, currency)
);

create function ledger_run_on() returns trigger language plpgsql as $$
declare
  previous record;
  movement record;
begin
  select wallet, written_by into movement from ledger_movements where id = new.movement_id;
  if not found or movement.written_by <> pg_current_xact_id() then
    raise exception 'ledger: movement % was written by another transaction', new.movement_id using errcode = 'check_violation';
  end if;
  if new.wallet is null then
    new.seq := null;
    new.balance_after := null;
    return new;
  end if;
  if new.wallet <> movement.wallet then
    raise exception 'ledger: a movement has one wallet' using errcode = 'check_violation';
  end if;
  -- The lock under which the previous entry is the last one.
  perform 1 from app_wallets where wallet = new.wallet for update;
  select seq, balance_after into previous from ledger_entries
    where wallet = new.wallet and account = new.account and chain_id = new.chain_id and currency = new.currency
    order by seq desc limit 1;
  if not found then
    insert into ledger_accounts (wallet, account, chain_id, currency)
      values (new.wallet, new.account, new.chain_id, new.currency);
    new.seq := 1;
    new.balance_after := new.amount;
  else
    new.seq := previous.seq + 1;
    new.balance_after := previous.balance_after + new.amount;
  end if;
  return new;
end $$;
create trigger ledger_entries_run_on before insert on ledger_entries for each row execute function ledger_run_on();

-- At commit, when all entries are there.
create function ledger_must_balance() returns trigger language plpgsql as $$
declare
  movement bigint := case when tg_table_name = 'ledger_movements' then new.id else (to_jsonb(new) ->> 'movement_id')::bigint end;
begin
  if not exists (select 1 from ledger_entries where movement_id = movement) then
    raise exception 'ledger: movement % moves nothing', movement using errcode = 'check_violation';
  end if;
  if exists (
    select 1 from ledger_entries where movement_id = movement group by chain_id, currency having sum(amount) <> 0
  ) then
    raise exception 'ledger: movement % does not balance', movement using errcode = 'check_violation';
  end if;
  return null;
end $$;
create constraint trigger ledger_movements_balance after insert on ledger_movements
  deferrable initially deferred for each row execute function ledger_must_balance();
create constraint trigger ledger_entries_balance after insert on ledger_entries
  deferrable initially deferred for each row execute function ledger_must_balance();

create function ledger_is_append_only() returns trigger language plpgsql as $$
begin
  raise exception 'ledger: % on % is refused, what was written stays', tg_op, tg_table_name using errcode = 'check_violation';
end $$;
create trigger ledger_movements_stay before update or delete or truncate on ledger_movements
  for each statement execute function ledger_is_append_only();
create trigger ledger_entries_stay before update or delete or truncate on ledger_entries
  for each statement execute function ledger_is_append_only();
create trigger ledger_accounts_stay before update or delete or truncate on ledger_accounts
  for each statement execute function ledger_is_append_only();

-- Money set aside for the fees of a request: in `pending` while open.
create table fee_reservations (
  id bigint generated always as identity primary key,
  request_id text not null unique,
  wallet text not null references app_wallets (wallet),
  -- USD with 18 decimals.
  usd numeric(78, 0) not null,
  state text not null default 'open' check (state in ('open', 'paid', 'released')),
  created_at_ms bigint not null,
  closed_at_ms bigint
);
create index fee_reservations_open on fee_reservations (wallet) where state = 'open';
-- What was taken of each asset, in the order of taking, and the USD it stands for.
create table fee_reservation_parts (
  reservation_id bigint not null references fee_reservations (id),
  n integer not null,
  chain_id bigint not null,
  currency text not null,
  amount numeric(78, 0) not null,
  usd numeric(78, 0) not null,
  primary key (reservation_id, n)
);

-- What an app vouches for with its balance: one per request, for ever.
create table holds (
  request_id text primary key,
  wallet text not null references app_wallets (wallet),
  key_id text not null,
  state text not null default 'active' check (state in ('active', 'released', 'permanent')),
  -- USD with 18 decimals.
  usd numeric(78, 0) not null check (usd >= 0),
  -- What is paid out ahead of the deposit.
  chain_id bigint not null,
  currency text not null,
  amount numeric(78, 0) not null,
  -- How often it became permanent: each time is a movement of its own.
  debits integer not null default 0,
  placed_at_ms bigint not null,
  -- When it last left `active`; null while active.
  resolved_at_ms bigint
);
create index holds_active_wallet on holds (wallet) where state = 'active';
create index holds_active_key on holds (key_id) where state = 'active';
create index holds_wallet on holds (wallet, placed_at_ms, request_id);

-- Transfers to the solver that credit an app balance, or that were meant to.
create table app_top_ups (
  id bigint generated always as identity primary key,
  chain_id bigint not null,
  tx_hash text not null,
  -- Counts equal ones within a transaction.
  ordinal integer not null,
  block_number bigint not null,
  block_hash text not null,
  -- False while no canonical block holds it.
  canonical boolean not null,
  confirm_at_block bigint not null,
  sender text not null,
  -- Null when the marker was malformed: nobody is credited.
  wallet text,
  currency text not null,
  -- What arrived.
  amount numeric(78, 0) not null,
  state text not null check (state in ('seen', 'credited', 'unattributed')),
  -- How often it was credited: each time is a movement of its own.
  credits integer not null default 0,
  seen_at_ms bigint not null
);
create unique index app_top_ups_identity on app_top_ups
  (chain_id, tx_hash, currency, amount, sender, coalesce(wallet, ''), ordinal);
create index app_top_ups_recent on app_top_ups (chain_id, block_number);
create index app_top_ups_due on app_top_ups (chain_id, confirm_at_block) where state = 'seen' and canonical;

-- Payouts of an app balance to a recipient, from the offer to its signature to the money.
create table claims (
  -- keccak256(abi.encode(salt, wallet, chain id, currency, recipient, amount, expiry)): what the wallet signs.
  claim_id text primary key,
  wallet text not null,
  chain_id bigint not null,
  currency text not null,
  recipient text not null,
  -- What the recipient gets, and what the payout costs, both smallest units of the currency.
  amount numeric(78, 0) not null check (amount > 0),
  fee_amount numeric(78, 0) not null check (fee_amount >= 0),
  -- Unix seconds: an offer not signed by then ends.
  expires_at bigint not null,
  state text not null default 'offered' check (state in ('offered', 'paying', 'paid', 'returned')),
  -- Payouts tried: each has a job of its own.
  tries integer not null default 0,
  tx_hash text,
  fail_reason text,
  created_at_ms bigint not null,
  updated_at_ms bigint not null
);
create index claims_wallet on claims (wallet, created_at_ms, claim_id) where state <> 'offered';
create index claims_paying on claims (updated_at_ms) where state = 'paying';
create index claims_offered on claims (expires_at) where state = 'offered';

-- Down Migration
drop table claims, app_top_ups, holds, fee_reservation_parts, fee_reservations, ledger_accounts, ledger_entries, ledger_movements, app_wallets;
drop function ledger_run_on, ledger_must_balance, ledger_is_append_only;
