import type { Lifecycle } from "@causeway/service-kit";
import type { ApiConfig } from "../config/config.ts";
import type { Services } from "../db/services.port.ts";
import { connectLeaseStore } from "./lease-store.adapter.ts";
import { leasedLimits, type LeasedLimits } from "./leased-limits.adapter.ts";
import type { RateLimits } from "./rate-limits.port.ts";

const LIMIT_WINDOW_MS = 60_000;
const DAY_MS = 24 * 3600 * 1000;

/** Rate limits that all API processes share through Redis. Undefined when they are disabled. */
export async function startRateLimits({
  config: { access, redis },
  events,
  lifecycle,
}: Pick<Services, "events"> & {
  readonly config: Pick<ApiConfig, "access" | "redis">;
  readonly lifecycle: Lifecycle;
}): Promise<RateLimits | undefined> {
  const policy = access.limits;
  if (policy === undefined) return undefined;
  const store = await connectLeaseStore(redis.endpoint, { prefix: redis.keyPrefix });
  lifecycle.add("rate limits", () => store.close());
  const limitsPerWindow = (windowMs: number): LeasedLimits =>
    leasedLimits({
      lease: store.lease(windowMs),
      windowMs,
      nowMs: () => performance.now(),
      onFault: (error) => events.fault("rate_limits_alone", error, {}),
    });
  const calls = limitsPerWindow(LIMIT_WINDOW_MS);
  const callBytes = limitsPerWindow(DAY_MS);
  return {
    policy,
    take: (bucket, max) => calls.take(bucket, max),
    takeCallBytes: (caller, bytes) => callBytes.take(`${caller}:call-bytes`, policy.callBytesPerDay, bytes),
  };
}
