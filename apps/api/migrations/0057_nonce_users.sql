-- Up Migration

-- Transactions that used nonces of our keys which the database never gave away. Kept, because the chain is searched only as far back as its blocks are
-- remembered: what was found once must not be forgotten before the lost rows are restored.
create table nonce_users (
  chain_id bigint not null,
  sender text collate "C" not null,
  nonce bigint not null,
  tx_hash text collate "C" not null,
  -- The request that it pays, whose commit was lost; null: it is nothing of ours.
  request_id text collate "C",
  primary key (chain_id, sender, nonce)
);
create index nonce_users_request on nonce_users (request_id, chain_id) where request_id is not null;

-- Down Migration
drop table nonce_users;
