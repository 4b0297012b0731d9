import fc from "fast-check";
import type pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { idempotencyStore } from "../../../apps/api/src/http/idempotency-store.postgres.ts";
import { createPool, sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import { postgresReads } from "../../../apps/api/src/process/reads.postgres.ts";
import { postgresUnitOfWork } from "../../../apps/api/src/process/unit-of-work.postgres.ts";
import type { Idempotency, IdempotencyLease } from "../../../apps/api/src/http/idempotency.port.ts";
import { LeaseLost } from "../../../apps/api/src/http/idempotency.port.ts";
import { pruneHistory } from "../../../apps/api/src/reconcile/prune-history.ts";
import { aCall, anAnswer, beginCall, idempotencyContract } from "../../contracts/idempotency.ts";
import { anApiKey, fakeApiKeys } from "../../fakes/api-keys.ts";
import { fakeIdempotency } from "../../fakes/idempotency.ts";
import { anAnswer as aQuote } from "../../fakes/route-services.ts";
import { recordedEvents } from "../../fakes/recorded-events.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { aQuoteBody, aServer } from "../../support/route-server.ts";

/** In the past, because the store ignores a clock that is ahead of the database's. */
const NOW_MS = 1_600_000_000_000;
const MINUTE_MS = 60_000;
let database: TestDatabase;
/** One pool per process. */
let pools: readonly [pg.Pool, pg.Pool];

beforeAll(async () => {
  database = await createTestDatabase();
  const pool = () =>
    createPool(database.url, { max: 10, statementTimeoutMs: 10_000, applicationName: "test" });
  pools = [pool(), pool()];
});
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.end()));
  await database.drop();
});

/** A store that uses both processes in turn. */
function eitherProcess(): Idempotency {
  const stores = pools.map((pool) => idempotencyStore(sqlOn(pool)));
  let turn = 0;
  const next = (): Idempotency => stores[turn++ % 2] as Idempotency;
  return {
    begin: (call, nowMs) => next().begin(call, nowMs),
    finish: (lease, answer) => next().finish(lease, answer),
    abandon: (lease) => next().abandon(lease),
  };
}

idempotencyContract("two processes on Postgres", async () => eitherProcess());
idempotencyContract("the fake", async () => fakeIdempotency());

const queued = async (jobId: string): Promise<boolean> =>
  (await pools[0].query("select 1 from outbox where job_id = $1", [jobId])).rows.length > 0;

test("the effects of a commit and its answer are stored together", async () => {
  const store = eitherProcess();
  const call = aCall();
  const lease = await beginCall(store, call);
  await postgresUnitOfWork(pools[0], recordedEvents()).run(async (tx) => {
    await tx.outbox.add([{ job: "fill", jobId: call.key, payload: {} }], NOW_MS);
    await tx.idempotency.finish(lease, anAnswer);
    expect(await store.begin(call, NOW_MS)).toEqual({ kind: "inProgress" });
  });
  expect(await queued(call.key)).toBe(true);
  expect(await store.begin(call, NOW_MS)).toEqual({ kind: "answered", answer: anAnswer });
});

test("rolls back a commit whose lease was taken over", async () => {
  const store = eitherProcess();
  const call = aCall();
  const expired = await beginCall(store, call);
  await beginCall(store, call, NOW_MS + MINUTE_MS);
  const commit = postgresUnitOfWork(pools[0], recordedEvents()).run(async (tx) => {
    await tx.outbox.add([{ job: "fill", jobId: call.key, payload: {} }], NOW_MS);
    await tx.idempotency.finish(expired, anAnswer);
  });
  await expect(commit).rejects.toBeInstanceOf(LeaseLost);
  expect(await queued(call.key)).toBe(false);
});

test("a process that takes over a call while the first process commits gets the first process's answer", async () => {
  const store = eitherProcess();
  const call = aCall();
  const slow = await beginCall(store, call);
  const committing = Promise.withResolvers<void>();
  const mayCommit = Promise.withResolvers<void>();
  const commit = postgresUnitOfWork(pools[0], recordedEvents()).run(async (tx) => {
    await tx.idempotency.finish(slow, anAnswer);
    committing.resolve();
    await mayCommit.promise;
  });
  await committing.promise;
  const late = store.begin(call, NOW_MS + MINUTE_MS);
  mayCommit.resolve();
  await commit;
  expect(await late).toEqual({ kind: "answered", answer: anAnswer });
});

test("only one of two processes that both run the call commits", async () => {
  const store = eitherProcess();
  const call = aCall();
  const first = await beginCall(store, call);
  const second = await beginCall(store, call, NOW_MS + MINUTE_MS);
  const commit = async (pool: pg.Pool, lease: IdempotencyLease): Promise<void> =>
    await postgresUnitOfWork(pool, recordedEvents()).run(async (tx) => {
      await tx.outbox.add([{ job: "fill", jobId: `${call.key}-${lease.token}`, payload: {} }], NOW_MS);
      await tx.idempotency.finish(lease, { status: 200, body: JSON.stringify(lease.token) });
    });
  const done = await Promise.allSettled([commit(pools[0], first), commit(pools[1], second)]);
  expect(done.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
  const { rows } = await pools[0].query("select job_id from outbox where job_id like $1", [`${call.key}-%`]);
  expect(rows).toEqual([{ job_id: `${call.key}-${second.token}` }]);
});

test("deletes calls older than a day, and keeps newer ones", async () => {
  const store = eitherProcess();
  const [old, young] = [aCall(), aCall()];
  await store.finish(await beginCall(store, old, NOW_MS), anAnswer);
  await store.finish(await beginCall(store, young, NOW_MS + MINUTE_MS), anAnswer);
  const events = recordedEvents();
  const nowMs = () => NOW_MS + 24 * 60 * MINUTE_MS + 1;
  await pruneHistory({
    uow: postgresUnitOfWork(pools[0], events),
    reads: {
      ...postgresReads(sqlOn(pools[0])),
      newestBlocksMs: async () => await Promise.resolve([nowMs()]),
    },
    events,
    clock: { nowMs },
  });
  const { rows } = await pools[0].query("select key from idempotency_keys where key = any($1)", [
    [old.key, young.key],
  ]);
  expect(rows).toEqual([{ key: young.key }]);
});

test("a process whose clock is ahead returns the stored answer and takes over no call in progress", async () => {
  const store = eitherProcess();
  const [answered, underWay] = [aCall(), aCall()];
  const { rows } = await pools[0].query<{ now_ms: number }>(
    "select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms",
  );
  const nowMs = rows[0]?.now_ms ?? Number.NaN;
  await store.finish(await beginCall(store, answered, nowMs), anAnswer);
  await beginCall(store, underWay, nowMs);
  const aheadMs = nowMs + 25 * 60 * MINUTE_MS;
  expect(await store.begin(answered, aheadMs)).toEqual({ kind: "answered", answer: anAnswer });
  expect(await store.begin({ ...answered, bodyHash: "cc" }, aheadMs)).toEqual({ kind: "bodyMismatch" });
  expect(await store.begin(underWay, aheadMs)).toEqual({ kind: "inProgress" });
});

test("the Postgres store and the fake agree on any sequence of calls", async () => {
  const step = fc.record({
    what: fc.constantFrom("begin", "begin", "finish", "abandon"),
    key: fc.constantFrom("a", "b"),
    body: fc.constantFrom("aa", "bb"),
    lease: fc.nat({ max: 5 }),
    laterMs: fc.constantFrom(0, 1, 30_000, MINUTE_MS, 23 * 60 * MINUTE_MS, 24 * 60 * MINUTE_MS),
  });
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 25 }), async (steps) => {
      const scope = `fuzz-${++runs}`;
      const both = [eitherProcess(), fakeIdempotency()];
      const leases: [IdempotencyLease, IdempotencyLease][] = [];
      let nowMs = NOW_MS;
      for (const { what, key, body, lease, laterMs } of steps) {
        nowMs += laterMs;
        const call = { scope, endpoint: "POST /execute", key, bodyHash: body };
        if (what === "begin") {
          const [real, fake] = await Promise.all(both.map((store) => store.begin(call, nowMs)));
          expect({ ...real, lease: undefined }).toEqual({ ...fake, lease: undefined });
          if (real?.kind === "started" && fake?.kind === "started") leases.push([real.lease, fake.lease]);
          continue;
        }
        const pair = leases[lease % Math.max(1, leases.length)];
        if (pair === undefined) continue;
        const answer = { status: 200, body: JSON.stringify(leases.indexOf(pair)) };
        const outcomes = await Promise.all(
          both.map(async (store, index) => {
            const own = pair[index] as IdempotencyLease;
            try {
              await (what === "finish" ? store.finish(own, answer) : store.abandon(own));
              return "done";
            } catch (error) {
              return error instanceof LeaseLost ? "lost" : error;
            }
          }),
        );
        expect(outcomes[0]).toBe(outcomes[1]);
      }
    }),
    { numRuns: 150 },
  );
});

test("creates one quote from a hundred parallel calls with one Idempotency-Key on two processes", async () => {
  let quotes = 0;
  const servers = await Promise.all(
    pools.map(async (pool) =>
      aServer({
        idempotency: idempotencyStore(sqlOn(pool)),
        apiKeys: fakeApiKeys({ backend: anApiKey() }),
        createQuote: async (_input, tell) => {
          quotes++;
          await new Promise((resolve) => setTimeout(resolve, 30));
          return tell({ ...aQuote, expiresAt: quotes });
        },
      }),
    ),
  );
  try {
    const ask = async (index: number) =>
      await (servers[index % 2] as (typeof servers)[number]).app.inject({
        method: "POST",
        url: "/quote/v2",
        headers: { "idempotency-key": "one", "x-api-key": "backend" },
        payload: aQuoteBody,
      });
    const answers = await Promise.all(Array.from({ length: 100 }, (_, index) => ask(index)));
    expect(quotes).toBe(1);
    const first = answers.filter(({ statusCode }) => statusCode === 200);
    expect(first.length).toBeGreaterThan(0);
    for (const answer of answers.filter(({ statusCode }) => statusCode !== 200))
      expect([answer.statusCode, answer.json().errorCode]).toEqual([409, "IDEMPOTENCY_IN_PROGRESS"]);
    const later = await Promise.all([ask(0), ask(1)]);
    for (const answer of later) {
      expect([answer.statusCode, answer.headers["idempotency-replayed"]]).toEqual([200, "true"]);
      expect(answer.body).toBe(first[0]?.body);
    }
    expect(quotes).toBe(1);
  } finally {
    await Promise.all(servers.map(({ app }) => app.close()));
  }
});
