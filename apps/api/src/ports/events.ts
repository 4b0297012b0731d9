/** Things that happen, each written as one structured line and counted once. Facts never hold a secret. */
export interface Events {
  /** Business as usual. */
  happened(event: EventName, facts: Facts): void;
  /** Somebody should look: money is exposed, stuck or unattributed. */
  alarm(event: EventName, facts: Facts): void;
  /** A fault that will be retried. */
  fault(event: EventName, error: unknown, facts: Facts): void;
}

export type Facts = Readonly<Record<string, string | number | bigint | boolean | undefined>>;

export type EventName =
  | "deposit_seen"
  | "deposit_unattributed"
  | "deposit_removed"
  | "deposit_exposed"
  | "send_seen"
  | "send_removed"
  | "fill_planned"
  | "fill_waits"
  | "fill_impossible"
  | "refund_planned"
  | "refund_impossible"
  | "attempt_broadcast"
  | "attempt_refused"
  | "attempt_replaced"
  | "slot_mined"
  | "slot_unmined"
  | "slot_final"
  | "slot_dead"
  | "slot_cancelled"
  | "nonce_unexplained"
  | "request_expired"
  | "transition_rejected"
  | "reorg"
  | "chain_scanned"
  | "chain_leads"
  | "chain_fault"
  | "job_fault"
  | "relay_fault"
  | "reconciled"
  | "price_fault"
  | "pruned"
  | "log_ignored"
  | "settlement_leads"
  | "settlement_attested"
  | "settlement_waits"
  | "settlement_rejected"
  | "settlement_settled"
  | "settlement_fault"
  | "oracle_lied"
  | "execution_refused"
  | "hub_broadcast"
  | "hub_refused"
  | "api_keys_fault"
  | "usage_fault"
  | "rate_limits_alone"
  | "fast_fill_accepted"
  | "fast_fill_refused"
  | "fast_fill_broadcast"
  | "fast_fill_fault"
  | "hold_moved"
  | "hold_move_rejected"
  | "app_balance_owed"
  | "top_up_seen"
  | "top_up_credited"
  | "top_up_removed"
  | "top_up_reversed"
  | "top_up_unattributed"
  | "claim_accepted"
  | "claim_paid"
  | "claim_returned";
