-- Up Migration

-- Ids are hex: comparing their bytes is all the order they need, and costs a fraction of comparing by a language's rules.
alter table requests
  alter column request_id type text collate "C",
  alter column order_id type text collate "C";

-- Down Migration
alter table requests
  alter column request_id type text collate "default",
  alter column order_id type text collate "default";
