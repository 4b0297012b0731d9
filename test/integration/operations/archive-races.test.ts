import type { RequestId } from "@causeway/domain";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { zstdDecompressSync } from "node:zlib";
import type pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import { endOfMonth, monthOf } from "../../../apps/api/src/db/month.ts";
import { archiveFiles } from "../../../apps/api/src/reconcile/archive/archive-files.adapter.ts";
import { archiveMonths, type ArchivedPart } from "../../../apps/api/src/reconcile/archive/archive-months.ts";
import { postgresRequestHistory } from "../../../apps/api/src/requests/history/request-history.postgres.ts";
import type { RequestStory } from "../../../apps/api/src/requests/history/request-history.port.ts";
import type { ArchiveFiles } from "../../../apps/api/src/reconcile/archive/archive.port.ts";
import { archiveStore } from "../../../apps/api/src/reconcile/archive/archive.postgres.ts";
import {
  makePartitionsAhead,
  partitionedMonths,
} from "../../../apps/api/src/requests/event-partitions.postgres.ts";
import { oldestSnapshot } from "../../../apps/api/src/telemetry/database-figures.postgres.ts";
import { someHash } from "../../support/terms.ts";
import { allOf } from "../../support/all-of.ts";
import {
  HISTORY_START_MS,
  startHistoryWorld,
  type FilledRequest,
  type HistoryWorld,
} from "../../support/history-world.ts";

const MONTH = monthOf(HISTORY_START_MS);
const NEXT = monthOf(endOfMonth(MONTH));
const DAY_MS = 86_400_000;
const LATER_MS = endOfMonth(MONTH) + 31 * DAY_MS;
/** Columns that a copy of a payment may have in common with the payment. */
const SLOT_COLUMNS =
  "chain_id, sender, leg_kind, request_id, call_to, call_value, gas_limit, max_fee_per_gas, max_priority_fee_per_gas, outflow_currency, outflow_amount, state, cancel_after_ms, created_at_ms, settlement_noted";
let world: HistoryWorld;
let folder: string;

beforeAll(async () => {
  world = await startHistoryWorld();
  folder = await mkdtemp(join(tmpdir(), "archive-races-"));
});
const empty = async () => {
  await world.pool.query(
    "truncate requests, request_events, status_events, deposits, slots, attempts, settlements, webhook_deliveries, archives, archive_requests, outbox cascade",
  );
  for (const m of await partitionedMonths(sqlOn(world.pool)))
    if (m < "2026") await world.pool.query(`drop table request_events_${m.replace("-", "_")}`);
};
beforeEach(async () => {
  await empty();
  await rm(folder, { recursive: true, force: true });
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await world.stop();
});
async function ended(): Promise<FilledRequest> {
  const filled = await world.aFilledRequest();
  await world.applyEvent(filled.terms, { kind: "fillFinal" });
  await settle(filled.terms.requestId);
  return filled;
}
async function settle(requestId: RequestId): Promise<void> {
  await world.pool.query(
    `with final as (update slots set state = 'final', settlement_noted = true where request_id = $1 returning id)
     insert into settlements (slot_id, request_id, state, next_try_ms, created_at_ms, updated_at_ms) select id, $1, 'settled', 0, 0, 0 from final`,
    [requestId],
  );
}
async function archive(
  before = NEXT,
  nowMs = LATER_MS,
  files = archiveFiles(folder),
  wrap = (c: pg.PoolClient) => c,
  pool = world.pool,
): Promise<ArchivedPart[]> {
  const client = await pool.connect();
  try {
    return await allOf(
      archiveMonths(
        { store: archiveStore(wrap(client)), otherConnections: [], files, nowMs: () => nowMs },
        before,
      ),
    );
  } finally {
    client.release(true);
  }
}
async function textOfFiles(): Promise<string> {
  let all = "";
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile() && entry.name.endsWith(".zst"))
      all += zstdDecompressSync(await readFile(join(entry.parentPath, entry.name))).toString();
  return all;
}

test("keeps a finished archive of another database in the same folder", async () => {
  const { terms } = await ended();
  await archive();
  expect(await textOfFiles()).toContain(terms.requestId);
  // This gives the database the state of another instance's database.
  await empty();
  await ended();
  await archive();
  expect(await textOfFiles()).toContain(terms.requestId);
});

test("exports again after two crashes between the manifest and its commit", async () => {
  const { terms } = await ended();
  const real = archiveFiles(folder);
  const dying: ArchiveFiles = {
    ...real,
    async finish(manifest) {
      await real.finish(manifest);
      throw new Error("died");
    },
  };
  for (let run = 0; run < 3; run++) await expect(archive(NEXT, LATER_MS, dying)).rejects.toThrow("died");
  expect(await archive()).toHaveLength(1);
  expect(await textOfFiles()).toContain(terms.requestId);
});

/** Runs the archive. Calls `see` with each page while the page is being exported. */
async function exportSeeing(see: (lines: string) => Promise<void>): Promise<void> {
  const real = archiveFiles(folder);
  await archive(NEXT, LATER_MS, {
    ...real,
    async write(part, table, n, pages) {
      async function* seen() {
        for await (const page of pages) {
          await see(page.lines);
          yield page;
        }
      }
      return await real.write(part, table, n, seen());
    },
  });
}

test("holds no snapshot while it writes files, so that vacuum can remove dead rows", async () => {
  await ended();
  const ages: number[] = [];
  await exportSeeing(async () => {
    await sleep(300);
    ages.push((await oldestSnapshot(sqlOn(world.pool))).seconds);
  });
  expect(ages).toHaveLength(3);
  expect(Math.max(...ages)).toBeLessThan(0.2);
});

test("exports every payment with bounded memory, regardless of the size of its calldata", async () => {
  const { terms } = await ended();
  const largest = 256 * 1024;
  await world.pool.query(
    `insert into slots (${SLOT_COLUMNS}, leg_id, nonce, call_data)
     select ${SLOT_COLUMNS}, leg_id || n, nonce + n, '0x' || repeat('ab', ${largest / 2}) from slots, generate_series(1, 250) n where request_id = $1`,
    [terms.requestId],
  );
  const sizes: number[] = [];
  await exportSeeing(async (lines) => {
    sizes.push(lines.length);
  });
  expect(Math.max(...sizes)).toBeLessThan(32 * 1024 * 1024);
  expect((await textOfFiles()).match(/"leg_id"/g)).toHaveLength(251);
});

test("keeps an event that is written while its partition is replaced", async () => {
  const open = await world.aFilledRequest();
  await ended();
  await makePartitionsAhead(world.pool, HISTORY_START_MS);
  let done = false;
  const wrap = (client: pg.PoolClient): pg.PoolClient =>
    new Proxy(client, {
      get: (target, name) =>
        name === "query"
          ? async (...args: readonly unknown[]) => {
              const text = typeof args[0] === "string" ? args[0] : (args[0] as { text: string }).text;
              if (!done && /^\s*drop table/.test(text)) {
                done = true;
                const inserting = world.pool.query(
                  "insert into request_events (request_id, at_ms, event, detail) values ($1, $2, 'fillMined', '{\"late\":1}')",
                  [open.terms.requestId, HISTORY_START_MS + 5_000],
                );
                await Promise.race([inserting, sleep(300)]);
              }
              return await (Reflect.apply(target.query, target, args) as Promise<unknown>);
            }
          : (Reflect.get(target, name) as unknown),
    });
  await archive(NEXT, LATER_MS, archiveFiles(folder), wrap);
  expect(done).toBe(true);
  const { rows } = await world.pool.query("select from request_events where detail = '{\"late\":1}'");
  expect(rows).toHaveLength(1);
});

test("creates a partition while an event of its month is being written, and the partitions of the next months", async () => {
  const nowMs = Date.UTC(2031, 5, 15);
  const writer = await world.pool.connect();
  try {
    await writer.query("begin");
    await writer.query(
      "insert into request_events (request_id, at_ms, event, detail) values ('0x', $1, 'fillMined', '{}')",
      [nowMs],
    );
    const making = makePartitionsAhead(world.pool, nowMs).catch((error: unknown) => error);
    await sleep(150);
    await writer.query("commit");
    const outcome = await making;
    expect.soft(outcome).toBe(undefined);
    expect((await partitionedMonths(sqlOn(world.pool))).filter((m) => m >= "2031")).toEqual([
      "2031-06",
      "2031-07",
      "2031-08",
    ]);
  } finally {
    writer.release(true);
  }
});

test("keeps a request in the list if it became active after it was chosen", async () => {
  const { terms } = await ended();
  const real = archiveFiles(folder);
  const files: ArchiveFiles = {
    ...real,
    async verify(...args) {
      await real.verify(...args);
      await world.uow.run(async (tx) => {
        const record = await tx.requests.lock(terms.requestId);
        if (record === undefined) throw new Error("gone");
        await tx.requests.save(
          terms.requestId,
          { state: { ...record.state, name: "refunding", final: false } },
          LATER_MS,
        );
      });
    },
  };
  await archive(NEXT, LATER_MS, files);
  const { rows } = await world.pool.query("select status from request_history where request_id = $1", [
    terms.requestId,
  ]);
  expect(rows).toHaveLength(1);
});

test("a trace has its events or says that they are archived, at each moment of the removal", async () => {
  let statements = Number.POSITIVE_INFINITY;
  for (let first = 0; first < statements; first++) {
    await empty();
    await rm(folder, { recursive: true, force: true });
    const { requestId } = (await ended()).terms;
    const { pool, hold, release } = heldPool(first);
    let story: Promise<RequestStory | undefined> | undefined;
    const real = archiveFiles(folder);
    await archive(NEXT, LATER_MS, {
      ...real,
      async verify(...args) {
        await real.verify(...args);
        story = postgresRequestHistory(sqlOn(pool)).story(requestId);
        statements = await hold();
      },
    });
    release();
    const { events = [], archivedMonths } = (await story) ?? {};
    if (events.length === 0) expect(archivedMonths, `statement ${first} first`).toEqual([MONTH]);
    else expect(archivedMonths, `statement ${first} first`).toBe(undefined);
  }
  expect(statements).toBeGreaterThan(5);
});

/**
 * A pool that delays all concurrent statements, except the one with the index `first`, until `release`.
 * `hold` waits for the answer to that statement, and returns the number of statements.
 */
function heldPool(first: number) {
  const released = Promise.withResolvers<void>();
  let sent = 0;
  let answered: Promise<unknown> | undefined;
  const pool = new Proxy(world.pool, {
    get: (target, name) =>
      name === "query"
        ? async (...args: readonly unknown[]) => {
            const run = async () => await (Reflect.apply(target.query, target, args) as Promise<unknown>);
            if (sent++ === first) return await (answered = run());
            await released.promise;
            return await run();
          }
        : (Reflect.get(target, name) as unknown),
  });
  const hold = async (): Promise<number> => {
    await expect.poll(() => answered).toBeDefined();
    await answered;
    return sent;
  };
  return { pool, hold, release: released.resolve };
}

test("keeps the fill time of a request that is listed again", async () => {
  const { terms } = await ended();
  const fillMs = async () =>
    (await world.pool.query("select fill_ms from request_history where request_id = $1", [terms.requestId]))
      .rows;
  const before = await fillMs();
  await archive();
  await world.uow.run(async (tx) => {
    const record = await tx.requests.lock(terms.requestId);
    if (record === undefined) throw new Error("gone");
    await tx.requests.save(terms.requestId, { state: record.state, refundTxHashes: [someHash()] }, LATER_MS);
  });
  expect(await fillMs()).toEqual(before);
});
