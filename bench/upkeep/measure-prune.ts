import type pg from "pg";
import { sqlOn } from "../../apps/api/src/adapters/postgres/pool.ts";
import { postgresReads } from "../../apps/api/src/adapters/postgres/reads.ts";
import { postgresUnitOfWork } from "../../apps/api/src/adapters/postgres/unit-of-work.ts";
import { KEPT_MS, pruneHistory } from "../../apps/api/src/usecases/prune-history.ts";
import { recordedEvents } from "../../test/fakes/recorded-events.ts";
import { storeQuotes } from "./stored-quotes.ts";

const [CHAIN, OTHER_CHAIN] = [1, 2];
const NOW_MS = 1_700_000_000_000;

export interface PruneFigures {
  /** Expired requests that stay for ever, because money once came to their deposit addresses. */
  readonly kept: number;
  /** Rounds until each of them was looked at once, and the slowest of these rounds. */
  readonly firstLook: { readonly rounds: number; readonly mostMs: number };
  /** A round that has nothing to delete, and one that deletes `deleted` unpaid quotes whose deadlines are older than all that is kept. */
  readonly quietMs: number;
  readonly deleting: { readonly deleted: number; readonly tookMs: number };
  readonly faults: number;
}

/** Prunes beside many expired requests that are kept. */
export async function measurePrune(pool: pg.Pool, kept: number): Promise<PruneFigures> {
  const events = recordedEvents();
  const clock = { nowMs: () => NOW_MS };
  const reads = {
    ...postgresReads(sqlOn(pool)),
    newestBlocksMs: async () => await Promise.resolve([NOW_MS]),
  };
  const services = { reads, uow: postgresUnitOfWork(pool), events, clock };
  const dueMs = NOW_MS - KEPT_MS.requests - 1;
  await storeQuotes(pool, {
    chainId: CHAIN,
    count: kept,
    state: "expired",
    fillDeadlineMs: dueMs - kept,
    isKept: true,
  });
  const round = async (): Promise<number> => {
    const startedMs = performance.now();
    await pruneHistory(services);
    return performance.now() - startedMs;
  };
  const looks: number[] = [];
  for (;;) {
    looks.push(await round());
    const { rows } = await pool.query("select 1 from requests where state = 'expired' and not kept limit 1");
    if (rows.length === 0) break;
  }
  const quietMs = await round();
  const deleted = 5_000;
  await storeQuotes(pool, {
    chainId: OTHER_CHAIN,
    count: deleted,
    state: "expired",
    fillDeadlineMs: dueMs - 2 * kept,
  });
  const tookMs = await round();
  return {
    kept,
    firstLook: { rounds: looks.length, mostMs: Math.max(...looks) },
    quietMs,
    deleting: { deleted, tookMs },
    faults: events.of("prune_fault").length,
  };
}
