-- Up Migration

-- Up to which block the logs were read a second time, when they were final. Null: the second reading has not begun.
alter table chain_cursors add column rechecked_block bigint;

-- Down Migration
alter table chain_cursors drop column rechecked_block;
