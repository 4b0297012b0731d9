create function request_status_word(state text)
returns text
language sql
immutable parallel safe
as $function$
  select case
    when state in ('quoted', 'accepted') then 'waiting'
    when state = 'depositing' then 'depositing'
    when state in ('deposited', 'fillable', 'filling', 'refunding') then 'pending'
    when state = 'submitted' then 'submitted'
    when state = 'filled' then 'success'
    when state = 'refunded' then 'refund'
    when state in ('failed', 'expired') then 'failure'
  end
$function$;
create function request_status_word(state text, funds_seen boolean)
returns text
language sql
immutable
as $function$ select case when funds_seen and state in ('quoted', 'accepted') then 'depositing' else request_status_word(state) end $function$;

create view request_listing as
SELECT r.request_id,
    r.created_at_ms,
    r.updated_at_ms,
    request_status_word(r.state) AS status,
    r.fail_reason,
    r.refund_fail_reason,
        CASE
            WHEN (r.kind = 'call'::text) THEN 'Call'::text
            WHEN (r.kind = 'send'::text) THEN 'Send'::text
            WHEN (r.origin_chain_id = r.destination_chain_id) THEN
            CASE
                WHEN (name_out.wraps_native AND (name_in.asset = name_out.asset)) THEN 'Wrap'::text
                WHEN (name_in.wraps_native AND (name_in.asset = name_out.asset)) THEN 'Unwrap'::text
                ELSE 'Same-chain Swap'::text
            END
            WHEN (name_in.asset = name_out.asset) THEN 'Bridge'::text
            ELSE 'Crosschain Swap'::text
        END AS request_type,
    (terms.agreed ->> 'user'::text) AS user_address,
    (terms.agreed ->> 'recipient'::text) AS recipient,
    r.origin_chain_id,
    r.destination_chain_id,
    coins.paid AS currency_in,
    coins.got AS currency_out,
    lower(name_in.symbol) AS symbol_in,
    lower(name_out.symbol) AS symbol_out,
    (LEAST(div(COALESCE(((terms.agreed #>> '{inputUsd,$n}'::text[]))::numeric, (0)::numeric), '1000000000000'::numeric), '9000000000000000000'::numeric))::bigint AS amount_usd,
    (LEAST(div(COALESCE(((terms.agreed #>> '{appFeesUsd,$n}'::text[]))::numeric, (0)::numeric), '1000000000000'::numeric), '9000000000000000000'::numeric))::bigint AS app_fees_usd,
    array_remove(ARRAY[
        CASE
            WHEN (r.front <> 'none'::text) THEN 'fast-fill'::text
            ELSE NULL::text
        END,
        CASE
            WHEN ((r.state = 'accepted'::text) OR (r.kind = 'call'::text) OR (EXISTS ( SELECT
               FROM executions e
              WHERE (e.request_id = r.request_id)))) THEN 'execution'::text
            ELSE NULL::text
        END,
        CASE
            WHEN (terms.agreed ? 'input'::text) THEN 'origin-swap'::text
            ELSE NULL::text
        END,
        CASE
            WHEN ((terms.agreed -> 'destination'::text) ? 'paidFrom'::text) THEN 'destination-swap'::text
            ELSE NULL::text
        END,
        CASE
            WHEN (COALESCE((terms.agreed #> '{order,output,calls}'::text[]), '[]'::jsonb) <> '[]'::jsonb) THEN 'calls'::text
            ELSE NULL::text
        END], NULL::text) AS features,
    (terms.agreed ->> 'keyId'::text) AS key_id,
    (terms.agreed ->> 'referrer'::text) AS referrer,
    seen.block_number AS in_block,
    seen.at_ms AS in_seen_at_ms,
        CASE
            WHEN ((r.state = 'filled'::text) AND (r.front = 'none'::text) AND (r.deposit_id IS NOT NULL)) THEN ( SELECT GREATEST((max(e.at_ms) - seen.at_ms), (0)::bigint) AS "greatest"
               FROM request_events e
              WHERE ((e.request_id = r.request_id) AND (e.event = 'fillMined'::text)))
            ELSE NULL::bigint
        END AS fill_ms
   FROM (((((requests r
     CROSS JOIN LATERAL ( SELECT (regexp_replace(r.terms, '\\(\\|u[0-9a-fA-F]{4})'::text, ''::text, 'g'::text))::jsonb AS agreed
         OFFSET 0) terms)
     CROSS JOIN LATERAL ( SELECT COALESCE((terms.agreed #>> '{input,currency}'::text[]), (terms.agreed #>> '{origin,currency}'::text[])) AS paid,
            (terms.agreed #>> '{destination,currency}'::text[]) AS got) coins)
     LEFT JOIN currency_names name_in ON (((name_in.chain_id = r.origin_chain_id) AND (name_in.address = coins.paid))))
     LEFT JOIN currency_names name_out ON (((name_out.chain_id = r.destination_chain_id) AND (name_out.address = coins.got))))
     LEFT JOIN LATERAL ( SELECT d.block_number,
            d.seen_at_ms AS at_ms
           FROM deposits d
          WHERE (d.id = r.deposit_id)
        UNION ALL
         SELECT s.block_number,
            s.created_at_ms
           FROM sends s
          WHERE (s.request_id = r.request_id)
 LIMIT 1) seen ON (true));
create view request_transaction_listing as
SELECT listed.hash AS tx_hash,
    r.request_id,
    listed.kind
   FROM (requests r
     CROSS JOIN LATERAL ( SELECT unnest(r.in_tx_hashes) AS hash,
            'deposit'::text AS kind
        UNION
         SELECT unnest(r.tx_hashes) AS unnest,
            'fill'::text
        UNION
         SELECT unnest(r.refund_tx_hashes) AS unnest,
            'refund'::text) listed);

create function keep_request_history()
returns trigger
language plpgsql
as $function$
declare
  known request_history;
begin
  if tg_op = 'UPDATE' then
    select * into known from request_history where request_id = new.request_id;
    -- Nobody has paid, and nobody is about to.
    if not found and new.state in ('quoted', 'expired') and new.deposit_id is null and not new.funds_seen then return null; end if;
  end if;
  if known.n is null then
    insert into request_history (request_id, created_at_ms, updated_at_ms, status, fail_reason, refund_fail_reason, request_type,
        user_address, recipient, origin_chain_id, destination_chain_id, currency_in, currency_out, symbol_in, symbol_out, amount_usd,
        app_fees_usd, features, key_id, referrer, in_block, in_seen_at_ms, fill_ms)
      select * from request_listing where request_id = new.request_id;
    insert into request_transactions (tx_hash, request_id, kind)
      select tx_hash, request_id, kind from request_transaction_listing where request_id = new.request_id;
    update request_history set status = request_status_word(new.state, new.funds_seen) where new.funds_seen and request_id = new.request_id;
    return null;
  end if;
  if (old.in_tx_hashes, old.tx_hashes, old.refund_tx_hashes) is distinct from (new.in_tx_hashes, new.tx_hashes, new.refund_tx_hashes) then
    delete from request_transactions where request_id = new.request_id;
    insert into request_transactions (tx_hash, request_id, kind)
      select tx_hash, request_id, kind from request_transaction_listing where request_id = new.request_id;
  end if;
  -- Steps that clients do not see write nothing: each row stands in many indexes.
  if (known.status, known.fail_reason, known.refund_fail_reason) is not distinct from
      (request_status_word(new.state, new.funds_seen), new.fail_reason, new.refund_fail_reason)
    and (old.in_tx_hashes, old.tx_hashes, old.refund_tx_hashes, old.front, old.deposit_id) is not distinct from
      (new.in_tx_hashes, new.tx_hashes, new.refund_tx_hashes, new.front, new.deposit_id)
    and new.state <> 'accepted'
  then return null; end if;
  if old.deposit_id is distinct from new.deposit_id or new.kind in ('send', 'swap') then
    select in_block, in_seen_at_ms into known.in_block, known.in_seen_at_ms from request_listing where request_id = new.request_id;
  end if;
  update request_history set
    status = request_status_word(new.state, new.funds_seen), fail_reason = new.fail_reason, refund_fail_reason = new.refund_fail_reason,
    updated_at_ms = new.updated_at_ms,
    features = known.features
      || case when new.front <> 'none' and not known.features @> '{fast-fill}' then '{fast-fill}' else '{}'::text[] end
      || case when new.state = 'accepted' and not known.features @> '{execution}' then '{execution}' else '{}'::text[] end,
    in_block = known.in_block, in_seen_at_ms = known.in_seen_at_ms,
    fill_ms = case
      when new.state <> 'filled' or new.front <> 'none' or new.deposit_id is null then null
      when known.status = 'success' then known.fill_ms
      else greatest(new.updated_at_ms - known.in_seen_at_ms, 0) end
  where n = known.n;
  return null;
end $function$;
create function keep_history_block()
returns trigger
language plpgsql
as $function$
begin
  update request_history h set in_block = new.block_number
    from requests r where r.deposit_id = new.id and r.request_id = new.request_id and h.request_id = r.request_id;
  return null;
end $function$;
create function note_state_since()
returns trigger
language plpgsql
as $function$
begin
  new.state_since_ms := new.updated_at_ms;
  return new;
end $function$;
create function list_deposit_address()
returns trigger
language plpgsql
as $function$
begin
  select deposit_address into new.deposit_address from requests where request_id = new.request_id;
  return new;
end $function$;
create trigger deposits_keep_history after update of block_number on deposits for each row when (((old.block_number <> new.block_number) and (new.request_id is not null))) execute function keep_history_block();
create trigger request_history_deposit_address before insert on request_history for each row execute function list_deposit_address();
create trigger requests_keep_history after update on requests for each row when ((((((((old.state is distinct from new.state) or (old.deposit_id is distinct from new.deposit_id)) or (old.fail_reason is distinct from new.fail_reason)) or (old.refund_fail_reason is distinct from new.refund_fail_reason)) or (old.front is distinct from new.front)) or (old.funds_seen is distinct from new.funds_seen)) or (((old.in_tx_hashes is distinct from new.in_tx_hashes) or (old.tx_hashes is distinct from new.tx_hashes)) or (old.refund_tx_hashes is distinct from new.refund_tx_hashes)))) execute function keep_request_history();
create trigger requests_listed after insert on requests for each row when (((new.state <> all (array['quoted', 'expired'])) or (new.deposit_id is not null))) execute function keep_request_history();
create trigger requests_state_since before update on requests for each row when ((old.state <> new.state)) execute function note_state_since();
