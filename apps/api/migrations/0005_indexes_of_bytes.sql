-- No transaction
create index concurrently attempts_with_bytes on attempts using btree (created_at_ms) where raw <> '0x';
create index concurrently hub_attempts_with_bytes on hub_attempts using btree (created_at_ms) where raw <> '0x';
create index concurrently hub_executions_with_signature on hub_executions using btree (settled_at_ms) where state = 'settled' and signature <> '0x';
