-- Up Migration

-- The depository that received the deposit: settlement claims it there, even after the configuration names another one. Null: unknown, the configured one is assumed.
alter table deposits add column depository text;

-- Down Migration
alter table deposits drop column depository;
