-- Up Migration

-- How often what a client sees of the request has changed.
alter table requests add column status_seq integer not null default 0;

-- What a client sees of a request after each change, written in the commit that changed it. The columns mean what they mean in `requests`.
create table status_events (
  request_id text collate "C" not null,
  -- 1, 2, 3 … of the request.
  seq integer not null,
  -- API key that asked for the quote or had the call sent; null: none.
  key_id text,
  at_ms bigint not null,
  -- Nothing changed but that it will not change any more.
  only_final boolean not null,
  state text not null,
  deposit_id bigint,
  fail_reason text,
  refund_fail_reason text,
  final boolean not null,
  front text not null,
  in_tx_hashes text[] not null,
  tx_hashes text[] not null,
  refund_tx_hashes text[] not null,
  primary key (request_id, seq)
);
create index status_events_age on status_events (at_ms);

-- Where the owner of an API key wants to be told of changes.
create table webhook_endpoints (
  id text primary key,
  key_id text not null references api_keys (id) on delete cascade,
  url text not null,
  label text not null,
  -- Sent with each delivery: JSON text, names and values.
  headers text not null,
  -- What signs the deliveries. It stands here as it is: an HMAC is made with the secret itself.
  secret text not null,
  -- The secret before the last rotation, which signs as well until `previous_until_ms`.
  previous_secret text,
  previous_until_ms bigint,
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  deleted_at_ms bigint,
  -- Since when every attempt has failed; null: the last one did not.
  failing_since_ms bigint,
  last_error text,
  last_delivered_at_ms bigint,
  check ((previous_secret is null) = (previous_until_ms is null))
);
create index webhook_endpoints_key on webhook_endpoints (key_id) where deleted_at_ms is null;

-- An event that an endpoint is told of, written in the commit of the event.
create table webhook_deliveries (
  id bigint generated always as identity primary key,
  endpoint_id text not null references webhook_endpoints (id) on delete cascade,
  request_id text collate "C" not null,
  seq integer not null,
  -- waiting | delivered | failed
  state text not null default 'waiting',
  -- Attempts since it was written or replayed, and all of them.
  tries integer not null default 0,
  attempts integer not null default 0,
  next_at_ms bigint not null,
  -- Who is delivering it, until when.
  lease_token text,
  lease_until_ms bigint not null default 0,
  created_at_ms bigint not null,
  ended_at_ms bigint,
  unique (endpoint_id, request_id, seq)
);
create index webhook_deliveries_due on webhook_deliveries (endpoint_id, next_at_ms) where state = 'waiting';
create index webhook_deliveries_waiting on webhook_deliveries (endpoint_id, request_id, seq) where state = 'waiting';
create index webhook_deliveries_newest on webhook_deliveries (endpoint_id, id desc);
create index webhook_deliveries_ended on webhook_deliveries (ended_at_ms) where ended_at_ms is not null;

-- What came of each attempt.
create table webhook_attempts (
  delivery_id bigint not null references webhook_deliveries (id) on delete cascade,
  -- 1, 2, 3 … of the delivery.
  n integer not null,
  at_ms bigint not null,
  took_ms bigint not null,
  -- Of the answer; null: there was none.
  status integer,
  -- Why it failed; null: it did not.
  error text,
  -- How the answer began.
  response text,
  primary key (delivery_id, n)
);

-- Down Migration
drop table webhook_attempts, webhook_deliveries, webhook_endpoints, status_events;
alter table requests drop column status_seq;
