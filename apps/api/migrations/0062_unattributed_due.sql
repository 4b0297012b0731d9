-- No transaction
-- Up Migration
-- Deposits of no known order that may have to go back. An attacker can make any number of deposits that were given up; they are not in it.
create index concurrently deposits_unattributed_due on deposits (chain_id, seen_at_ms)
  where disposition = 'unattributed' and request_id is null and canonical and refund_state = 'none';
-- Payments of our keys are recognized by the transaction whose deposit they return.
create index concurrently deposits_unasked on deposits (chain_id, tx_hash) where request_id is null;

-- Down Migration
drop index concurrently if exists deposits_unattributed_due;
drop index concurrently if exists deposits_unasked;
