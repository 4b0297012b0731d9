-- Up Migration

-- Keys of integrators. The secret is shown once and never stored, only its SHA-256.
create table api_keys (
  id text primary key,
  label text not null,
  secret_hash bytea not null unique,
  -- The secret before the last rotation, which still counts until `previous_until_ms`.
  previous_secret_hash bytea,
  previous_until_ms bigint,
  scopes text[] not null,
  -- Empty: any.
  referrers text[] not null,
  -- Browser origins of a publishable key, which may only quote and read.
  origins text[] not null,
  -- Wallet whose app balance pays; its owner signed for that.
  funding_address text,
  -- What may be paid from that balance: JSON text as the admin API takes it.
  rules text not null,
  -- Requests a minute; null: as everybody.
  quote_per_minute integer,
  other_per_minute integer,
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  revoked_at_ms bigint,
  check ((previous_secret_hash is null) = (previous_until_ms is null)),
  check (origins = '{}' or scopes <@ array['quote', 'read']::text[])
);

-- Every process keeps keys for a moment: whoever changes one, by whatever means, tells them all.
create function announce_api_key() returns trigger language plpgsql as $$
begin
  perform pg_notify('causeway_api_keys', coalesce(new.id, old.id));
  return null;
end
$$;
create trigger api_keys_announce after insert or update or delete on api_keys
  for each row execute function announce_api_key();

-- What the owner of a wallet is asked to sign before a key may spend from it: one open question for each key and wallet.
create table funding_challenges (
  key_id text not null references api_keys (id) on delete cascade,
  address text not null,
  nonce text not null,
  expires_at_ms bigint not null,
  primary key (key_id, address)
);

-- First answers of calls that carried an `Idempotency-Key`, for a day.
create table idempotency_keys (
  -- Id of the API key, or ip:<address>.
  scope text not null,
  endpoint text not null,
  key text not null,
  body_hash text not null,
  -- Whose run it is, until when; a run that died is taken over after that.
  lease_token text not null,
  lease_until_ms bigint not null,
  -- Null until there is an answer.
  status integer,
  body text,
  created_at_ms bigint not null,
  primary key (scope, endpoint, key),
  check ((status is null) = (body is null))
);
create index idempotency_keys_age on idempotency_keys (created_at_ms);

-- How often each key called what, by the minute.
create table api_usage (
  key_id text not null,
  -- Start of the minute, ms.
  minute_ms bigint not null,
  endpoint text not null,
  status integer not null,
  -- Empty: none.
  error_code text not null,
  count bigint not null,
  primary key (key_id, minute_ms, endpoint, status, error_code)
);
create index api_usage_age on api_usage (minute_ms);

-- Down Migration
drop table api_usage, idempotency_keys, funding_challenges, api_keys;
drop function announce_api_key();
