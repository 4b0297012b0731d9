import type { PrunableTable } from "../db/prunable.port.ts";
import { IDEMPOTENCY_KEPT_MS } from "../http/idempotency.port.ts";

/**
 * Retention times: queued jobs for diagnosis; unpaid quotes so that a very late deposit is still refunded
 * (large ones only a day, since anyone can have them stored); unsigned claim offers to explain why they
 * ended; signed bytes of final transactions so that they can be sent again by hand after a reorg below
 * finality.
 */
export const RETENTION_MS: Readonly<Record<PrunableTable, number>> = {
  outbox: 24 * 3_600 * 1000,
  requests: 30 * 24 * 3_600 * 1000,
  large_requests: 24 * 3_600 * 1000,
  idempotency_keys: IDEMPOTENCY_KEPT_MS,
  claims: 24 * 3_600 * 1000,
  attempts: 30 * 24 * 3_600 * 1000,
  hub_executions: 30 * 24 * 3_600 * 1000,
};
