-- Up Migration
-- The currency a deposit address was quoted for. Watching reads it for every address, and must not parse whole quote requests for it.
-- Null in rows of an older version, whose `question` has it.
alter table deposit_addresses add column quoted_chain_id bigint, add column quoted_currency text;

-- Down Migration
alter table deposit_addresses drop column quoted_chain_id, drop column quoted_currency;
