-- Up Migration
-- The last 32 bytes of the transaction's input, where payments of ours name their order: a failover may lose a request together with its payment.
-- Null: the input is shorter, the transaction reverted, or an older version found it.
alter table nonce_users add column input_end text collate "C";

-- Down Migration
alter table nonce_users drop column input_end;
