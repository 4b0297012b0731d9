-- Up Migration

-- How far an app vouches for a fill that does not wait for the deposit: none | held | covered | debited.
alter table requests add column front text not null default 'none';
-- The expiry sweep reads what waits for a deposit, also behind an origin transaction that the service sent.
drop index requests_waiting_deadline;
create index requests_waiting_deadline on requests (fill_deadline_ms) where state in ('quoted', 'depositing');
-- The sweep for deposits that never came reads only what is vouched for and has none.
create index requests_fronted on requests (fill_deadline_ms) where front = 'held';

-- Signed EIP-7702 authorizations that the transaction carries (JSON); null: none.
alter table slots add column call_authorizations text;

-- Down Migration
alter table slots drop column call_authorizations;
drop index requests_fronted;
drop index requests_waiting_deadline;
create index requests_waiting_deadline on requests (fill_deadline_ms) where state = 'quoted';
alter table requests drop column front;
