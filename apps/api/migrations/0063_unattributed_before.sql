-- Up Migration
-- Operators returned deposits for no order by hand until now: those that are known already go back only when one releases them.
update deposits set refund_waits = 'recorded before such deposits went back by themselves: somebody may have returned it by hand'
  where disposition = 'unattributed' and request_id is null and refund_state = 'none' and refund_waits is null
    and mapping_until_ms is null;

-- Down Migration
update deposits set refund_waits = null
  where refund_waits = 'recorded before such deposits went back by themselves: somebody may have returned it by hand';
