import { rawKeySigner } from "@causeway/attest";
import type { RequestId } from "@causeway/domain";
import { localAccount } from "@causeway/localnet";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { chainProfiles, createChainDirectory } from "../../apps/api/src/chains/directory.adapter.ts";
import { inTransaction } from "../../apps/api/src/db/in-transaction.postgres.ts";
import type { Month } from "../../apps/api/src/db/month.port.ts";
import { endOfMonth, monthAfter, startOfMonth } from "../../apps/api/src/db/month.ts";
import { sqlOn } from "../../apps/api/src/db/pool.postgres.ts";
import { configureSession } from "../../apps/api/src/db/session-settings.postgres.ts";
import { groupedQuoteInserts } from "../../apps/api/src/deposits/addresses/quoted-requests.postgres.ts";
import { balanceReads } from "../../apps/api/src/balances/balance-reads.postgres.ts";
import { depositAddressReads } from "../../apps/api/src/deposits/addresses/deposit-address-reads.postgres.ts";
import { postgresReads } from "../../apps/api/src/process/reads.postgres.ts";
import { postgresUnitOfWork } from "../../apps/api/src/process/unit-of-work.postgres.ts";
import { archiveFiles } from "../../apps/api/src/reconcile/archive/archive-files.adapter.ts";
import { archiveMonths } from "../../apps/api/src/reconcile/archive/archive-months.ts";
import { ARCHIVE_SESSION, archiveStore } from "../../apps/api/src/reconcile/archive/archive.postgres.ts";
import { reconcileRequests } from "../../apps/api/src/reconcile/reconcile-requests.ts";
import { makePartition } from "../../apps/api/src/requests/event-partitions.postgres.ts";
import { postgresRequestHistory } from "../../apps/api/src/requests/history/request-history.postgres.ts";
import { noAppBalances } from "../../test/fakes/no-app-balances.ts";
import { noChains } from "../../test/fakes/no-chains.ts";
import { aChain } from "../../test/fakes/quote-world.ts";
import { recordedEvents } from "../../test/fakes/recorded-events.ts";
import { enginePolicy } from "../../test/support/engine-policy.ts";
import { someTerms } from "../../test/support/terms.ts";
import { allOf } from "../../test/support/all-of.ts";
import { storeHistory } from "../history/store-history.ts";

const MONTH: Month = "2026-08";
/** Older months that have a partition with a few rows: two years in all. */
const OLDER_MONTHS = 23;
/** Requests in the smaller database, so that both have something to return. */
const FEW = 500;
const RUNS = 400;
const PAUSE_MS = 5;

interface Times {
  readonly p50Ms: number;
  readonly p99Ms: number;
}
type Measured = Readonly<Record<"quote" | "status" | "history" | "trace" | "reconcile", Times>>;

export interface MonthFigures {
  readonly requests: number;
  readonly bytes: number;
  /** With {@link FEW} requests, with the month, and the ratio of the second to the first. */
  readonly few: Measured;
  readonly month: Measured;
  readonly ratios: Readonly<Record<keyof Measured, number>>;
  readonly archive: {
    readonly seconds: number;
    /** Seconds in each step, and how often it ran. */
    readonly steps: Readonly<Record<string, { readonly seconds: number; readonly calls: number }>>;
    readonly fileBytes: number;
    readonly bytesAfter: number;
    /** Reading statuses one at a time, before and while the month is archived. */
    readonly statusAlone: Times;
    readonly statusDuring: Times & { readonly maxMs: number };
  };
}

/**
 * Fills a month with paid and settled requests and all their rows, measures the queries of clients and the
 * worker with and without them, and archives the month while statuses are read.
 */
export async function measureMonth(
  pool: pg.Pool,
  url: string,
  { requests, connections }: { readonly requests: number; readonly connections: number },
  onProgress: (text: string) => void,
): Promise<MonthFigures> {
  for (let monthsBack = OLDER_MONTHS; monthsBack >= 0; monthsBack--) {
    const month = monthAfter(MONTH, -monthsBack);
    await inTransaction(pool, (client) => makePartition(client, month));
    if (monthsBack > 0)
      await pool.query(
        `insert into request_events (request_id, at_ms, event, detail)
         select '0x' || md5($1 || n), $2::bigint + n, 'fillMined', '{}' from generate_series(1, 1000) n`,
        [month, startOfMonth(month)],
      );
  }
  await store(pool, url, FEW);
  const few = await measureWarm(pool);
  await pool.query("truncate requests, request_events, deposits, slots, attempts, settlements cascade");
  await store(pool, url, requests);
  onProgress(`${requests} requests stored`);
  const month = await measureWarm(pool);
  const bytes = await bytesOf(pool);
  onProgress(`measured ${JSON.stringify({ few, month })}; archiving`);

  const ids = await someIds(pool);
  const reads = postgresReads(sqlOn(pool));
  const readStatus = async (run: number): Promise<unknown> => await reads.status(idAt(ids, run));
  const statusAlone = timesOf(await timed(RUNS, readStatus, PAUSE_MS));
  const folder = await mkdtemp(join(tmpdir(), "archive-"));
  const clients = await Promise.all(Array.from({ length: connections }, async () => await pool.connect()));
  const [first, ...others] = clients;
  if (first === undefined) throw new RangeError("archiving takes at least one connection");
  try {
    for (const client of clients) await configureSession(client, ARCHIVE_SESSION);
    const stop = new AbortController();
    const statusReads = timedUntil(stop.signal, readStatus, PAUSE_MS);
    const startedMs = performance.now();
    const steps = stepTimes();
    const parts = await allOf(
      archiveMonths(
        {
          store: steps.timeCalls(archiveStore(first)),
          otherConnections: others.map(archiveStore),
          files: steps.timeCalls(archiveFiles(folder)),
          nowMs: () => endOfMonth(MONTH) + 40 * 86_400_000,
        },
        monthAfter(MONTH),
      ),
    );
    const seconds = (performance.now() - startedMs) / 1000;
    stop.abort();
    const took = await statusReads;
    const ratio = (name: keyof Measured): number => round(month[name].p50Ms / few[name].p50Ms);
    return {
      requests,
      bytes,
      few,
      month,
      ratios: {
        quote: ratio("quote"),
        status: ratio("status"),
        history: ratio("history"),
        trace: ratio("trace"),
        reconcile: ratio("reconcile"),
      },
      archive: {
        seconds: round(seconds),
        steps: steps.totals(),
        fileBytes: parts.flatMap(({ tables }) => tables).reduce((sum, table) => sum + table.bytes, 0),
        bytesAfter: await bytesOf(pool),
        statusAlone,
        statusDuring: { ...timesOf(took), maxMs: round(took.reduce((max, ms) => Math.max(max, ms), 0)) },
      },
    };
  } finally {
    for (const client of clients) client.release(true);
    await rm(folder, { recursive: true, force: true });
  }
}

/** Adds up how long the methods of ports take. Steps that write what another one reads overlap. */
function stepTimes(): {
  timeCalls<Port extends object>(port: Port): Port;
  totals(): MonthFigures["archive"]["steps"];
} {
  const steps = new Map<string, { ms: number; calls: number }>();
  return {
    timeCalls: (port) =>
      new Proxy(port, {
        get(target, name) {
          const method: unknown = Reflect.get(target, name);
          // These two return no promise.
          if (typeof method !== "function" || name === "folderOf" || name === "read") return method;
          return async (...args: readonly unknown[]): Promise<unknown> => {
            const startedMs = performance.now();
            try {
              return await (Reflect.apply(method, target, args) as Promise<unknown>);
            } finally {
              const { ms = 0, calls = 0 } = steps.get(String(name)) ?? {};
              steps.set(String(name), { ms: ms + performance.now() - startedMs, calls: calls + 1 });
            }
          };
        },
      }),
    totals: () =>
      Object.fromEntries(
        [...steps].map(([name, { ms, calls }]) => [name, { seconds: round(ms / 1000), calls }]),
      ),
  };
}

async function store(pool: pg.Pool, url: string, count: number): Promise<void> {
  const spacingMs = Math.floor((endOfMonth(MONTH) - startOfMonth(MONTH) - 86_400_000) / count);
  await storeHistory(url, count, { newestMs: endOfMonth(MONTH) - 86_400_000, spacingMs });
  await pool.query(
    `insert into settlements (slot_id, request_id, state, next_try_ms, created_at_ms, updated_at_ms)
     select id, request_id, 'settled', 0, created_at_ms, created_at_ms from slots`,
  );
  await pool.query("vacuum analyze");
  // A busy server has indexes in memory. After a bulk load they are on the disk, and each read would count.
  await pool.query("create extension if not exists pg_prewarm");
  await pool.query(
    `select pg_prewarm(indexrelid::regclass) from pg_index join pg_class on pg_class.oid = indexrelid
     where relkind = 'i' and indrelid::regclass::text similar to 'requests|deposits|slots|settlements|request_events_%'`,
  );
}

/**
 * Measures the second of two passes. The first one compiles the code, and after a bulk load it reads from the
 * disk what a busy server has in memory.
 */
async function measureWarm(pool: pg.Pool): Promise<Measured> {
  await measureAll(pool);
  return await measureAll(pool);
}

async function measureAll(pool: pg.Pool): Promise<Measured> {
  const sql = sqlOn(pool);
  const [reads, history, events] = [postgresReads(sql), postgresRequestHistory(sql), recordedEvents()];
  const insertQuoted = groupedQuoteInserts(sql);
  const ids = await someIds(pool);
  const services = {
    ...noAppBalances,
    enginePolicy,
    events,
    reads,
    balances: balanceReads(sql),
    depositAddresses: depositAddressReads(sql),
    uow: postgresUnitOfWork(pool, events),
    chains: { ...noChains, ...chainProfiles([aChain(1), aChain(10)]), ...createChainDirectory([]) },
    signer: rawKeySigner(localAccount("solver").privateKey),
    clock: { nowMs: () => endOfMonth(MONTH) },
  };
  const page = {
    conditions: [],
    groups: [],
    sort: "createdAt",
    isAscending: false,
    after: undefined,
    limit: 50,
  } as const;
  const measure = async (work: (run: number) => Promise<unknown>): Promise<Times> =>
    timesOf(await timed(RUNS, work, 0));
  return {
    quote: await measure(() => insertQuoted(someTerms({ createdAtMs: endOfMonth(MONTH) }))),
    status: await measure((run) => reads.status(idAt(ids, run))),
    history: await measure(async () => {
      const rows = await history.page(page);
      await history.stories(rows.map(({ requestId }) => requestId));
    }),
    trace: await measure((run) => history.story(idAt(ids, run))),
    reconcile: await measure(() => reconcileRequests(services)),
  };
}

async function someIds(pool: pg.Pool): Promise<readonly RequestId[]> {
  const { rows } = await pool.query<{ id: RequestId }>(
    "select request_id as id from requests where state <> 'quoted' order by md5(request_id) limit 1000",
  );
  return rows.map(({ id }) => id);
}

function idAt(ids: readonly RequestId[], run: number): RequestId {
  const id = ids[run % ids.length];
  if (id === undefined) throw new Error("invariant violated: no requests were stored");
  return id;
}

async function timed(
  runs: number,
  work: (run: number) => Promise<unknown>,
  pauseMs: number,
): Promise<readonly number[]> {
  const stop = new AbortController();
  let remaining = runs;
  return await timedUntil(
    stop.signal,
    async (run) => {
      await work(run);
      if (--remaining === 0) stop.abort();
    },
    pauseMs,
  );
}

async function timedUntil(
  stop: AbortSignal,
  work: (run: number) => Promise<unknown>,
  pauseMs: number,
): Promise<readonly number[]> {
  const took: number[] = [];
  for (let run = 0; !stop.aborted; run++) {
    const startedMs = performance.now();
    await work(run);
    took.push(performance.now() - startedMs);
    if (pauseMs > 0) await sleep(pauseMs);
  }
  return took;
}

function timesOf(took: readonly number[]): Times {
  const sorted = took.toSorted((a, b) => a - b);
  const percentile = (share: number): number =>
    round(sorted[Math.floor(sorted.length * share)] ?? Number.NaN);
  return { p50Ms: percentile(0.5), p99Ms: percentile(0.99) };
}

async function bytesOf(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ bytes: number }>(
    "select pg_database_size(current_database()) as bytes",
  );
  return rows[0]?.bytes ?? Number.NaN;
}

const round = (value: number): number => Math.round(value * 100) / 100;
