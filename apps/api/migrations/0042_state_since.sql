-- Up Migration
-- When the request entered its state, ms. Null: its state has not changed since this column exists; then `updated_at_ms` is used.
alter table requests add column state_since_ms bigint;

-- A trigger, so that an older version that still runs sets it too.
create function note_state_since() returns trigger language plpgsql as $$
begin
  new.state_since_ms := new.updated_at_ms;
  return new;
end $$;
create trigger requests_state_since before update on requests
  for each row when (old.state <> new.state) execute function note_state_since();

create index requests_to_fill on requests (coalesce(state_since_ms, updated_at_ms)) where state in ('fillable', 'filling');

-- Down Migration
drop index requests_to_fill;
drop trigger requests_state_since on requests;
drop function note_state_since();
alter table requests drop column state_since_ms;
