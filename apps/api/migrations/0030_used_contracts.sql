-- Up Migration

-- Contracts of the service that each chain was ever configured with: accounts of ours may have roles in them for good, and users may still pay to them.
create table used_contracts (
  chain_id bigint not null,
  address text not null,
  -- depository | depositAddressFactory | ...: its name in the chain file
  role text not null,
  first_used_at_ms bigint not null,
  primary key (chain_id, address, role)
);

-- Down Migration
drop table used_contracts;
