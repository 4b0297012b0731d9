-- Up Migration

-- What wallets have signed about their nonces, on chains whose transfers carry no id: one meaning of a nonce for good.
create table nonce_mappings (
  key bigint generated always as identity primary key,
  chain_id bigint not null,
  wallet text collate "C" not null,
  nonce numeric(78, 0) not null,
  -- The order that the transfer pays, and who counts as depositor.
  mapped_id text not null,
  depositor text not null,
  -- Null: of no request of ours.
  request_id text collate "C",
  -- The wallet's, and the chain in whose domain it was made.
  signature text not null,
  signature_chain_id bigint not null,
  -- stored: the oracles are to sign it | signed: they have, it is to be brought to the hub | published: the hub has it, for good | contradicted: the hub has something else, for good
  state text not null,
  -- What it waits for, in words; null when nothing is known.
  reason text,
  tries integer not null default 0,
  next_try_ms bigint not null,
  -- As many signatures of oracles as the multisig reads, ascending by signer, one after the other.
  hub_signature text,
  -- The transaction that carries it; null while none does.
  transaction_id bigint references hub_transactions (id),
  -- What the hub has, and since when (unix seconds).
  hub_mapped_id text,
  hub_depositor text,
  hub_set_at bigint,
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  unique (chain_id, wallet, nonce)
);
create index nonce_mappings_due on nonce_mappings (next_try_ms) where state in ('stored', 'signed') and transaction_id is null;
create index nonce_mappings_carried on nonce_mappings (key) where state = 'signed' and transaction_id is not null;
create index nonce_mappings_request on nonce_mappings (request_id) where request_id is not null;

-- Down Migration
drop table nonce_mappings;
