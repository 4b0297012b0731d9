import type { Lifecycle } from "@causeway/service-kit";
import { accountSignatures } from "../chains/signatures.adapter.ts";
import { knownKeys } from "../callers/known-keys.adapter.ts";
import { apiKeyRegister } from "../callers/api-key-register.postgres.ts";
import { idempotencyStore } from "../http/idempotency-store.postgres.ts";
import { listen } from "../db/listen.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { API_KEYS_CHANNEL, storedKeys } from "../callers/stored-keys.postgres.ts";
import { tickBatcher } from "../db/tick-batcher.postgres.ts";
import { usageCounter } from "../callers/usage-counter.postgres.ts";
import { pooledRandomBytes } from "../db/pooled-bytes.adapter.ts";
import { leasedLimits, type LeasedLimits } from "../http/leased-limits.adapter.ts";
import { connectPermitStore } from "../executions/permits/permit-store.adapter.ts";
import type { ApiConfig } from "../config/config.ts";
import type { Searches } from "./searches.ts";
import type { ConnectedChain } from "../chains/chains.port.ts";
import type { RateLimits } from "../http/rate-limits.port.ts";
import type { RouteServices } from "../http/route-services.port.ts";
import type { Services } from "../db/services.port.ts";
import { mayDeleteByAge } from "../markets/prices/plausible-clock.ts";
import { keyAdmin } from "../callers/key-admin.ts";

/** One query at a time, whatever is asked: keys that somebody makes up are read as cheaply as can be. */
const KEY_READS = { inFlight: 1, maxBatch: 500 };
const LIMIT_WINDOW_MS = 60_000;
const DAY_MS = 24 * 3600 * 1000;

interface Dependencies {
  readonly config: ApiConfig;
  readonly sql: Sql;
  readonly searches: Searches;
  readonly connected: readonly ConnectedChain[];
  readonly lifecycle: Lifecycle;
}

type AccessServices = Pick<
  RouteServices,
  "apiKeys" | "keyAdmin" | "operatorToken" | "idempotency" | "limits" | "usage" | "clock"
>;

/** What the routes know of their callers: keys, how often they may call, what they have asked before. */
export async function accessServices(
  services: Pick<Services, "clock" | "events" | "appBalance" | "reads">,
  { config, sql, searches, connected, lifecycle }: Dependencies,
): Promise<AccessServices> {
  const { clock, events, appBalance } = services;
  const home = connected.find(({ chain }) => chain.id === appBalance.chainId);
  if (home === undefined) throw new Error("invariant violated: the chain of app balances is not connected");
  const apiKeys = knownKeys(tickBatcher(storedKeys(sql), KEY_READS), { clock });
  const listener = listen(config.database.url.reveal(), API_KEYS_CHANNEL, {
    onNotice: (id) => (id === undefined ? apiKeys.forgetAll() : apiKeys.forget(id)),
    onFault: (error) => events.fault("api_keys_fault", error, { part: "listen" }),
  });
  lifecycle.add("API keys", () => listener.close());
  const usage = usageCounter(sql, {
    searches,
    clock,
    mayDeleteByAge: async () => await mayDeleteByAge(services),
    onFault: (error) => events.fault("usage_fault", error, {}),
  });
  lifecycle.add("usage", () => usage.close());
  return {
    apiKeys,
    keyAdmin: keyAdmin({
      register: apiKeyRegister(sql),
      clock,
      random: pooledRandomBytes(),
      signatures: accountSignatures(home.connection.reader),
    }),
    operatorToken: config.access.operatorToken,
    idempotency: idempotencyStore(sql),
    limits: await rateLimits(services, config, lifecycle),
    usage,
    clock,
  };
}

async function rateLimits(
  { events }: Pick<Services, "events">,
  { access, redis }: ApiConfig,
  lifecycle: Lifecycle,
): Promise<RateLimits | undefined> {
  if (access.limits === undefined) return undefined;
  const store = await connectPermitStore(redis.url.reveal(), { prefix: redis.queuePrefix });
  lifecycle.add("rate limits", () => store.close());
  const inWindows = (windowMs: number): LeasedLimits =>
    leasedLimits({
      lease: store.lease(windowMs),
      windowMs,
      nowMs: () => performance.now(),
      onFault: (error) => events.fault("rate_limits_alone", error, {}),
    });
  const calls = inWindows(LIMIT_WINDOW_MS);
  const callBytes = inWindows(DAY_MS);
  const policy = access.limits;
  return {
    policy,
    take: (bucket, most) => calls.take(bucket, most),
    takeCallBytes: (caller, bytes) => callBytes.take(`${caller}:call-bytes`, policy.callBytesPerDay, bytes),
  };
}
