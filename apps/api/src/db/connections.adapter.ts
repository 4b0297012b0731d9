import { Redis } from "ioredis";

// Both connect at once: a queue whose first connect() is refused stays broken until the process ends; one
// that finds its connection in progress waits for it.

/** Producers fail at once while Redis is unavailable: the outbox keeps the job and the relay retries. */
export function producerConnection(url: string): Redis {
  const redis = new Redis(url, { enableOfflineQueue: false, maxRetriesPerRequest: 1 });
  // Without a listener a lost connection would end the process; every call gets the error itself.
  redis.on("error", () => {});
  return redis;
}

/** Workers wait for Redis as long as it takes. */
export function workerConnection(url: string): Redis {
  const redis = new Redis(url, { maxRetriesPerRequest: null });
  redis.on("error", () => {});
  return redis;
}

const READY_WITHIN_MS = 1_000;

/**
 * For commands that must answer within a time: they fail at once while Redis is unavailable. Waits a moment
 * for the connection; if Redis does not respond by then, the first command fails.
 */
export async function promptConnection(url: string, answerWithinMs: number): Promise<Redis> {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: answerWithinMs,
  });
  // Without a listener, a lost connection would end the process. Each call reports its own failure.
  redis.on("error", () => {});
  await readyOrLate(redis);
  return redis;
}

async function readyOrLate(redis: Redis): Promise<void> {
  if (redis.status === "ready") return;
  const done = Promise.withResolvers<void>();
  const timer = setTimeout(done.resolve, READY_WITHIN_MS);
  redis.once("ready", done.resolve);
  await done.promise;
  clearTimeout(timer);
  redis.off("ready", done.resolve);
}
