-- Up Migration

-- Hash of the block that a scan ends with while its deposits are committed in parts. Parts of another scan are refused until the last one.
alter table chain_cursors add column advances_to text;

-- Down Migration
alter table chain_cursors drop column advances_to;
