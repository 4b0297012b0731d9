-- Partitions the trace by month. drizzle-kit cannot express this, so the empty table of the baseline is replaced.
-- Rows of a month without a partition go to the default one, so that no insert fails.
do $do$
begin
  if to_regclass('archives') is null or exists (select from request_events) then
    raise exception 'this database was created before the current baseline; create a new database';
  end if;
end $do$;
drop table request_events;
create table request_events (
  id bigint not null generated always as identity,
  request_id text not null,
  at_ms bigint not null,
  event text not null,
  detail text not null,
  constraint request_events_id_at_ms_pk primary key (id, at_ms)
) partition by range (at_ms);
create index request_events_request on request_events (request_id, id);
create table request_events_default partition of request_events default;

-- The current and the next month; the worker makes later ones ahead.
do $do$
declare
  month timestamp := date_trunc('month', now() at time zone 'utc');
begin
  for ahead in 0..1 loop
    execute format('create table %I partition of request_events for values from (%s) to (%s)',
      'request_events_' || to_char(month, 'YYYY_MM'),
      (extract(epoch from month) * 1000)::bigint,
      (extract(epoch from month + interval '1 month') * 1000)::bigint);
    month := month + interval '1 month';
  end loop;
end $do$;
