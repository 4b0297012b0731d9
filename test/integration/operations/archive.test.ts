import type { RequestId } from "@causeway/domain";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import type pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import { endOfMonth, monthAfter, monthOf, startOfMonth } from "../../../apps/api/src/db/month.ts";
import { traceOf } from "../../../apps/api/src/payments/operator-trace.postgres.ts";
import { postgresReads } from "../../../apps/api/src/process/reads.postgres.ts";
import { archiveFiles } from "../../../apps/api/src/reconcile/archive/archive-files.adapter.ts";
import { archiveMonths, type ArchivedPart } from "../../../apps/api/src/reconcile/archive/archive-months.ts";
import type { ArchiveFiles, Manifest } from "../../../apps/api/src/reconcile/archive/archive.port.ts";
import { archiveStore } from "../../../apps/api/src/reconcile/archive/archive.postgres.ts";
import {
  defaultPartitionRows,
  partitionedMonths,
} from "../../../apps/api/src/requests/event-partitions.postgres.ts";
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

let world: HistoryWorld;
let folder: string;

beforeAll(async () => {
  world = await startHistoryWorld();
  folder = await mkdtemp(join(tmpdir(), "archive-"));
});
beforeEach(async () => {
  await world.pool.query(
    "truncate requests, request_events, status_events, deposits, slots, attempts, settlements, webhook_deliveries, archives, archive_requests, outbox cascade",
  );
  await rm(folder, { recursive: true, force: true });
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await world.stop();
});

/** A request that was paid, whose fill is final and settled. */
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

/** Runs the archive command in this process. */
async function archive(
  before = NEXT,
  nowMs = LATER_MS,
  files = archiveFiles(folder),
): Promise<ArchivedPart[]> {
  const client = await world.pool.connect();
  try {
    return await allOf(
      archiveMonths({ store: archiveStore(client), otherConnections: [], files, nowMs: () => nowMs }, before),
    );
  } finally {
    client.release(true);
  }
}

type Rows = Readonly<Record<"request_events" | "request_history" | "slots", readonly string[]>>;

/** The rows of these requests that the archive may move, as JSON. */
async function stored(requestIds: readonly RequestId[]): Promise<Rows> {
  const read = async (table: string): Promise<string[]> => {
    const { rows } = await world.pool.query<{ row: string }>(
      `select row_to_json(t)::text as row from ${table} t where request_id = any($1) order by 1`,
      [requestIds],
    );
    return rows.map(({ row }) => row);
  };
  return {
    request_events: await read("request_events"),
    request_history: await read("request_history"),
    slots: await read("slots"),
  };
}

/** All rows in the files of all archives that the database lists. */
async function inFiles(): Promise<Rows> {
  const { rows: parts } = await world.pool.query<{ folder: string }>(
    "select folder from archives order by month, part",
  );
  const found: Record<keyof Rows, string[]> = { request_events: [], request_history: [], slots: [] };
  for (const part of parts) {
    const { tables } = JSON.parse(await readFile(join(part.folder, "manifest.json"), "utf8")) as Manifest;
    for (const { table, file, rows } of tables) {
      const lines = zstdDecompressSync(await readFile(join(part.folder, file)))
        .toString()
        .split("\n")
        .slice(0, -1);
      expect(lines).toHaveLength(rows);
      found[table].push(...lines);
    }
  }
  for (const rows of Object.values(found)) rows.sort();
  return found;
}

test("moves ended requests to files, keeps the rows that protect funds, and answers correctly afterwards", async () => {
  const [first, second] = [await ended(), await ended()];
  const ids = [first.terms.requestId, second.terms.requestId];
  const before = await stored(ids);
  expect(before.request_events.length).toBeGreaterThan(4);
  const guards = async () =>
    (
      await world.pool.query(
        "select (select count(*) from requests) r, (select count(*) from deposits) d, (select count(*) from slots) s, (select count(*) from attempts) a, (select count(*) from settlements) t, (select count(*) from request_transactions) x",
      )
    ).rows[0] as object;
  const guarded = await guards();
  const status = await postgresReads(sqlOn(world.pool)).status(first.terms.requestId);

  const [part] = await archive();

  expect(part).toMatchObject({ month: MONTH, part: 1, folder: join(folder, MONTH, "part-1") });
  expect(await inFiles()).toEqual(before);
  expect(await stored(ids)).toMatchObject({ request_events: [], request_history: [] });
  expect(await guards()).toEqual(guarded);
  expect(await partitionedMonths(sqlOn(world.pool))).not.toContain(MONTH);
  expect((await defaultPartitionRows(sqlOn(world.pool))).get("request_events")).toBe(0);
  const { rows } = await world.pool.query("select distinct call_data, state from slots");
  expect(rows).toEqual([{ call_data: "", state: "final" }]);

  expect(await postgresReads(sqlOn(world.pool)).status(first.terms.requestId)).toEqual(status);
  const trace = await world.routes.requestTrace(first.terms.requestId);
  expect(trace).toMatchObject({ status: "success", fundsAt: "recipient" });
  expect(trace?.entries.filter(({ kind }) => kind === "archived").map(({ facts }) => facts)).toEqual([
    { month: MONTH, note: `The operator archived ${MONTH}: events of that month are no longer stored here` },
  ]);
  expect(trace?.entries.some(({ kind }) => kind === "event")).toBe(false);
  expect(await traceOf(sqlOn(world.pool), first.terms.requestId)).toContainEqual(
    expect.objectContaining({ about: "archive", folders: [join(folder, MONTH, "part-1")] }),
  );
});

/** Stores events that do not change the request itself, as settlement does. */
async function eventsOf(requestId: RequestId, ...atMs: readonly number[]): Promise<void> {
  await world.pool.query(
    "insert into request_events (request_id, at_ms, event, detail) select $1, unnest($2::bigint[]), 'settled', '{}'",
    [requestId, atMs],
  );
}

/** The months that the request's trace, and the operator's trace, report as archived. */
async function archivedMonthsOf(requestId: RequestId): Promise<unknown[]> {
  const trace = await world.routes.requestTrace(requestId);
  const months = trace?.entries.filter(({ kind }) => kind === "archived").map(({ facts }) => facts["month"]);
  const rows = (await traceOf(sqlOn(world.pool), requestId)) as ReadonlyArray<{
    about: string;
    event: string;
  }>;
  expect(rows.filter(({ about }) => about === "archive").map(({ event }) => event)).toEqual(
    months?.map((month) => `events of ${String(month)} were archived`),
  );
  return months ?? [];
}

test("a trace names every archived month with events, and no other", async () => {
  const afterNext = monthAfter(NEXT);
  const [done, open] = [await ended(), await world.aFilledRequest()];
  // This is long after the last change of the request, as when the hub settles it.
  await eventsOf(done.terms.requestId, startOfMonth(afterNext) + 1);
  await eventsOf(open.terms.requestId, startOfMonth(afterNext) + 2);
  await world.pool.query("update requests set updated_at_ms = $2 where request_id = $1", [
    open.terms.requestId,
    startOfMonth(afterNext) + 2,
  ]);
  const other = await ended();
  await eventsOf(other.terms.requestId, startOfMonth(NEXT) + 1);

  const parts = await archive(monthAfter(afterNext), endOfMonth(afterNext) + 31 * DAY_MS);
  expect(parts.map(({ month }) => month)).toEqual([MONTH, NEXT, afterNext]);
  expect(await archivedMonthsOf(done.terms.requestId)).toEqual([MONTH, afterNext]);
  expect(await archivedMonthsOf(open.terms.requestId)).toEqual([]);
  expect(await archivedMonthsOf(other.terms.requestId)).toEqual([MONTH, NEXT]);
});

test("a trace names the month as soon as its events are removed, and also when later ones exist", async () => {
  const { requestId } = (await ended()).terms;
  const client = await world.pool.connect();
  const store = archiveStore(client);
  const seen: unknown[] = [];
  try {
    await allOf(
      archiveMonths(
        {
          otherConnections: [],
          store: {
            ...store,
            async removeEvents(part) {
              seen.push(await archivedMonthsOf(requestId));
              return await store.removeEvents(part);
            },
            async removeRequests(part, positions) {
              seen.push(await archivedMonthsOf(requestId));
              await store.removeRequests(part, positions);
            },
          },
          files: archiveFiles(folder),
          nowMs: () => LATER_MS,
        },
        NEXT,
      ),
    );
  } finally {
    client.release(true);
  }
  expect(seen).toEqual([[], [MONTH]]);
  await eventsOf(requestId, HISTORY_START_MS);
  expect(await archivedMonthsOf(requestId)).toEqual([MONTH]);
});

test("a list omits an archived request, even if it is requested by id or order", async () => {
  const { requestId, orderId } = (await ended()).terms;
  const unpaid = await world.aQuotedRequest();
  const listed = async (field: "id" | "orderId", value: string): Promise<number> => {
    const page = await world.routes.listRequests(
      {
        conditions: [{ kind: "is", field, values: [value] }],
        groups: [],
        sort: "createdAt",
        isAscending: false,
        after: undefined,
        limit: 20,
        wantsTotal: true,
      },
      { name: "caller", hasSecretKey: true },
    );
    expect(page.total?.count).toBe(page.requests.length);
    return page.requests.length;
  };
  expect([await listed("id", requestId), await listed("orderId", orderId)]).toEqual([1, 1]);
  await archive();
  expect([await listed("id", requestId), await listed("orderId", orderId)]).toEqual([0, 0]);
  expect(await listed("id", unpaid.requestId)).toBe(1);
});

test("a second run of the archive moves nothing", async () => {
  await ended();
  expect(await archive()).toHaveLength(1);
  const files = await inFiles();
  expect(await archive()).toEqual([]);
  expect(await inFiles()).toEqual(files);
});

test("the archive leaves younger months and recently changed requests in the database", async () => {
  const { terms } = await ended();
  const before = await stored([terms.requestId]);
  expect(await archive(MONTH)).toEqual([]);
  expect(await archive(NEXT, HISTORY_START_MS + 20 * DAY_MS)).toEqual([]);
  expect(await stored([terms.requestId])).toEqual(before);
  expect(await archive()).toHaveLength(1);
});

const opened: Readonly<Record<string, (filled: FilledRequest) => Promise<unknown>>> = {
  "a payment under way": ({ terms }) =>
    world.pool.query("update slots set state = 'mined' where request_id = $1", [terms.requestId]),
  "a payment that settlement has not noted": ({ terms }) =>
    world.pool.query("update slots set settlement_noted = false where request_id = $1", [terms.requestId]),
  "a payment that is not settled": ({ terms }) =>
    world.pool.query("update settlements set state = 'attested' where request_id = $1", [terms.requestId]),
  "an outcome that is not final": ({ terms }) =>
    world.pool.query("update requests set final = false where request_id = $1", [terms.requestId]),
  "a refund that is due": ({ depositId }) =>
    world.pool.query("update deposits set disposition = 'refund' where id = $1", [depositId]),
  "a refund that needs the operator": ({ depositId }) =>
    world.pool.query("update deposits set refund_state = 'impossible' where id = $1", [depositId]),
  "a deposit that is attributed to nothing": ({ depositId }) =>
    world.pool.query("update deposits set disposition = 'unattributed' where id = $1", [depositId]),
  "an active hold": async ({ terms }) => {
    await world.pool.query(
      "insert into app_wallets (wallet, created_at_ms) values ('0xa', 0) on conflict do nothing",
    );
    await world.pool.query(
      `insert into holds (request_id, wallet, key_id, usd, chain_id, currency, amount, placed_at_ms)
       values ($1, '0xa', 'k', 1, 1, '0x', 1, 0)`,
      [terms.requestId],
    );
  },
  "a webhook that is not delivered": async ({ terms }) => {
    await world.pool.query(
      `insert into api_keys (id, label, secret_hash, scopes, referrers, origins, rules, created_at_ms, updated_at_ms)
         values ('k', '', '\\x01', '{read}', '{}', '{}', '{}', 0, 0);
       insert into webhook_endpoints (id, key_id, url, label, headers, secret, created_at_ms, updated_at_ms)
         values ('e', 'k', '', '', '{}', '', 0, 0)`,
    );
    await world.pool.query(
      `insert into webhook_deliveries (endpoint_id, request_id, seq, next_at_ms, created_at_ms) values ('e', $1, 1, 0, 0)`,
      [terms.requestId],
    );
  },
  "funds at its deposit address": ({ terms }) =>
    world.pool.query("update requests set funds_held = true where request_id = $1", [terms.requestId]),
};

test.each(Object.keys(opened))(
  "never moves a request with %s, and moves the others of its month",
  async (what) => {
    const [open, done] = [await ended(), await ended()];
    await opened[what]?.(open);
    const before = await stored([open.terms.requestId]);
    const moved = await stored([done.terms.requestId]);
    expect(await archive()).toHaveLength(1);
    expect(await stored([open.terms.requestId])).toEqual(before);
    expect(await inFiles()).toEqual(moved);
    expect(
      (await world.routes.requestTrace(open.terms.requestId))?.entries.some(
        ({ kind }) => kind === "archived",
      ),
    ).toBe(false);
  },
);

test("a request that ends later is moved by a later run, into files of its own", async () => {
  const [open, done] = [await world.aFilledRequest(), await ended()];
  expect((await archive()).map(({ part }) => part)).toEqual([1]);
  await world.applyEvent(open.terms, { kind: "fillFinal" });
  await settle(open.terms.requestId);
  const all = await stored([open.terms.requestId]);
  expect((await archive()).map(({ part }) => part)).toEqual([2]);
  const files = await inFiles();
  expect(files.request_history).toHaveLength(2);
  expect(files.request_history).toContain(all.request_history[0]);
  expect(await stored([open.terms.requestId, done.terms.requestId])).toMatchObject({
    request_events: [],
    request_history: [],
  });
});

test("removes nothing if a file is missing or was changed", async () => {
  const { terms } = await ended();
  const before = await stored([terms.requestId]);
  const files = archiveFiles(folder);
  const damaged: ArchiveFiles = {
    ...files,
    async finish(manifest) {
      const sha256 = await files.finish(manifest);
      await writeFile(join(files.folderOf(manifest), "slots-1.ndjson.zst"), "");
      return sha256;
    },
  };
  await expect(archive(NEXT, LATER_MS, damaged)).rejects.toThrow(/slots-1\.ndjson\.zst was changed/);
  expect(await stored([terms.requestId])).toEqual(before);
  await expect(archive(), "the same again").rejects.toThrow(/slots-1\.ndjson\.zst was changed/);
  await rm(folder, { recursive: true });
  await expect(archive()).rejects.toThrow(/manifest\.json is missing/);
  expect(await stored([terms.requestId])).toEqual(before);
});

test("an archived request that changes again is listed again, without its archived call", async () => {
  const { requestId } = (await ended()).terms;
  await archive();
  const refundTx = someHash();
  await world.uow.run(async (tx) => {
    const record = await tx.requests.lock(requestId);
    if (record === undefined) throw new Error("the request is gone");
    await tx.requests.save(requestId, { state: record.state, refundTxHashes: [refundTx] }, LATER_MS);
  });
  const listed = await world.pool.query("select from request_history where request_id = $1", [requestId]);
  expect(listed.rowCount).toBe(1);
  const known = await world.pool.query<{ kind: string }>(
    "select kind from request_transactions where request_id = $1 order by 1",
    [requestId],
  );
  expect(known.rows.map(({ kind }) => kind)).toEqual(["deposit", "fill", "refund"]);
  const story = await world.history.story(requestId);
  expect(story?.slots.map(({ call }) => call.data)).toEqual([undefined]);
  expect((await world.routes.requestTrace(requestId))?.entries.some(({ kind }) => kind === "archived")).toBe(
    true,
  );
  const later = await archive(monthOf(LATER_MS), LATER_MS + 60 * DAY_MS);
  expect(later.map(({ month, part }) => [month, part])).toEqual([[MONTH, 2]]);
});

class Crashed extends Error {}

/** Archive files and a pool that crash before the n-th statement or file operation. */
function crashing(crashAt: number): {
  readonly client: (client: pg.PoolClient) => pg.PoolClient;
  readonly files: ArchiveFiles;
} {
  let acts = 0;
  // A crash after an operation equals a crash before the next one.
  const act = async <T>(work: () => Promise<T>): Promise<T> => {
    if (acts++ === crashAt) throw new Crashed();
    return await work();
  };
  const real = archiveFiles(folder);
  return {
    client: (client) =>
      new Proxy(client, {
        get: (target, name) =>
          name === "query"
            ? async (...args: readonly unknown[]) =>
                await act(async () => await (Reflect.apply(target.query, target, args) as Promise<unknown>))
            : (Reflect.get(target, name) as unknown),
      }),
    files: {
      folderOf: (part) => real.folderOf(part),
      claim: (database) => act(() => real.claim(database)),
      clear: (part) => act(() => real.clear(part)),
      write: (part, table, n, pages) => act(() => real.write(part, table, n, pages)),
      finish: (manifest) => act(() => real.finish(manifest)),
      verify: (path, sha256) => act(() => real.verify(path, sha256)),
    },
  };
}

test(
  "wherever the command dies, running it again moves every row exactly once",
  { timeout: 600_000 },
  async () => {
    let crashes = 0;
    for (let crashAt = 0; ; crashAt++) {
      await world.pool.query(
        "truncate requests, request_events, status_events, deposits, slots, attempts, settlements, archives, archive_requests, outbox cascade",
      );
      await rm(folder, { recursive: true, force: true });
      const [open, ...done] = [await world.aFilledRequest(), await ended(), await ended()];
      const doneIds = done.map(({ terms }) => terms.requestId);
      const before = await stored(doneIds);
      const openBefore = await stored([open.terms.requestId]);
      const dying = crashing(crashAt);
      const client = await world.pool.connect();
      let hasCrashed = false;
      try {
        await allOf(
          archiveMonths(
            {
              store: archiveStore(dying.client(client)),
              otherConnections: [],
              files: dying.files,
              nowMs: () => LATER_MS,
            },
            NEXT,
          ),
        );
      } catch (error) {
        if (!(error instanceof Crashed)) throw error;
        hasCrashed = true;
      } finally {
        // The server rolls back everything that was not committed.
        client.release(true);
      }
      await archive();
      const moment = `after ${crashAt} steps`;
      expect(await inFiles(), moment).toEqual(before);
      expect(await stored(doneIds), moment).toMatchObject({ request_events: [], request_history: [] });
      expect(await stored([open.terms.requestId]), moment).toEqual(openBefore);
      const { rows } = await world.pool.query(
        "select part, state, (select count(*) from archive_requests) as left from archives",
      );
      expect(rows, moment).toEqual([{ part: 1, state: "archived", left: 0 }]);
      expect(await archive(), moment).toEqual([]);
      if (!hasCrashed) break;
      crashes++;
    }
    expect(crashes).toBeGreaterThan(35);
  },
);
