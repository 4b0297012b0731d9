-- Up Migration

-- What fills between different assets were begun for in the newest minute, by volatile asset: bounds what a wrong price can cost.
create table price_exposure (
  price_id text collate "C" primary key,
  -- Minutes since the epoch.
  minute bigint not null,
  -- USD with 18 decimals.
  usd numeric(78, 0) not null check (usd >= 0)
);
