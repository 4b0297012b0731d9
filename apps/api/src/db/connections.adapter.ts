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
