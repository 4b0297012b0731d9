-- Up Migration

-- Transactions that used nonces of our keys which the database never gave away. Kept, because the chain is searched only as far back as its blocks are
-- remembered: what was found once must not be forgotten before the lost rows are restored.
create table nonce_users (
  chain_id bigint not null,
  sender text collate "C" not null,
  nonce bigint not null,
  tx_hash text collate "C" not null,
  -- The request, or the claim, that it pays and whose commit was lost; null: it is nothing of ours.
  pays text collate "C",
  primary key (chain_id, sender, nonce)
);
create index nonce_users_pays on nonce_users (pays, chain_id) where pays is not null;

-- The block from which on unknown nonces are searched: the oldest one that was remembered when the first of them was noticed. Null: there are none.
alter table lanes add column search_from bigint;

-- Down Migration
alter table lanes drop column search_from;
drop table nonce_users;
