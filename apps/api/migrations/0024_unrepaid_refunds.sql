-- Up Migration

-- A refund that no oracle can attest is never repaid on the hub. What such refunds cost is limited per day.
alter table deposits
  -- Worth of that refund when it was planned, USD with 18 decimals; null: it can be attested, or none is under way.
  add column unrepaid_usd numeric(78, 0),
  add column unrepaid_at_ms bigint,
  add column unrepaid_reason text,
  -- Why the refund waits for room in the daily limit; null: it does not.
  add column refund_waits text;
create index deposits_unrepaid on deposits (unrepaid_at_ms) where unrepaid_at_ms is not null;
create index deposits_refund_waits on deposits (id) where refund_waits is not null;

-- Settlements have a further state. unrepayable: no oracle can ever attest the payment.

-- Down Migration
drop index deposits_refund_waits;
drop index deposits_unrepaid;
alter table deposits
  drop column refund_waits,
  drop column unrepaid_reason,
  drop column unrepaid_at_ms,
  drop column unrepaid_usd;
