import { hexAddressFormat } from "../../fakes/hex-address-format.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { Secret } from "@causeway/config";
import type { RequestId, RequestState } from "@causeway/domain";
import { createLifecycle, createLogger } from "@causeway/service-kit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listen } from "../../../apps/api/src/db/listen.postgres.ts";
import { createPool, sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import { postgresReads } from "../../../apps/api/src/process/reads.postgres.ts";
import { STATUS_CHANNEL, saveRequests } from "../../../apps/api/src/requests/request-save.postgres.ts";
import { startPush } from "../../../apps/api/src/push/push.wiring.ts";
import type { CurrencyAt } from "../../../apps/api/src/deposits/addresses/deposit-addresses.port.ts";
import type { StatusView } from "../../../apps/api/src/requests/status-view.port.ts";
import type { RequestChange, Tx } from "../../../apps/api/src/db/unit-of-work.port.ts";
import { followStatus } from "../../../apps/api/src/push/follow-status.ts";
import { requestStatus } from "../../../apps/api/src/requests/request-status.ts";
import { noChains } from "../../fakes/no-chains.ts";
import { recordedEvents } from "../../fakes/recorded-events.ts";
import { depositSeen, startPushWorld, type PushWorld } from "../../support/push-world.ts";
import { someAddress, someHash } from "../../support/terms.ts";

// One process changes requests, and the clients of another process read and follow them.

interface OtherProcess {
  ask(requestId: RequestId): Promise<StatusView | undefined>;
  /** The views that a subscriber of the request receives from now on. */
  follow(requestId: RequestId): Promise<readonly StatusView[]>;
  /** All announcements so far, in order. */
  readonly announced: readonly string[];
  close(): Promise<void>;
}

let world: PushWorld;
let other: OtherProcess;
beforeAll(async () => {
  world = await startPushWorld();
  other = await anotherProcess(world.database.url);
});
afterAll(async () => {
  await other.close();
  await world.close();
});

async function anotherProcess(url: string): Promise<OtherProcess> {
  const pool = createPool(url, { max: 4, statementTimeoutMs: 10_000, applicationName: "other" });
  const sql = sqlOn(pool);
  const lifecycle = createLifecycle(createLogger({ name: "test", level: "silent" }), 10_000);
  const clock = { nowMs: () => 1_000_000 };
  const connections = { maxConnections: 1, maxPerAddress: 1, maxSubscriptions: 1, heartbeatMs: 20_000 };
  const { feed } = startPush({
    clock,
    events: recordedEvents(),
    chains: noChains,
    config: {
      database: { url: new Secret(url), poolSize: 1, statementTimeoutMs: 1 },
      push: { connections, webhooks: { allowPrivate: true, timeoutMs: 1_000 } },
      http: { host: "", port: 0, bodyLimitBytes: 1, trustProxy: false, responseCheck: true },
    },
    sql,
    lifecycle,
  });
  const reads = postgresReads(sql);
  const announced: string[] = [];
  const ready = Promise.withResolvers<void>();
  const listener = listen(url, STATUS_CHANNEL, {
    onNotice: (payload) => void (payload === undefined ? ready.resolve() : announced.push(payload)),
    onFault: ready.reject,
  });
  await ready.promise;
  return {
    ask: async (requestId) => await requestStatus({ reads, chains: noChains, clock }, requestId),
    async follow(requestId) {
      const views: StatusView[] = [];
      await followStatus(feed, clock, hexAddressFormat).follow(requestId, {
        updated: ({ view }) => void views.push(view),
        lost: () => undefined,
      });
      return views;
    },
    announced,
    async close() {
      await listener.close();
      await lifecycle.close();
      await pool.end();
    },
  };
}

async function statusOf(requestId: RequestId): Promise<StatusView> {
  const view = await other.ask(requestId);
  if (view === undefined) throw new Error("invariant violated: request is not stored");
  return view;
}

async function inOneCommit(act: (tx: Tx) => Promise<void>): Promise<void> {
  await world.uow.run(act);
}

/** Saves the request with a changed state and a later time. The time alone does not change the status. */
async function saveState(
  requestId: RequestId,
  change: Partial<RequestState>,
  hashes: Omit<RequestChange, "state"> = {},
  atMs = 0,
): Promise<void> {
  await inOneCommit(async (tx) => {
    const record = await tx.requests.lock(requestId);
    if (record === undefined) throw new Error("invariant violated: request is not stored");
    await tx.requests.save(requestId, { ...hashes, state: { ...record.state, ...change } }, atMs);
  });
}

/** A request whose deposit waits for blocks. One event of it was announced. */
async function aDeposited(): Promise<RequestId> {
  const { requestId } = await world.aRequest();
  const event = depositSeen();
  await world.applyEvent(requestId, { ...event, confirmed: false } as typeof event);
  expect(await announcements(requestId)).toEqual([`${requestId} 1 `]);
  return requestId;
}

/** The announcements of a request so far. A later announcement proves that all of them have arrived. */
async function announcements(requestId: RequestId): Promise<readonly string[]> {
  // Committed changes are sent shortly after the commit.
  await expect
    .poll(async () => (await world.pool.query("select from announcements")).rowCount, { timeout: 5_000 })
    .toBe(0);
  const later = someHash();
  await world.pool.query("select pg_notify($1, $2)", [STATUS_CHANNEL, later]);
  await expect.poll(() => other.announced).toContain(later);
  return other.announced.filter((payload) => payload.startsWith(requestId));
}

test.for<[what: string, change: Partial<RequestState>, expected: Partial<StatusView>]>([
  [
    "another state with the same public status",
    { name: "fillable" },
    { nextAction: "wait_for_fill", status: "pending" },
  ],
  ["another deposit", { depositId: undefined }, {}],
  ["another state of the hold", { front: "held" }, {}],
])("%s is not announced, and the next status shows it", async ([, change, expected]) => {
  const requestId = await aDeposited();
  await saveState(requestId, change);
  expect(await other.ask(requestId)).toMatchObject(expected);
  expect(await announcements(requestId)).toEqual([`${requestId} 1 `]);
});

test("a later time alone is not announced, and the next status shows that time", async () => {
  const requestId = await aDeposited();
  const before = await statusOf(requestId);
  await saveState(requestId, {}, {}, before.updatedAtMs + 5);
  expect(await other.ask(requestId)).toEqual({ ...before, updatedAtMs: before.updatedAtMs + 5 });
  expect(await announcements(requestId)).toEqual([`${requestId} 1 `]);
});

test("a save without changes is not announced", async () => {
  const requestId = await aDeposited();
  const before = await statusOf(requestId);
  await saveState(requestId, {});
  expect(await announcements(requestId)).toEqual([`${requestId} 1 `]);
  expect(await other.ask(requestId)).toEqual(before);
});

test.for<[what: string, change: Partial<RequestState>, hashes: Omit<RequestChange, "state">]>([
  ["another public status", { name: "submitted" }, {}],
  ["another hash", {}, { txHashes: [someHash()] }],
  ["the request's finality", { final: true }, {}],
])("%s is announced once, with its sequence number", async ([, ...change]) => {
  const requestId = await aDeposited();
  const before = await statusOf(requestId);
  await saveState(requestId, ...change);
  expect(await other.ask(requestId)).not.toEqual(before);
  expect(await announcements(requestId)).toEqual([`${requestId} 1 `, `${requestId} 2 `]);
});

/** A deposit address of the request, with funds. */
async function anAddressOf(requestId: RequestId): Promise<CurrencyAt> {
  const place = { address: someAddress(), chainId: 1, currency: someAddress() };
  await inOneCommit(async ({ depositAddresses }) => {
    await depositAddresses.insert({
      address: place.address,
      requestId,
      key: { id: someHash(), depositor: someAddress(), recovery: someAddress(), strict: false },
      strict: false,
      refundTo: "nobody",
      quoted: { chainId: place.chainId, currency: place.currency },
      question: { originCurrency: "" } as never,
      keyId: undefined,
      createdAtMs: 0,
      activeAtMs: 0,
    });
    await depositAddresses.observe(place, [{ amount: 5n, sinceBlock: 1n, seenAtMs: 0 }], 1n, true);
  });
  return place;
}

async function holds(place: CurrencyAt): Promise<void> {
  await inOneCommit(async ({ depositAddresses }) => {
    await depositAddresses.hold(place, "NO_REFUND_ADDRESS");
    await depositAddresses.noteFunds(place.address, 0);
  });
}

test("subscribers of a request receive every change of the funds at its deposit address", async () => {
  const { requestId } = await world.aRequest();
  const before = await statusOf(requestId);
  const views = await other.follow(requestId);
  const place = await anAddressOf(requestId);
  const says = async (expected: Partial<StatusView>): Promise<void> => {
    expect(await other.ask(requestId)).toMatchObject(expected);
    await expect.poll(() => views.at(-1)).toMatchObject(expected);
    expect((await other.follow(requestId)).at(-1)).toMatchObject(expected);
  };
  await inOneCommit(async ({ depositAddresses }) => depositAddresses.noteFunds(place.address, 0));
  const seen = {
    status: "depositing",
    fundsAt: "depositAddress",
    nextAction: "wait_for_confirmations",
  } as const;
  await says(seen);
  await holds(place);
  await says({ status: "waiting", fundsAt: "depositAddress", nextAction: "contact_operator" });
  await inOneCommit(async ({ depositAddresses }) => {
    await depositAddresses.noteFunds(place.address, 0);
    await depositAddresses.release(place.chainId, place.address);
    await depositAddresses.noteFunds(place.address, 0);
  });
  await says(seen);
  await inOneCommit(async ({ depositAddresses }) => {
    await depositAddresses.observe(place, [], 2n, true);
    await depositAddresses.noteFunds(place.address, 0);
  });
  await says({ status: "waiting", fundsAt: "user", nextAction: "send_deposit" });
  expect(await other.ask(requestId)).toEqual(before);
  expect(views).toHaveLength(5);
  expect(await announcements(requestId)).toEqual([1, 2, 3, 4].map((sequence) => `${requestId} ${sequence} `));
});

/** A sweep of the address's funds for a request. */
const sweepFor = (place: CurrencyAt, requestId: RequestId, observation: number) => ({
  ...place,
  observation,
  amount: 5n,
  excess: 0n,
  orderId: someHash(),
  requestId,
  arrivedAtMs: 7,
  createdAtMs: 8,
  layers: [{ amount: 5n, sinceBlock: 40n, unseenBlock: 38n, seenAtMs: 7 }],
});

test("a request whose successor is superseded in turn shows the last successor", async () => {
  const [{ requestId: first }, { requestId: second }] = [await world.aRequest(), await world.aRequest()];
  const last = await aDeposited();
  const place = await anAddressOf(first);
  await inOneCommit(async ({ depositAddresses }) => {
    for (const requestId of [first, second]) await depositAddresses.setAddress(requestId, place.address);
    await depositAddresses.supersede(first, second, 0);
    await depositAddresses.setSweep(await depositAddresses.addSweep(sweepFor(place, second, 1)), "void");
    await depositAddresses.supersedeVoided(place.address, last, 0);
  });
  for (const requestId of [first, second])
    expect(await other.ask(requestId)).toMatchObject({ requestId, supersededByRequestId: last });
});

test.each([
  ["a chain that was not read", 8_801, undefined, 1n],
  ["a non-EVM chain", 8_802, 90n, 91n],
] as const)(
  "money on %s that a sweep did not move keeps the blocks in which it was found, and its confirmations are counted again",
  async (_, chainId, readTo, sinceBlock) => {
    const { requestId } = await world.aRequest();
    const place = { ...(await anAddressOf(requestId)), chainId };
    await inOneCommit(async ({ depositAddresses, nonEvm }) => {
      if (readTo !== undefined)
        await nonEvm.setCursor(chainId, "", { number: readTo, hash: someHash(), timestamp: 1n });
      await depositAddresses.observe(place, [], 2n, true);
      const id = await depositAddresses.addSweep(sweepFor(place, requestId, Number(sinceBlock) + 1));
      const sweep = await depositAddresses.lockSweep(id);
      if (sweep === undefined) throw new Error("the sweep was not added");
      await depositAddresses.voidSweep(sweep, 9);
      expect(await depositAddresses.funds(place.chainId, place.address)).toMatchObject([
        { layers: [{ amount: 5n, sinceBlock, foundBlock: 40n, unseenBlock: 38n, seenAtMs: 7 }] },
      ]);
    });
  },
);

test("funds at an address do not change the status of a request that has its deposit or a successor", async () => {
  const [requestId, standIn] = [await aDeposited(), await aDeposited()];
  const place = await anAddressOf(requestId);
  const before = await statusOf(requestId);
  await holds(place);
  expect(await announcements(requestId)).toEqual([`${requestId} 1 `]);
  expect(await other.ask(requestId)).toEqual(before);
  await inOneCommit(async ({ depositAddresses }) => depositAddresses.supersede(requestId, standIn, 0));
  const views = await other.follow(requestId);
  expect(views.at(-1)).toMatchObject({ requestId, supersededByRequestId: standIn, fundsAt: "depository" });
});

test("announcements are sent after the commit, and another process sends those of a crashed process", async () => {
  const requestId = await aDeposited();
  const before = await statusOf(requestId);
  const sent = (): readonly string[] => other.announced.filter((payload) => payload.startsWith(requestId));
  const sessions = await Promise.all([world.pool.connect(), world.pool.connect(), world.pool.connect()]);
  const [dying, table, row] = sessions;
  try {
    await dying.query("begin");
    const state = { name: "submitted", front: "none", final: false } as RequestState;
    await saveRequests(sqlOn(dying), [{ requestId, state }], 0);
    // The lock delays the sending until the change is committed.
    await table.query("begin");
    const locked = table.query("lock table announcements in share mode");
    await expect
      .poll(async () => (await world.pool.query("select from pg_locks where not granted")).rowCount)
      .toBeGreaterThan(0);
    await dying.query("commit");
    await locked;
    await sleep(100);
    expect(sent()).toEqual([`${requestId} 1 `]);

    // A sender skips rows that another sender locks.
    await row.query("begin");
    await row.query("select from announcements for update");
    await table.query("commit");
    await sleep(1_500);
    expect(sent()).toEqual([`${requestId} 1 `]);

    await row.query("commit");
    await expect.poll(sent, { timeout: 5_000 }).toEqual([`${requestId} 1 `, `${requestId} 2 `]);
    expect(await other.ask(requestId)).not.toEqual(before);
  } finally {
    for (const session of sessions) session.release(true);
  }
});
