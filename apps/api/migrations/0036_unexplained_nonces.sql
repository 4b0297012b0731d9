-- Up Migration

-- Whether a nonce that the chain had used without a known receipt was still without one at a later head. Only then does its lane stop planning.
alter table slots add column unexplained_confirmed boolean not null default false;

-- Down Migration
alter table slots drop column unexplained_confirmed;
