import type { PrunableTable } from "../db/prunable.port.ts";
import { IDEMPOTENCY_KEPT_MS } from "../http/idempotency.port.ts";

/** How long rows are kept, ms. */
export const RETENTION_MS: Readonly<Record<PrunableTable, number>> = {
  /** Queued jobs: for diagnosis. */
  outbox: 24 * 3_600 * 1000,
  /**
   * Unpaid quotes and their deposit addresses: a very late deposit must still be refunded. Which of them are
   * never deleted: `requests/prune-quotes-and-addresses.postgres.ts`.
   */
  requests: 30 * 24 * 3_600 * 1000,
  /** Large unpaid quotes: anyone can have them stored. */
  large_requests: 24 * 3_600 * 1000,
  idempotency_keys: IDEMPOTENCY_KEPT_MS,
  /** Unsigned claim offers: to explain why they ended. */
  claims: 24 * 3_600 * 1000,
  /** Signed bytes of final transactions: to send them again by hand after a reorg below finality. */
  attempts: 30 * 24 * 3_600 * 1000,
  /** Oracles' signatures of executed settlements. */
  hub_executions: 30 * 24 * 3_600 * 1000,
};
