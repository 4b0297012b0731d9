-- Up Migration

-- What an app vouched for, as it was priced at the acceptance, and what became of it. USD has 18 decimals; a price is USD per whole unit, 0 of fast fills accepted before.
alter table fast_fills
  add column origin_price_usd numeric(78, 0) not null default 0,
  add column destination_price_usd numeric(78, 0) not null default 0,
  add column native_price_usd numeric(78, 0) not null default 0,
  -- How far prices may move against a deposit that comes while the quote is firm.
  add column tolerance_bps integer not null default 0,
  -- A deposit seen later is not settled against the fill, and goes back; null: nothing binds.
  add column deposit_until_ms bigint,
  -- Gas of the fill, once it is final: charged with the fill when the deposit never comes.
  add column spent_usd numeric(78, 0) not null default 0,
  -- Worth of what was taken when the deposit had not come.
  add column debited_usd numeric(78, 0) not null default 0,
  -- Gas of a fill that reverted in its block, and whether the app has been charged for it.
  add column burnt_usd numeric(78, 0) not null default 0,
  add column burnt_slot_id bigint,
  add column burnt_at_ms bigint,
  add column burnt_charged boolean not null default false,
  -- What the deposit changes in the app's balance: nothing yet, waiting for a price, or booked.
  add column cover_state text not null default 'none' check (cover_state in ('none', 'due', 'booked'));
update fast_fills set cover_state = 'booked' where surplus_credited;
comment on column fast_fills.surplus_amount is 'expected at the acceptance; what is credited is worked out when the deposit is there';
comment on column fast_fills.surplus_moves is 'how often a deposit was booked: each time has movements of its own';
create index fast_fills_due on fast_fills (accepted_at_ms) where cover_state = 'due' or (burnt_usd > 0 and not burnt_charged);
create index fast_fills_burnt on fast_fills (wallet, burnt_at_ms) where burnt_usd > 0;

-- What the deposit is to be worth more than the fill: counts in the exposure of a key, and is not held.
alter table holds add column surplus_usd numeric(78, 0) not null default 0;

-- Down Migration
alter table holds drop column surplus_usd;
drop index fast_fills_burnt, fast_fills_due;
alter table fast_fills drop column origin_price_usd, drop column destination_price_usd, drop column native_price_usd,
  drop column tolerance_bps, drop column deposit_until_ms, drop column spent_usd, drop column debited_usd, drop column burnt_usd,
  drop column burnt_slot_id, drop column burnt_at_ms, drop column burnt_charged, drop column cover_state;
