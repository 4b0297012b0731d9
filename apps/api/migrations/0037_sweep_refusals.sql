-- Up Migration

-- When the chain first refused a planned sweep in a simulation. Null: the last simulation did not revert.
alter table deposit_sweeps add column refused_since_ms bigint;

-- Down Migration
alter table deposit_sweeps drop column refused_since_ms;
