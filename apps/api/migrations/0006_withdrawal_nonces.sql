-- Up Migration

-- A nonce names one withdrawal, whatever its address on the hub: a slip in any other option of a command that is run again must not begin a second one.
create unique index hub_withdrawals_nonce on hub_withdrawals (nonce);

-- Down Migration
drop index hub_withdrawals_nonce;
