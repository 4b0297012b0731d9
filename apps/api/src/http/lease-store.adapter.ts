import { promptConnection } from "../db/connections.adapter.ts";
import type { RedisEndpoint } from "../db/redis-endpoint.port.ts";
import type { LeaseQuota } from "./leased-limits.adapter.ts";

/** Timeout of a command. */
const ANSWER_WITHIN_MS = 250;

// One atomic step, so that no two processes get the same lease. The window begins with its first lease and
// ends with the key.
const TAKE = `
local used = tonumber(redis.call('get', KEYS[1]) or '0')
local ends = redis.call('pttl', KEYS[1])
if ends <= 0 then
  used = 0
  ends = tonumber(ARGV[3])
end
local granted = math.max(0, math.min(tonumber(ARGV[1]), tonumber(ARGV[2]) - used))
if granted > 0 then
  used = used + granted
  redis.call('set', KEYS[1], used, 'px', ends)
end
return {granted, used, ends}`;

/** Counts calls in Redis, one counter per bucket and window. */
export interface LeaseStore {
  /** Leases for windows of this length. Every use of a bucket must pass the same length. */
  lease(windowMs: number): LeaseQuota;
  close(): void;
}

/** Connects. If Redis does not respond in time, the first lease fails. */
export async function connectLeaseStore(
  endpoint: RedisEndpoint,
  { prefix }: { readonly prefix: string },
): Promise<LeaseStore> {
  const redis = await promptConnection(endpoint, ANSWER_WITHIN_MS);
  return {
    lease: (windowMs) => async (bucket, requested, max) => {
      const answer = await redis.eval(TAKE, 1, `${prefix}:limit:${bucket}`, requested, max, windowMs);
      const [granted, used, endsInMs] = numbersOf(answer);
      if (granted === undefined || used === undefined || endsInMs === undefined)
        throw new TypeError("Redis did not return three numbers");
      return { granted, used, endsInMs };
    },
    close: () => redis.disconnect(),
  };
}

function numbersOf(answer: unknown): readonly number[] {
  return Array.isArray(answer) ? answer.filter((value) => typeof value === "number") : [];
}
