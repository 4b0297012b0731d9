import type pg from "pg";
import { sqlOn } from "../../apps/api/src/db/pool.postgres.ts";
import { postgresReads } from "../../apps/api/src/process/reads.postgres.ts";
import { postgresUnitOfWork } from "../../apps/api/src/process/unit-of-work.postgres.ts";
import type { UnitOfWork } from "../../apps/api/src/db/unit-of-work.port.ts";
import { pruneHistory } from "../../apps/api/src/reconcile/prune-history.ts";
import { RETENTION_MS } from "../../apps/api/src/reconcile/retention-times.ts";
import { recordedEvents } from "../../test/fakes/recorded-events.ts";
import { storeQuotes, type StoredQuotes } from "./stored-quotes.ts";

const [CHAIN, OTHER_CHAIN, NEW_CHAIN] = [1, 2, 3];
const NOW_MS = 1_700_000_000_000;
/** Quotes and idempotency keys that are deleted in one round. */
const DUE = 5_000;
const FIRST_CHECKS = 100_000;

export interface PruneFigures {
  /** Expired requests that are never deleted: their deposit addresses received funds. */
  readonly kept: number;
  readonly loadedInSeconds: number;
  /** A round that has nothing to delete. */
  readonly quietMs: number;
  /**
   * Rounds that delete `rows` unpaid quotes whose deadlines are older than the retention, and as many
   * idempotency keys.
   */
  readonly deleting: Pruning;
  /** The same for quotes with large calls that ended a day ago. */
  readonly deletingLarge: Pruning;
  /** Rounds until `rows` additional retained quotes were checked once. */
  readonly firstCheck: Pruning & { readonly rounds: number };
  readonly faults: number;
}

interface Pruning {
  readonly rows: number;
  readonly tookMs: number;
  readonly longestCommitMs: number;
}

/** Measures pruning while many expired requests are retained. */
export async function measurePrune(pool: pg.Pool, kept: number): Promise<PruneFigures> {
  const events = recordedEvents();
  const beganAtMs = performance.now();
  const clock = { nowMs: () => NOW_MS + Math.floor(performance.now() - beganAtMs) };
  const reads = {
    ...postgresReads(sqlOn(pool)),
    newestBlocksMs: async () => await Promise.resolve([clock.nowMs()]),
  };
  const commitsMs: number[] = [];
  const transactions = postgresUnitOfWork(pool, events);
  const uow: UnitOfWork = {
    run: async (work) => {
      const startedMs = performance.now();
      const result = await transactions.run(work);
      commitsMs.push(performance.now() - startedMs);
      return result;
    },
  };
  const services = { reads, uow, events, clock };
  const dueMs = NOW_MS - RETENTION_MS.requests - 1;
  const round = async (): Promise<number> => {
    const startedMs = performance.now();
    await pruneHistory(services);
    return performance.now() - startedMs;
  };
  const measureDeletion = async (
    quotes: Pick<StoredQuotes, "fillDeadlineMs" | "callBytes">,
  ): Promise<Pruning> => {
    await storeQuotes(pool, { chainId: OTHER_CHAIN, count: DUE, state: "expired", ...quotes });
    await storeKeys(pool, DUE);
    commitsMs.length = 0;
    const tookMs = await round();
    const { rows } = await pool.query<{ left: number }>(
      `select (select count(*) from requests where origin_chain_id = $1) + (select count(*) from idempotency_keys) as left`,
      [OTHER_CHAIN],
    );
    if (rows[0]?.left !== 0) throw new Error(`${rows[0]?.left} rows are left`);
    return { rows: 2 * DUE, tookMs, longestCommitMs: Math.max(...commitsMs) };
  };
  const loadedAtMs = performance.now();
  const keptQuotes = {
    chainId: CHAIN,
    state: "expired",
    fillDeadlineMs: dueMs - kept,
    isKept: true,
  } as const;
  await storeQuotes(pool, { ...keptQuotes, count: kept, isChecked: true });
  const loadedInSeconds = Math.round((performance.now() - loadedAtMs) / 1000);
  const quietMs = await round();
  const deletingFew = await measureDeletion({ fillDeadlineMs: dueMs - 2 * kept });
  const deletingLarge = await measureDeletion({
    fillDeadlineMs: NOW_MS - RETENTION_MS.large_requests - DUE - 1,
    callBytes: 8_192,
  });
  await storeQuotes(pool, { ...keptQuotes, chainId: NEW_CHAIN, count: FIRST_CHECKS });
  commitsMs.length = 0;
  let rounds = 0;
  let tookMs = 0;
  for (;;) {
    tookMs += await round();
    rounds++;
    const { rows } = await pool.query("select 1 from requests where state = 'expired' and not kept limit 1");
    if (rows.length === 0) break;
  }
  return {
    kept,
    loadedInSeconds,
    quietMs,
    deleting: deletingFew,
    deletingLarge,
    firstCheck: { rows: FIRST_CHECKS, rounds, tookMs, longestCommitMs: Math.max(...commitsMs) },
    faults: events.of("prune_fault").length,
  };
}

/** Calls that were answered more than a day ago. */
async function storeKeys(pool: pg.Pool, count: number): Promise<void> {
  await pool.query(
    `insert into idempotency_keys (scope, endpoint, key, body_hash, lease_token, lease_until_ms, status, body, created_at_ms)
     select 'key', 'POST /quote/v2', md5(n::text), '', '', 0, 200, repeat(md5(n::text), 30), $2 from generate_series(1, $1::integer) n`,
    [count, NOW_MS - RETENTION_MS.idempotency_keys - 1],
  );
  await pool.query("analyze idempotency_keys");
}
