/**
 * Unpaid quotes that are deleted by age: all, or those with large destination calls and no deposit address,
 * which are deleted earlier.
 */
export type PrunableQuotes = "requests" | "large_requests";
/** Tables, or parts of tables, whose rows or signed bytes are deleted by age. */
export type PrunableTable =
  | "outbox"
  | PrunableQuotes
  | "idempotency_keys"
  | "claims"
  | "attempts"
  | "hub_executions";
