-- Up Migration

-- What is set aside for a request: for what the service sends for a user (once), or for what an app pays of a quote's fees (again when a fill was given up and is made after all).
alter table fee_reservations
  add column purpose text not null default 'execution' check (purpose in ('execution', 'fees')),
  add column round integer not null default 1,
  -- Whose budget of which UTC day (since 1970) fees count in, and for whom; null: executions count by rows of their own.
  add column key_id text,
  add column day integer,
  add column user_address text;
alter table fee_reservations drop constraint fee_reservations_request_id_key;
create unique index fee_reservations_identity on fee_reservations (request_id, purpose, round);
create index fee_reservations_budget on fee_reservations (key_id, day) where key_id is not null;

-- Down Migration
delete from fee_reservation_parts where reservation_id in (select id from fee_reservations where purpose <> 'execution');
delete from fee_reservations where purpose <> 'execution';
drop index fee_reservations_budget;
drop index fee_reservations_identity;
alter table fee_reservations add constraint fee_reservations_request_id_key unique (request_id);
alter table fee_reservations drop column purpose, drop column round, drop column key_id, drop column day, drop column user_address;
