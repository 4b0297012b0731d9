-- What the database itself refuses, and how it stores some tables. drizzle-kit cannot express these.

-- The ledger. The first entry of an account starts its running balance; each further entry continues it, under
-- the lock of the wallet. Only the transaction that wrote a movement may add entries to it.
create function ledger_run_on()
returns trigger
language plpgsql
as $function$
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
end $function$;
create trigger ledger_entries_run_on before insert on ledger_entries for each row execute function ledger_run_on();

-- At commit, the entries of every movement sum to zero in each currency of each chain.
create function ledger_must_balance()
returns trigger
language plpgsql
as $function$
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
end $function$;
create constraint trigger ledger_entries_balance after insert on ledger_entries deferrable initially deferred for each row execute function ledger_must_balance();
create constraint trigger ledger_movements_balance after insert on ledger_movements deferrable initially deferred for each row execute function ledger_must_balance();

-- What was written is never changed or deleted.
create function ledger_is_append_only()
returns trigger
language plpgsql
as $function$
begin
  raise exception 'ledger: % on % is refused, what was written stays', tg_op, tg_table_name using errcode = 'check_violation';
end $function$;
create trigger ledger_accounts_stay before delete or update or truncate on ledger_accounts for each statement execute function ledger_is_append_only();
create trigger ledger_entries_stay before delete or update or truncate on ledger_entries for each statement execute function ledger_is_append_only();
create trigger ledger_movements_stay before delete or update or truncate on ledger_movements for each statement execute function ledger_is_append_only();

-- Every process drops its cached copy of a changed API key, also after a change by hand.
create function announce_api_key()
returns trigger
language plpgsql
as $function$
begin
  perform pg_notify('causeway_api_keys', coalesce(new.id, old.id));
  return null;
end
$function$;
create trigger api_keys_announce after insert or delete or update on api_keys for each row execute function announce_api_key();

-- Rows that are updated in place keep room for their next version on the same page.
alter table requests set (fillfactor = 90);
alter table job_runs set (fillfactor = 70);
-- A queue: vacuum must follow the number of deleted rows, not the size of the table.
alter table announcements set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
