import { ServiceError } from "@causeway/domain";
import type { FastifyRateLimitStore } from "@fastify/rate-limit";
import rateLimit, { normalizeIP } from "@fastify/rate-limit";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { LimitClass, RateLimitPolicy, RateLimits } from "./rate-limits.port.ts";
import { isPublishable } from "./publishable-key.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The class that calls of the route count as; default: `other`. `not`: they are not limited. */
    readonly limited?: LimitClass | "not";
  }
}

/**
 * Limits how often each key, or each address without a key, calls the routes added later. The headers
 * `RateLimit-*` report the remaining calls.
 */
export async function limitRates(app: FastifyInstance, limits: RateLimits | undefined): Promise<void> {
  if (limits === undefined) return;
  const { policy } = limits;
  app.addHook("onRoute", (route) => {
    const limitClass = route.config?.limited ?? "other";
    const settings =
      limitClass === "not"
        ? (false as const)
        : {
            keyGenerator: (request: FastifyRequest) =>
              `${bucketOf(policy, limitClass, request)}:${limitClass}`,
            max: (request: FastifyRequest) => maxOf(policy, limitClass, request),
          };
    route.config = { ...route.config, rateLimit: settings };
  });
  await app.register(rateLimit, {
    enableDraftSpec: true,
    store: storeOf(limits),
    errorResponseBuilder: (_request, { ttl }) => rateLimited(ttl),
  });
}

/** Maximum number of remembered addresses that tried too many keys. */
const MAX_GUESSERS = 10_000;

export interface KeyGuessLimit {
  /**
   * Call it before looking up an unfamiliar key.
   *
   * @throws ServiceError RATE_LIMITED for an address that sent too many invalid keys
   */
  check(request: Pick<FastifyRequest, "ip">): void;
  /** Counts a call with a key that is not valid. @throws ServiceError RATE_LIMITED */
  count(request: Pick<FastifyRequest, "ip">): Promise<void>;
}

/** Limits guessing of keys. */
export function keyGuessLimit(limits: RateLimits | undefined): KeyGuessLimit {
  const refusedUntilMs = new Map<string, number>();
  return {
    check({ ip }) {
      if (refusedUntilMs.size === 0) return;
      const address = normalizeIP(ip);
      const endsInMs = (refusedUntilMs.get(address) ?? -Infinity) - performance.now();
      if (endsInMs > 0) throw rateLimited(endsInMs);
      refusedUntilMs.delete(address);
    },
    async count({ ip }) {
      if (limits === undefined) return;
      const address = normalizeIP(ip);
      const limit = limits.policy.address.other;
      const { used, endsInMs } = await limits.take(`ip:${address}:wrong-key`, limit);
      if (used <= limit) return;
      refusedUntilMs.set(address, performance.now() + endsInMs);
      // A map keeps insertion order, so this removes the oldest.
      const oldest = refusedUntilMs.size > MAX_GUESSERS ? refusedUntilMs.keys().next().value : undefined;
      if (oldest !== undefined) refusedUntilMs.delete(oldest);
      throw rateLimited(endsInMs);
    },
  };
}

/** Searches per minute that may read tokens from chains, for a caller without a secret key. */
const MAX_EXTERNAL_SEARCHES = 5;

/**
 * Counts a search that reads tokens from chains.
 *
 * @throws ServiceError RATE_LIMITED for a caller without a secret key that has reached the limit
 */
export async function limitExternalSearches(
  limits: RateLimits | undefined,
  { apiKey, ip }: Pick<FastifyRequest, "apiKey" | "ip">,
): Promise<void> {
  if (limits === undefined || (apiKey !== undefined && !isPublishable(apiKey))) return;
  const { used, endsInMs } = await limits.take(
    `${callerOf({ apiKey, ip })}:external-search`,
    MAX_EXTERNAL_SEARCHES,
  );
  if (used > MAX_EXTERNAL_SEARCHES) throw rateLimited(endsInMs);
}

/**
 * The rate-limit bucket of a call. Calls with publishable keys share a bucket per address and limit, so that
 * using several keys does not raise the limit.
 */
function bucketOf(policy: RateLimitPolicy, limitClass: LimitClass, request: FastifyRequest): string {
  const { apiKey } = request;
  const isVisitor = apiKey !== undefined && isPublishable(apiKey);
  return isVisitor ? `${callerOf(request)}:page:${maxOf(policy, limitClass, request)}` : callerOf(request);
}

/**
 * Identifies a caller for quotas. Publishable keys are public, so their visitors are counted by address, like
 * callers without a key.
 */
export function callerOf({ apiKey, ip }: Pick<FastifyRequest, "apiKey" | "ip">): string {
  return apiKey === undefined || isPublishable(apiKey) ? `ip:${normalizeIP(ip)}` : `key:${apiKey.id}`;
}

function maxOf(policy: RateLimitPolicy, limitClass: LimitClass, { apiKey }: FastifyRequest): number {
  if (apiKey === undefined) return policy.address[limitClass];
  const { quotePerMinute, otherPerMinute } = apiKey.limits;
  switch (limitClass) {
    case "quote":
      return quotePerMinute ?? policy.key.quote;
    case "other":
      return otherPerMinute ?? policy.key.other;
    case "status":
      return Math.max(policy.key.status, otherPerMinute ?? 0);
    default:
      return limitClass satisfies never;
  }
}

function storeOf(limits: RateLimits) {
  return class implements FastifyRateLimitStore {
    incr(
      bucket: string,
      done: (error: Error | null, result?: { current: number; ttl: number }) => void,
      _windowMs: number,
      limit: number,
    ): void {
      const report = ({ used, endsInMs }: { used: number; endsInMs: number }): void =>
        done(null, { current: used, ttl: endsInMs });
      const use = limits.take(bucket, limit);
      if (use instanceof Promise) use.then(report, done);
      else report(use);
    }
    child(): this {
      return this;
    }
  };
}

function rateLimited(endsInMs: number): ServiceError {
  const retryAfterSeconds = Math.max(1, Math.ceil(endsInMs / 1000));
  return new ServiceError("RATE_LIMITED", `Rate limit exceeded; retry in ${retryAfterSeconds} s`, {
    retryAfterSeconds,
  });
}
