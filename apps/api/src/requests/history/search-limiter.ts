import { ServiceError } from "@causeway/domain";
import type { SearchLimiter } from "../../http/usage.port.ts";

interface Bounds {
  /** Concurrent searches. */
  readonly places: number;
  /** Of these, for one caller. */
  readonly perCaller: number;
  readonly maxWaitingPerCaller: number;
  readonly maxWaiting: number;
  /** A caller whose search took longer is paused for ten times its duration. Infinity: never. */
  readonly slowMs: number;
}

interface Waiting {
  readonly begin: () => void;
}

/** The places of both bounds add up to the number of search connections: four. */
const withKey: Bounds = {
  places: 3,
  perCaller: 2,
  maxWaitingPerCaller: 20,
  maxWaiting: 500,
  slowMs: Infinity,
};
const withoutKey: Bounds = {
  places: 1,
  perCaller: 1,
  maxWaitingPerCaller: 5,
  maxWaiting: 200,
  slowMs: 500,
};
export const SEARCH_PLACES = withKey.places + withoutKey.places;
const PAUSE_FACTOR = 10;
const MAX_PAUSES = 10_000;
/** After waiting this long, an answer would be too late to be useful. */
const MAX_WAIT_MS = 2_000;

/** Shares the search connections fairly: a caller delays the others by at most one of its own searches. */
export function createSearchLimiter(nowMs: () => number = () => performance.now()): SearchLimiter {
  const keyed = searchQueue(withKey, nowMs);
  const open = searchQueue(withoutKey, nowMs);
  return {
    run: async ({ name, hasSecretKey }, search) => await (hasSecretKey ? keyed : open)(name, search),
  };
}

function searchQueue(bounds: Bounds, nowMs: () => number) {
  /** Callers in the order of their turns. */
  const waiting = new Map<string, Waiting[]>();
  const running = new Map<string, number>();
  const pausedUntilMs = new Map<string, number>();
  let waitingCount = 0;
  let free = bounds.places;

  const mayBegin = (name: string): boolean => free > 0 && (running.get(name) ?? 0) < bounds.perCaller;

  function begin(name: string): void {
    free -= 1;
    running.set(name, (running.get(name) ?? 0) + 1);
  }

  function end(name: string): void {
    free += 1;
    const remaining = (running.get(name) ?? 0) - 1;
    if (remaining > 0) running.set(name, remaining);
    else running.delete(name);
    const next = [...waiting.keys()].find(mayBegin);
    if (next === undefined) return;
    const [first] = waiting.get(next) ?? [];
    if (first === undefined) return;
    leave(next, first);
    begin(next);
    first.begin();
  }

  /** The caller's other searches move to the end of the queue. */
  function leave(name: string, entry: Waiting): void {
    const remaining = (waiting.get(name) ?? []).filter((candidate) => candidate !== entry);
    waitingCount -= 1;
    waiting.delete(name);
    if (remaining.length > 0) waiting.set(name, remaining);
  }

  async function waitForTurn(name: string): Promise<void> {
    if (mayBegin(name)) return begin(name);
    const callerWaiting = waiting.get(name) ?? [];
    if (callerWaiting.length >= bounds.maxWaitingPerCaller)
      throw new ServiceError(
        "RATE_LIMITED",
        `At most ${bounds.maxWaitingPerCaller} searches of one caller may wait at once; send the next one after an answer`,
        { retryAfterSeconds: 1 },
      );
    if (waitingCount >= bounds.maxWaiting) throw tooManyWaiting();
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        leave(name, entry);
        reject(tooManyWaiting());
      }, MAX_WAIT_MS);
      const entry: Waiting = {
        begin: () => {
          clearTimeout(timer);
          resolve();
        },
      };
      waiting.set(name, [...callerWaiting, entry]);
      waitingCount += 1;
    });
  }

  function refusePaused(name: string): void {
    const endsInMs = (pausedUntilMs.get(name) ?? -Infinity) - nowMs();
    if (endsInMs <= 0) return void pausedUntilMs.delete(name);
    const retryAfterSeconds = Math.ceil(endsInMs / 1000);
    throw new ServiceError(
      "RATE_LIMITED",
      `The previous search of this caller took too long; retry in ${retryAfterSeconds} s, or use a secret API key`,
      { retryAfterSeconds },
    );
  }

  function pauseAfter(name: string, tookMs: number): void {
    if (tookMs <= bounds.slowMs) return;
    pausedUntilMs.delete(name);
    pausedUntilMs.set(name, nowMs() + PAUSE_FACTOR * tookMs);
    const oldest = pausedUntilMs.size > MAX_PAUSES ? pausedUntilMs.keys().next().value : undefined;
    if (oldest !== undefined) pausedUntilMs.delete(oldest);
  }

  return async <T>(name: string, search: () => Promise<T>): Promise<T> => {
    refusePaused(name);
    await waitForTurn(name);
    const beganAtMs = nowMs();
    try {
      // A slow search may have paused the caller while this one waited.
      refusePaused(name);
      return await search();
    } finally {
      pauseAfter(name, nowMs() - beganAtMs);
      end(name);
    }
  };
}

const tooManyWaiting = (): ServiceError =>
  new ServiceError("SERVICE_UNAVAILABLE", "Too many searches are waiting; try again in a moment");
