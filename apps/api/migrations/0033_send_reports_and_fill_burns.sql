-- Up Migration

-- Reported transactions of `send` and `swap` requests that are not mined. Anybody may report, so neither a request nor a transaction has only one:
-- `sends` holds those that are mined, one for each.
create table send_reports (
  chain_id bigint not null,
  tx_hash text not null,
  request_id text collate "C" not null,
  -- Who signed the transaction: each may have so many followed at once.
  sender text not null,
  created_at_ms bigint not null,
  primary key (chain_id, tx_hash, request_id)
);
create index send_reports_age on send_reports (chain_id, created_at_ms, tx_hash, request_id);
create index send_reports_sender on send_reports (chain_id, sender);
create index send_reports_request on send_reports (request_id);

alter table sends add column sender text not null default '';
insert into send_reports (chain_id, tx_hash, request_id, sender, created_at_ms)
  select chain_id, tx_hash, request_id, sender, created_at_ms from sends where block_number is null;
delete from sends where block_number is null;
create index sends_unsettled_block on sends (chain_id, block_number, tx_hash) where not settled;
drop index sends_unsettled;

-- Gas of fills that reverted in a block. What a refund did not keep of its deposit is the solver's, and is limited per day.
create table fill_burns (
  slot_id bigint primary key,
  request_id text collate "C" not null,
  chain_id bigint not null,
  wei numeric(78, 0) not null,
  unpaid_wei numeric(78, 0) not null,
  at_ms bigint not null
);
create index fill_burns_request on fill_burns (request_id);
create index fill_burns_unpaid on fill_burns (at_ms) where unpaid_wei > 0;

-- Down Migration
drop table fill_burns;
create index sends_unsettled on sends (chain_id) where not settled;
drop index sends_unsettled_block;
alter table sends drop column sender;
drop table send_reports;
