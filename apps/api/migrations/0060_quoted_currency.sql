-- What a deposit address was quoted for: every look at a chain's addresses needs it, and would otherwise read and parse their whole questions.
-- Null in rows of an older version; their questions tell it.
alter table deposit_addresses add column quoted_chain_id bigint, add column quoted_currency text;
