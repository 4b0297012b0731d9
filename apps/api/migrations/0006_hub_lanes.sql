-- Transactions to the hub become slots of its chain's lanes. Only their signed bytes say which chain that is.
CREATE SEQUENCE "public"."hub_batches" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1;
ALTER TABLE "hub_executions" ADD COLUMN "slot_id" bigint;
ALTER TABLE "nonce_mappings" ADD COLUMN "slot_id" bigint;

-- Type 2 transaction: 0x02, then a list whose first item is the chain id.
create function pg_temp.chain_of(raw text) returns bigint language sql as $$
  select case when first < 128 then first else ('x' || lpad(substr(rest, 3, 2 * (first - 128)), 16, '0'))::bit(64)::bigint end
  from (select substr(raw, 7 + 2 * (('x' || substr(raw, 5, 2))::bit(8)::int - 247)) as rest) list,
    lateral (select ('x' || substr(rest, 1, 2))::bit(8)::int as first) item
$$;
-- An open transaction has the bytes of its attempts, or was never signed: then it is dropped, and what it carries is
-- sent again. Of old final transactions the bytes may be gone; 0 stands for a chain that no bytes name.
create temporary table hub_moved on commit drop as
select t.*, coalesce(signed.chain_id, known.chain_id, 0) as chain_id, signed.max_fee, signed.max_priority_fee
from "hub_transactions" t
  join lateral (
    select max(pg_temp.chain_of(a.raw)) filter (where a.raw <> '0x') as chain_id,
      max(a.max_fee_per_gas) as max_fee, max(a.max_priority_fee_per_gas) as max_priority_fee
    from "hub_attempts" a where a.transaction_id = t.id having count(*) > 0) signed on true
  left join (
    select pg_temp.chain_of(raw) as chain_id from "hub_attempts" where raw <> '0x' order by created_at_ms desc limit 1) known on true;
-- If the solver also fills on the hub's chain, a fill may have got the same nonce. Such a transaction is dropped too.
insert into "slots" (chain_id, sender, nonce, leg_kind, leg_id, call_to, call_data, call_value, gas_limit, max_fee_per_gas,
  max_priority_fee_per_gas, outflow_currency, outflow_amount, state, cancel_reason, cancel_after_ms, created_at_ms, final_at_ms,
  settlement_noted)
select chain_id, sender, nonce, 'hub', id::text, call_to, case call_data when '0x' then '' else call_data end, 0, gas_limit,
  greatest(max_fee_per_gas, max_fee), greatest(max_priority_fee_per_gas, max_priority_fee),
  '0x0000000000000000000000000000000000000000', 0, state, case when is_noop then 'TRANSACTION_SUBMISSION_FAILED' end,
  9007199254740991, created_at_ms, final_at_ms, true
from hub_moved order by id
on conflict do nothing;
create temporary table hub_slots on commit drop as
select m.id as transaction_id, s.id as slot_id, m.chain_id, m.sender, m.nonce
from hub_moved m join "slots" s on s.chain_id = m.chain_id and s.sender = m.sender and s.nonce = m.nonce and s.leg_kind = 'hub';
insert into "attempts" (slot_id, n, kind, raw, tx_hash, max_fee_per_gas, max_priority_fee_per_gas, created_at_ms, broadcast_at_ms,
  first_broadcast_at_ms, offered_since_ms)
select s.slot_id, a.n, case when a.is_noop then 'noop' else 'pay' end, a.raw, a.tx_hash, a.max_fee_per_gas,
  a.max_priority_fee_per_gas, a.created_at_ms, a.broadcast_at_ms,
  case when a.broadcast_at_ms is not null then a.created_at_ms end, case when a.broadcast_at_ms is not null then a.created_at_ms end
from hub_slots s join "hub_attempts" a on a.transaction_id = s.transaction_id;
insert into "lanes" (chain_id, sender, next_nonce)
select chain_id, sender, max(nonce) + 1 from hub_slots where chain_id <> 0 group by chain_id, sender
on conflict (chain_id, sender) do update set next_nonce = greatest(lanes.next_nonce, excluded.next_nonce);
update "hub_executions" e set slot_id = s.slot_id from hub_slots s where s.transaction_id = e.transaction_id;
update "nonce_mappings" m set slot_id = s.slot_id from hub_slots s where s.transaction_id = m.transaction_id;
select setval('hub_batches', (select max(id) from "hub_transactions")) where exists (select from "hub_transactions");

DROP INDEX "hub_executions_transaction";
DROP INDEX "hub_executions_due";
DROP INDEX "nonce_mappings_carried";
DROP INDEX "nonce_mappings_due";
ALTER TABLE "hub_executions" DROP COLUMN "transaction_id";
ALTER TABLE "nonce_mappings" DROP COLUMN "transaction_id";
DROP TABLE "hub_attempts";
DROP TABLE "hub_transactions";
ALTER TABLE "hub_executions" ADD CONSTRAINT "hub_executions_slot_id_slots_id_fk" FOREIGN KEY ("slot_id") REFERENCES "public"."slots"("id") ON DELETE no action ON UPDATE no action;
ALTER TABLE "nonce_mappings" ADD CONSTRAINT "nonce_mappings_slot_id_slots_id_fk" FOREIGN KEY ("slot_id") REFERENCES "public"."slots"("id") ON DELETE no action ON UPDATE no action;
CREATE INDEX "hub_executions_slot" ON "hub_executions" USING btree ("slot_id") WHERE "hub_executions"."state" = 'attested';
CREATE INDEX "hub_executions_due" ON "hub_executions" USING btree ("id") WHERE "hub_executions"."state" = 'attested' and "hub_executions"."slot_id" is null;
CREATE INDEX "nonce_mappings_carried" ON "nonce_mappings" USING btree ("key") WHERE "nonce_mappings"."state" = 'signed' and "nonce_mappings"."slot_id" is not null;
CREATE INDEX "nonce_mappings_due" ON "nonce_mappings" USING btree ("next_try_ms") WHERE "nonce_mappings"."state" in ('stored', 'signed') and "nonce_mappings"."slot_id" is null;
