import { Redis } from "ioredis";
import type { ClockReading } from "./clock-check.ts";
import { redisFactsOf, type RedisFacts } from "./redis-check.ts";

const WITHIN_MS = 5_000;

/** Reads `INFO` and the time of a server. @throws when it does not answer or refuses the password */
export async function readRedis(
  url: string,
): Promise<{ readonly facts: RedisFacts; readonly clock: ClockReading }> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: WITHIN_MS,
    commandTimeout: WITHIN_MS,
    disconnectTimeout: 100,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  // The calls throw less than this event says.
  let fault: Error | undefined;
  redis.on("error", (error: Error) => (fault ??= error));
  try {
    await redis.connect();
    const facts = redisFactsOf(await redis.info());
    const startedAtMs = Date.now();
    const [seconds, microseconds] = await redis.time();
    return {
      facts,
      clock: {
        theirsMs: Number(seconds) * 1000 + Number(microseconds) / 1000,
        oursMs: (startedAtMs + Date.now()) / 2,
      },
    };
  } catch (error) {
    throw fault ?? error;
  } finally {
    redis.disconnect();
  }
}
