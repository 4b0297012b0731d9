-- A lane pays only on the database server on which it was last compared with its chain.
ALTER TABLE "lanes" ADD COLUMN "server" text;
ALTER TABLE "lanes" ADD COLUMN "quiet_since" bigint;

-- Changes when a standby is promoted, a backup is restored or a dump is loaded elsewhere. Servers that hide their timeline
-- (some managed ones) report 0, and those that hide everything the same text forever: then only the journal of payments shows
-- what is lost.
create function database_identity() returns text language plpgsql stable as $$
declare
  system text := '0';
  timeline text := '0';
begin
  begin
    system := (select system_identifier from pg_control_system());
  exception when others then null;
  end;
  begin
    timeline := left(pg_walfile_name(pg_current_wal_insert_lsn()), 8);
  exception when others then null;
  end;
  return system || '/' || (select oid from pg_database where datname = current_database()) || '/' || timeline;
end
$$;
