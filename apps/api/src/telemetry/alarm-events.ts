import type { EventName } from "../db/events.port.ts";

/**
 * Alarms that need a person at once: money may be lost or paid twice, someone else may use a key, or an
 * invariant is violated.
 */
export const CRITICAL_ALARMS = [
  "deposit_exposed",
  "payment_unrecorded",
  "nonce_spent_elsewhere",
  "nonce_unexplained",
  "nonce_contradicted",
  "oracle_lied",
  "transition_rejected",
  "hold_move_rejected",
  "hub_transaction_abandoned",
  "clock_implausible",
] as const satisfies readonly EventName[];

/** The other alarms. A test fails if an alarm that the source raises is in neither list. */
const OTHER_ALARMS = [
  "app_balance_owed",
  "attempt_refused",
  "attempt_replaced",
  "claim_returned",
  "deposit_addresses_unusable",
  "deposit_missed",
  "deposit_removed",
  "deposit_unattributed",
  "effects_unseen",
  "execution_impossible",
  "execution_overrun",
  "execution_refused",
  "execution_set_aside",
  "execution_target_refused",
  "execution_unseen",
  "execution_waits",
  "fast_fill_burnt",
  "fast_fill_cover_waits",
  "fast_fill_gas_spent",
  "fast_fill_surplus_kept",
  "fill_burnt",
  "fill_impossible",
  "fill_waits",
  "former_depository_quoted",
  "former_router_ordered",
  "funds_held",
  "hub_refused",
  "hub_waits",
  "log_ignored",
  "logs_not_asked",
  "mapping_left_out",
  "mapping_rejected",
  "node_slow",
  "nonce_gap_filled",
  "notice_given_up",
  "permit_budget_spent",
  "redis_memory_high",
  "refund_impossible",
  "refund_limit_reached",
  "reorg",
  "scan_behind",
  "send_removed",
  "settlement_rejected",
  "slot_cancelled",
  "slot_dead",
  "slot_unmined",
  "sweep_void",
  "sweep_waits",
  "top_up_removed",
  "top_up_reversed",
  "top_up_unattributed",
  "webhook_given_up",
] as const satisfies readonly EventName[];

/** Every event that is raised as an alarm. */
export const ALARMS: readonly EventName[] = [...CRITICAL_ALARMS, ...OTHER_ALARMS];
