import { Redis } from "ioredis";

// Both connect at once: a queue whose first connect() is refused stays broken for the life of the process,
// one that finds its connection on the way waits for it.

/** Producers fail at once when Redis is away: the outbox keeps the job and the relay tries again. */
export function producerConnection(url: string): Redis {
  const redis = new Redis(url, { enableOfflineQueue: false, maxRetriesPerRequest: 1 });
  // Without a listener a lost connection would end the process; every call meets the fault itself.
  redis.on("error", () => {});
  return redis;
}

/** Workers wait for Redis as long as it takes. */
export function workerConnection(url: string): Redis {
  const redis = new Redis(url, { maxRetriesPerRequest: null });
  redis.on("error", () => {});
  return redis;
}
