-- No transaction
-- Up Migration
-- Refunds of deposits for no request that a reorg dropped afterwards: few, and looked for before each such refund.
create index concurrently deposits_unattributed_refunds on deposits (chain_id, depositor, currency)
  where request_id is null and not canonical and refund_state in ('sent', 'final');

-- Down Migration
drop index concurrently if exists deposits_unattributed_refunds;
