import type { RequestId } from "@causeway/domain";
import { randomUUID } from "node:crypto";
import type { Events } from "../db/events.port.ts";
import type { StatusChange, StatusFeed, StatusListener, StopListening } from "./status-feed.port.ts";
import type { StatusEventReads } from "./status-event-reads.postgres.ts";

/** Maximum number of requests per query. */
const MAX_AT_ONCE = 2_000;
/** The first word of a heartbeat; no request id equals it. */
const BEAT = "beat";

/** A follower of one request. Changes wait until the current status was delivered. */
interface Follower {
  readonly listener: StatusListener;
  /** The last delivered sequence; undefined before the first delivery. */
  delivered: number | undefined;
  readonly early: StatusChange[];
}

interface FollowedRequest {
  readonly followers: Set<Follower>;
  /** Changes up to this sequence were read; undefined while unknown. */
  read: number | undefined;
  /** Something may have been missed while `read` was unknown. */
  mayHaveMissed: boolean;
}

export interface StatusFeedParts {
  readonly reads: StatusEventReads;
  /** Listens for announcements; undefined: earlier announcements may have been missed. */
  readonly listen: (handlers: {
    readonly onNotice: (payload: string | undefined) => void;
    readonly onFault: (error: unknown) => void;
  }) => { close(): Promise<void> };
  /** Announces a text to all listeners, including this process. */
  readonly announce: (text: string) => Promise<void>;
  readonly events: Pick<Events, "fault">;
  /** Interval of heartbeats. */
  readonly beatMs: number;
  /**
   * After this many consecutive missed heartbeats, the connection counts as lost. Counts heartbeats instead
   * of time, because a suspended process first reads the announcements that arrived in the meantime.
   */
  readonly beatsUntilLost: number;
}

/** Metrics of the feed. */
export interface StatusFeedFigures {
  readonly followed: number;
  readonly changes: number;
  readonly losses: number;
}

/**
 * Passes on changes as they are announced. Changes that are announced during a read are read together in the
 * next query, regardless of the number of followers. An announcement without followers costs no query.
 */
export function statusFeed({
  reads,
  listen,
  announce,
  events,
  beatMs,
  beatsUntilLost,
}: StatusFeedParts): StatusFeed & {
  figures(): StatusFeedFigures;
  close(): Promise<void>;
} {
  const requests = new Map<RequestId, FollowedRequest>();
  const keys = new Map<string, Set<StatusListener>>();
  /** Announced and not yet read, with the sequences that followers of a key must get. */
  const pending = new Map<RequestId, Set<number>>();
  const figures = { changes: 0, losses: 0 };
  const id = randomUUID();
  /** Numbers of the last heartbeat announced and of the last one received. */
  const heartbeats = { announced: 0, heard: 0 };
  let isReading = false;
  let isScheduled = false;

  function onNotice(payload: string | undefined): void {
    if (payload === undefined) return catchUp();
    if (payload.startsWith(BEAT)) {
      const [, sender, number] = payload.split(" ");
      if (sender === id) heartbeats.heard = Math.max(heartbeats.heard, Number(number));
      return;
    }
    const [idText, sequence, keyId] = payload.split(" ");
    const requestId = idText as RequestId;
    if (sequence === undefined) return;
    const followed = requests.get(requestId);
    // The state before this change may not have been delivered to any follower yet.
    if (followed !== undefined) followed.read ??= Number(sequence) - 1;
    const isFollowedByKey = keyId !== undefined && keys.has(keyId);
    if (followed === undefined && !isFollowedByKey) return;
    const sequences = pending.get(requestId) ?? new Set();
    if (isFollowedByKey) sequences.add(Number(sequence));
    pending.set(requestId, sequences);
    schedule();
  }

  /**
   * Call when a connection was established: reads the changes that happened without one, for each followed
   * request. For keys, the changed requests are unknown.
   */
  function catchUp(): void {
    for (const requestId of requests.keys()) if (!pending.has(requestId)) pending.set(requestId, new Set());
    schedule();
    dropKeyListeners();
  }

  function readAgain(requestId: RequestId, followed: FollowedRequest): void {
    followed.mayHaveMissed = false;
    if (!pending.has(requestId)) pending.set(requestId, new Set());
    schedule();
  }

  function schedule(): void {
    if (isScheduled || isReading || pending.size === 0) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      void readPending();
    });
  }

  async function readPending(): Promise<void> {
    isReading = true;
    const batch = [...pending].slice(0, MAX_AT_ONCE);
    for (const [requestId] of batch) pending.delete(requestId);
    const sequencesByRequest = new Map(batch);
    const after = new Map<RequestId, number>();
    for (const [requestId, sequences] of batch) {
      const readUpTo = Math.min(requests.get(requestId)?.read ?? Infinity, Math.min(...sequences) - 1);
      if (readUpTo < Infinity) after.set(requestId, readUpTo);
      const followed = requests.get(requestId);
      if (followed !== undefined && followed.read === undefined) followed.mayHaveMissed = true;
    }
    try {
      if (after.size > 0)
        for (const change of await reads.eventsAfter(after)) {
          const { requestId } = change.record;
          notifyFollowers(requestId, change);
          if (change.keyId !== undefined && sequencesByRequest.get(requestId)?.has(change.sequence) === true)
            for (const listener of keys.get(change.keyId) ?? []) listener.changed(change);
        }
    } catch (error) {
      events.fault("status_feed_fault", error, { part: "read" });
      dropFollowers();
    } finally {
      isReading = false;
      schedule();
    }
  }

  function notifyFollowers(requestId: RequestId, change: StatusChange): void {
    const followed = requests.get(requestId);
    if (followed === undefined || change.sequence <= (followed.read ?? Infinity)) return;
    followed.read = change.sequence;
    figures.changes++;
    for (const follower of followed.followers) notify(follower, change);
  }

  function notify(follower: Follower, change: StatusChange): void {
    if (follower.delivered === undefined) follower.early.push(change);
    else if (change.sequence > follower.delivered) {
      follower.delivered = change.sequence;
      follower.listener.changed(change);
    }
  }

  function dropKeyListeners(): void {
    const ended = [...keys.values()].flatMap((listeners) => [...listeners]);
    keys.clear();
    for (const listener of ended) listener.lost();
  }

  function dropFollowers(): void {
    figures.losses++;
    pending.clear();
    const ended = [...requests.values()].flatMap(({ followers }) => [...followers]);
    requests.clear();
    for (const { listener } of ended) listener.lost();
    dropKeyListeners();
  }

  const startListening = (): { close(): Promise<void> } =>
    listen({
      onNotice,
      onFault: (error) => events.fault("status_feed_fault", error, { part: "listen" }),
    });
  let connection = startListening();
  const beat = setInterval(() => {
    if (heartbeats.announced - heartbeats.heard >= beatsUntilLost) {
      dropFollowers();
      heartbeats.heard = heartbeats.announced;
      // A silently dropped connection may take hours to notice.
      connection.close().catch(() => undefined);
      connection = startListening();
    }
    announce(`${BEAT} ${id} ${++heartbeats.announced}`).catch((error: unknown) =>
      events.fault("status_feed_fault", error, { part: "beat" }),
    );
  }, beatMs);

  return {
    async follow(requestId, statusListener, after): Promise<StopListening | undefined> {
      const followed = requests.get(requestId) ?? {
        followers: new Set(),
        read: undefined,
        mayHaveMissed: false,
      };
      requests.set(requestId, followed);
      const follower: Follower = { listener: statusListener, delivered: undefined, early: [] };
      followed.followers.add(follower);
      const stop = (): void => {
        followed.followers.delete(follower);
        if (followed.followers.size === 0 && requests.get(requestId) === followed) requests.delete(requestId);
      };
      try {
        // Follow before reading: a change in between arrives twice here and is delivered once.
        const snapshot = await reads.snapshot(requestId);
        if (snapshot === undefined) {
          stop();
          return undefined;
        }
        const missed =
          after === undefined || after >= snapshot.sequence
            ? []
            : await reads.eventsAfter(new Map([[requestId, after]]));
        followed.read ??= snapshot.sequence;
        const firstChanges = missed.length > 0 ? missed : [snapshot];
        follower.delivered = firstChanges.at(-1)?.sequence ?? snapshot.sequence;
        // Followers that lost the feed in the meantime were already notified.
        if (followed.followers.has(follower) && requests.get(requestId) === followed) {
          for (const change of firstChanges) statusListener.changed(change);
          for (const change of follower.early.splice(0)) notify(follower, change);
          if (followed.mayHaveMissed) readAgain(requestId, followed);
        }
        return stop;
      } catch (error) {
        stop();
        throw error;
      }
    },
    followKey(keyId, statusListener): StopListening {
      const listeners = keys.get(keyId) ?? new Set();
      keys.set(keyId, listeners);
      listeners.add(statusListener);
      return () => {
        listeners.delete(statusListener);
        if (listeners.size === 0 && keys.get(keyId) === listeners) keys.delete(keyId);
      };
    },
    figures: () => ({ ...figures, followed: requests.size }),
    async close(): Promise<void> {
      clearInterval(beat);
      await connection.close();
    },
  };
}
