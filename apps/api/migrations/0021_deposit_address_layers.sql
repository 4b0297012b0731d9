-- Up Migration

-- What makes up the amount, the oldest first: JSON text, [[amount, block in which it was seen first, last block before that in which it was not there or null, ms], …].
-- Null: one layer, as old as the row says.
alter table deposit_address_funds add column layers text;
-- The reason for staying there that the operator was told last: dust that keeps coming does not tell it again.
alter table deposit_address_funds add column alarmed_reason text;
-- When the swept amount was at the address first; null: when the sweep was planned.
alter table deposit_sweeps add column arrived_at_ms bigint;

-- Down Migration
alter table deposit_sweeps drop column arrived_at_ms;
alter table deposit_address_funds drop column layers, drop column alarmed_reason;
