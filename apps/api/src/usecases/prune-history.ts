import { IDEMPOTENCY_KEPT_MS } from "../ports/idempotency.ts";
import type { PrunableTable } from "../ports/prunable.ts";
import type { Services } from "../ports/services.ts";
import type { Tx } from "../ports/unit-of-work.ts";
import { mayDeleteByAge } from "./plausible-clock.ts";

const BATCH = 5_000;
/** Batches of one table in a round: the rest waits for the next one. */
const MAX_BATCHES = 20;

/**
 * How long rows stay: queued jobs to look into what happened, unpaid quotes so that a very late deposit is still refunded (large ones a day only: anyone can have them stored),
 * offers of claims that were never signed to tell why they ended.
 */
export const KEPT_MS: Readonly<Record<PrunableTable, number>> = {
  outbox: 24 * 3_600 * 1000,
  requests: 30 * 24 * 3_600 * 1000,
  large_requests: 24 * 3_600 * 1000,
  idempotency_keys: IDEMPOTENCY_KEPT_MS,
  claims: 24 * 3_600 * 1000,
};

interface Pruned {
  readonly deleted: number;
  /** Rows looked at, whether they were deleted or are kept. */
  readonly seen: number;
}

/** Deletes what has served its time, a bounded batch a commit. Each table fails alone; nothing is deleted while no chain confirms the clock. */
export async function pruneHistory(
  services: Pick<Services, "reads" | "uow" | "events" | "clock">,
): Promise<void> {
  if (!(await mayDeleteByAge(services))) return;
  const counts = {
    jobs: await prune(services, "outbox", async (tx, beforeMs) =>
      all(await tx.outbox.prune(beforeMs, BATCH)),
    ),
    quotesWithCalls: await prune(services, "large_requests", (tx, beforeMs) =>
      tx.requests.prune("large_requests", beforeMs, BATCH),
    ),
    quotes: await prune(services, "requests", (tx, beforeMs) =>
      tx.requests.prune("requests", beforeMs, BATCH),
    ),
    calls: await prune(services, "idempotency_keys", async (tx, beforeMs) =>
      all(await tx.idempotency.prune(beforeMs, BATCH)),
    ),
    offers: await prune(services, "claims", async (tx, beforeMs) =>
      all(await tx.claims.prune(Math.floor(beforeMs / 1000), BATCH)),
    ),
  };
  if (Object.values(counts).some((count) => count > 0)) services.events.happened("pruned", counts);
}

const all = (deleted: number): Pruned => ({ deleted, seen: deleted });

async function prune(
  { uow, clock, events }: Pick<Services, "uow" | "events" | "clock">,
  table: PrunableTable,
  batch: (tx: Tx, beforeMs: number) => Promise<Pruned>,
): Promise<number> {
  const beforeMs = clock.nowMs() - KEPT_MS[table];
  let total = 0;
  try {
    for (let n = 0; n < MAX_BATCHES; n++) {
      const { deleted, seen } = await uow.run((tx) => batch(tx, beforeMs));
      total += deleted;
      if (seen < BATCH) break;
    }
  } catch (error) {
    events.fault("prune_fault", error, { table });
  }
  return total;
}
