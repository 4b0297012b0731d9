-- Up Migration

-- Whether the contract itself binds the address to the order of its quote: `strict` of its key. Null: as `strict` says, before the two could differ.
alter table deposit_addresses add column bound_to_order boolean;

-- Down Migration
alter table deposit_addresses drop column bound_to_order;
