import type { Clock } from "../db/clock.port.ts";
import type { PrunableTable } from "../db/prunable.port.ts";
import type { Services } from "../db/services.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { mayDeleteByAge } from "../markets/index.ts";
import { RETENTION_MS } from "./retention-times.ts";

/**
 * Rows of a table's first commit per round. Batches double after a quick commit and halve after a slow one:
 * the time per row depends on references to it and on the disk.
 */
const FIRST_BATCH = 125;
const MAX_BATCH = 1_000;
/** After a commit this short, one with twice as many rows ends within half a second. */
const QUICK_MS = 250;
/** Batches of one table per round; the rest waits for the next one. */
const MAX_BATCHES = 100;

interface PruneResult {
  readonly deleted: number;
  /** Rows examined, whether deleted or kept. */
  readonly seen: number;
}

/**
 * Deletes expired rows, and large columns of rows that remain, in batches that commit within half a second. A
 * failure affects only its table. Deletes nothing while no chain confirms the clock.
 */
export async function pruneHistory(
  services: Pick<Services, "reads" | "uow" | "events" | "clock">,
): Promise<void> {
  if (!(await mayDeleteByAge(services))) return;
  const counts = {
    jobs: await prune(services, "outbox", async (tx, beforeMs, limit) =>
      allDeleted(await tx.outbox.prune(beforeMs, limit)),
    ),
    quotesWithCalls: await prune(services, "large_requests", (tx, beforeMs, limit) =>
      tx.requests.prune("large_requests", beforeMs, limit),
    ),
    quotes: await prune(services, "requests", (tx, beforeMs, limit) =>
      tx.requests.prune("requests", beforeMs, limit),
    ),
    calls: await prune(services, "idempotency_keys", async (tx, beforeMs, limit) =>
      allDeleted(await tx.idempotency.prune(beforeMs, limit)),
    ),
    offers: await prune(services, "claims", async (tx, beforeMs, limit) =>
      allDeleted(await tx.claims.prune(Math.floor(beforeMs / 1000), limit)),
    ),
    signedBytes: await prune(services, "attempts", async (tx, beforeMs, limit) =>
      allDeleted(await tx.lanes.dropBytes(beforeMs, limit)),
    ),
    attestations: await prune(services, "hub_executions", async (tx, beforeMs, limit) =>
      allDeleted(await tx.settlement.dropSignatures(beforeMs, limit)),
    ),
  };
  if (Object.values(counts).some((count) => count > 0)) services.events.happened("pruned", counts);
}

const allDeleted = (deleted: number): PruneResult => ({ deleted, seen: deleted });

/** An archive can lock a month's events for minutes: a batch that waited for it would hold its own locks. */
const LOCK_TIMEOUT_MS = 2_000;

async function prune(
  { uow, clock, events }: Pick<Services, "uow" | "events" | "clock">,
  table: PrunableTable,
  batch: (tx: Tx, beforeMs: number, limit: number) => Promise<PruneResult>,
): Promise<number> {
  const beforeMs = clock.nowMs() - RETENTION_MS[table];
  let total = 0;
  try {
    await inBatches(clock, async (limit) => {
      const { deleted, seen } = await uow.run((tx) => batch(tx, beforeMs, limit), {
        lockTimeoutMs: LOCK_TIMEOUT_MS,
      });
      total += deleted;
      return seen;
    });
  } catch (error) {
    events.fault("prune_fault", error, { table });
  }
  return total;
}

/**
 * @param batch deletes up to `limit` rows in one commit and returns how many it examined: fewer if there are
 * no more
 */
export async function inBatches(clock: Clock, batch: (limit: number) => Promise<number>): Promise<void> {
  let limit = FIRST_BATCH;
  for (let n = 0; n < MAX_BATCHES; n++) {
    const startedAtMs = clock.nowMs();
    if ((await batch(limit)) < limit) return;
    const isQuick = clock.nowMs() - startedAtMs < QUICK_MS;
    limit = isQuick ? Math.min(2 * limit, MAX_BATCH) : Math.ceil(limit / 2);
  }
}
