import type { RequestId } from "@causeway/domain";
import { quotedState } from "@causeway/domain";
import { afterEach, expect, test, vi } from "vitest";
import { recordedEvents } from "../../../../test/fakes/recorded-events.ts";
import { someHash } from "../../../../test/support/terms.ts";
import type { StatusChange, StatusListener } from "./status-feed.port.ts";
import type { StoredChange } from "./status-event-reads.postgres.ts";
import { statusFeed } from "./status-feed.postgres.ts";

afterEach(() => void vi.useRealTimers());

const BEAT_MS = 1_000;
const BEATS_UNTIL_LOST = 5;

/** A store of changes that a test commits to, and whose announcements it can delay. */
function aStore() {
  const stored = new Map<RequestId, StoredChange[]>();
  const snapshots: PromiseWithResolvers<void>[] = [];
  const state = {
    isConnected: true,
    fails: false,
    queries: 0,
    listeners: 0,
    holdsSnapshots: false,
    isSlow: false,
  };
  /** Announced but not delivered yet. */
  const delayed: string[] = [];
  let notice: (payload: string | undefined) => void = () => undefined;
  const events = recordedEvents();
  const change = (requestId: RequestId, sequence: number, keyId?: string): StoredChange => ({
    record: {
      requestId,
      state: quotedState("bridge"),
      originChainId: 1,
      destinationChainId: 2,
      createdAtMs: 0,
      updatedAtMs: 0,
      payByMs: 0,
      inTxHashes: [],
      txHashes: [],
      refundTxHashes: [],
    },
    sequence,
    onlyFinal: false,
    keyId,
  });
  const feed = statusFeed({
    reads: {
      async snapshot(requestId) {
        const last = stored.get(requestId)?.at(-1);
        if (state.holdsSnapshots) {
          const gate = Promise.withResolvers<void>();
          snapshots.push(gate);
          await gate.promise;
        }
        return last;
      },
      async eventsAfter(sequences) {
        state.queries++;
        if (state.fails) throw new Error("the database is unavailable");
        return [...sequences].flatMap(([id, after]) =>
          (stored.get(id) ?? []).filter(({ sequence }) => sequence > after),
        );
      },
    },
    listen: ({ onNotice }) => {
      state.listeners++;
      notice = onNotice;
      return { close: async () => undefined };
    },
    announce: async (text) => {
      if (state.isSlow) delayed.push(text);
      else if (state.isConnected) notice(text);
    },
    events,
    beatMs: BEAT_MS,
    beatsUntilLost: BEATS_UNTIL_LOST,
  });
  return {
    feed,
    state,
    events,
    aRequest(): RequestId {
      const requestId = someHash();
      stored.set(requestId, [change(requestId, 0)]);
      return requestId;
    },
    commit(requestId: RequestId, keyId?: string): void {
      const changes = stored.get(requestId) ?? [];
      changes.push(change(requestId, changes.length, keyId));
      if (state.isConnected) notice(`${requestId} ${changes.length - 1} ${keyId ?? ""}`);
    },
    announceText: (text: string) => notice(text),
    reconnect: () => notice(undefined),
    /** Delivers the first delayed announcement. */
    deliverDelayed: () => notice(delayed.shift() ?? ""),
    releaseSnapshots() {
      state.holdsSnapshots = false;
      for (const gate of snapshots.splice(0)) gate.resolve();
    },
  };
}

function aListener(): StatusListener & { readonly heard: (number | "lost")[] } {
  const heard: (number | "lost")[] = [];
  return {
    heard,
    changed: ({ sequence }: StatusChange) => heard.push(sequence),
    lost: () => heard.push("lost"),
  };
}

const pause = async (): Promise<void> => await new Promise((resolve) => setTimeout(resolve, 5));

test("changes announced together are read with one query, whatever the number of followers", async () => {
  const { feed, state, aRequest, commit } = aStore();
  const requests = Array.from({ length: 100 }, aRequest);
  const listeners = await Promise.all(
    requests.flatMap((id) =>
      [aListener(), aListener()].map(async (listener) => {
        await feed.follow(id, listener);
        return listener;
      }),
    ),
  );
  for (const id of requests) commit(id);
  await pause();
  expect(state.queries).toBe(1);
  for (const { heard } of listeners) expect(heard).toEqual([0, 1]);
  // Without followers there is no query.
  commit(aRequest());
  await pause();
  expect(state.queries).toBe(1);
});

test("a change during a follower's first read is delivered after it, once", async () => {
  const store = aStore();
  const id = store.aRequest();
  const listener = aListener();
  store.state.holdsSnapshots = true;
  const following = store.feed.follow(id, listener);
  store.commit(id);
  await pause();
  store.commit(id);
  expect(listener.heard).toEqual([]);
  store.releaseSnapshots();
  await following;
  await pause();
  expect(listener.heard).toEqual([0, 1, 2]);
});

test("changes committed without a connection are read on reconnection, also for a follower that joined meanwhile", async () => {
  const store = aStore();
  const [followedRequest, newRequest] = [store.aRequest(), store.aRequest()];
  const [listener, newListener, keyListener] = [aListener(), aListener(), aListener()];
  await store.feed.follow(followedRequest, listener);
  store.feed.followKey("k", keyListener);
  store.state.isConnected = false;
  store.state.holdsSnapshots = true;
  const following = store.feed.follow(newRequest, newListener);
  store.commit(followedRequest);
  store.commit(newRequest);
  store.state.isConnected = true;
  store.reconnect();
  await pause();
  store.releaseSnapshots();
  await following;
  await pause();
  expect(listener.heard).toEqual([0, 1]);
  expect(newListener.heard).toEqual([0, 1]);
  // The changed requests of the key are unknown.
  expect(keyListener.heard).toEqual(["lost"]);
});

test("followers of a key get each change of its requests once, and no others", async () => {
  const { feed, aRequest, commit } = aStore();
  const [requestOfKey, otherRequest] = [aRequest(), aRequest()];
  const listener = aListener();
  const stop = feed.followKey("k", listener);
  commit(requestOfKey, "k");
  commit(otherRequest, "another");
  commit(otherRequest);
  await pause();
  commit(requestOfKey, "k");
  commit(requestOfKey, "k");
  await pause();
  expect(listener.heard).toEqual([1, 2, 3]);
  stop();
  commit(requestOfKey, "k");
  await pause();
  expect(listener.heard).toEqual([1, 2, 3]);
});

test("when changes cannot be read, all followers are notified that the feed is lost and get nothing afterwards", async () => {
  const { feed, state, aRequest, commit, events } = aStore();
  const id = aRequest();
  const [listener, keyListener] = [aListener(), aListener()];
  await feed.follow(id, listener);
  feed.followKey("k", keyListener);
  state.fails = true;
  commit(id, "k");
  await pause();
  state.fails = false;
  commit(id, "k");
  await pause();
  expect(listener.heard).toEqual([0, "lost"]);
  expect(keyListener.heard).toEqual(["lost"]);
  expect(events.of("status_feed_fault")).toHaveLength(1);
});

test("when all heartbeats are missed, followers are notified and the connection is replaced", async () => {
  vi.useFakeTimers();
  const { feed, state, aRequest } = aStore();
  const listener = aListener();
  await feed.follow(aRequest(), listener);
  await vi.advanceTimersByTimeAsync(3 * BEAT_MS);
  expect(listener.heard).toEqual([0]);
  state.isConnected = false;
  await vi.advanceTimersByTimeAsync(BEATS_UNTIL_LOST * BEAT_MS);
  expect(listener.heard).toEqual([0]);
  await vi.advanceTimersByTimeAsync(BEAT_MS);
  expect(listener.heard).toEqual([0, "lost"]);
  expect(state.listeners).toBe(2);
  // The new connection has the same limit.
  await vi.advanceTimersByTimeAsync((BEATS_UNTIL_LOST - 1) * BEAT_MS);
  expect(state.listeners).toBe(2);
  await vi.advanceTimersByTimeAsync(BEAT_MS);
  expect(state.listeners).toBe(3);
  await feed.close();
});

test("late heartbeats disconnect no follower while each arrives before the limit of missed ones", async () => {
  vi.useFakeTimers();
  const { feed, state, aRequest, deliverDelayed } = aStore();
  const listener = aListener();
  await feed.follow(aRequest(), listener);
  state.isSlow = true;
  await vi.advanceTimersByTimeAsync((BEATS_UNTIL_LOST - 1) * BEAT_MS);
  for (let beat = 0; beat < 10; beat++) {
    await vi.advanceTimersByTimeAsync(BEAT_MS);
    deliverDelayed();
  }
  expect(listener.heard).toEqual([0]);
  expect(state.listeners).toBe(1);
  await vi.advanceTimersByTimeAsync(2 * BEAT_MS);
  expect(listener.heard).toEqual([0, "lost"]);
  await feed.close();
});

test("ignores heartbeats of other processes", async () => {
  vi.useFakeTimers();
  const { feed, state, aRequest, announceText } = aStore();
  const listener = aListener();
  await feed.follow(aRequest(), listener);
  state.isConnected = false;
  for (let beat = 1; beat <= BEATS_UNTIL_LOST + 1; beat++) {
    announceText(`beat 6b1e2f10-7f0e-4d7e-9a39-0d1e6f8f5a11 ${beat}`);
    await vi.advanceTimersByTimeAsync(BEAT_MS);
  }
  expect(listener.heard).toEqual([0, "lost"]);
  await feed.close();
});

test("a returning follower gets the missed changes, and an unknown request cannot be followed", async () => {
  const { feed, aRequest, commit } = aStore();
  const id = aRequest();
  for (let change = 0; change < 3; change++) commit(id);
  const [missed, upToDate, ahead] = [aListener(), aListener(), aListener()];
  await feed.follow(id, missed, 1);
  await feed.follow(id, upToDate, 3);
  // A sequence that does not exist yet: the current status is delivered.
  await feed.follow(id, ahead, 9);
  commit(id);
  await pause();
  expect([missed.heard, upToDate.heard, ahead.heard]).toEqual([
    [2, 3, 4],
    [3, 4],
    [3, 4],
  ]);
  expect(await feed.follow(someHash(), aListener())).toBeUndefined();
  expect(feed.figures().followed).toBe(1);
});
