import { ServiceError } from "@causeway/domain";
import { MAX_USAGE_KEYS, usageAnswer, usageQuery, wholeNumber } from "@causeway/wire";
import type { Clock } from "../db/clock.port.ts";
import type { Usage } from "../http/usage.port.ts";
import { requireSecretKey } from "../http/access.route.ts";
import { searcherOf } from "../requests/history/requests-v3.route.ts";
import { errors, type TypedServer } from "../http/typed.route.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const bucketMs = { minutely: MINUTE_MS, hourly: HOUR_MS, daily: DAY_MS } as const;
/** Maximum number of buckets of one answer. */
const MAX_BUCKETS = 1_500;
/** Maximum number of counts of one answer: each endpoint, status and error code has a count of its own. */
const MAX_COUNTS = 20_000;

interface UsageRouteNeeds {
  readonly usage: Usage;
  readonly clock: Clock;
}

/** `GET /metrics/usage`: calls of an API key, by endpoint and outcome. */
export function usageRoute(app: TypedServer, services: UsageRouteNeeds): void {
  app.get(
    "/metrics/usage",
    {
      config: { access: { kind: "key", scope: "read" } },
      schema: {
        tags: ["keys"],
        operationId: "getUsage",
        summary: "Get the usage of an API key; updated within seconds",
        querystring: usageQuery,
        response: { 200: usageAnswer, ...errors(400, 401, 403, 429, 500, 503) },
      },
    },
    async ({ apiKey: callerKey, ip, query }) => {
      const { id } = requireSecretKey({ apiKey: callerKey }, "read", "read usage");
      const { granularity, startTimestamp, endTimestamp, apiKey } = query;
      const keyIds = [apiKey ?? []].flat().flatMap((ids) => ids.split(","));
      if (keyIds.length > MAX_USAGE_KEYS)
        throw invalid("apiKey", `must have at most ${MAX_USAGE_KEYS} ids, got ${keyIds.length}`);
      if (keyIds.some((keyId) => keyId !== id))
        throw new ServiceError(
          "FORBIDDEN",
          "apiKey must be the id of the secret API key that sends this request",
          { field: "apiKey" },
        );
      const width = bucketMs[granularity];
      const toMs =
        endTimestamp === undefined ? services.clock.nowMs() : secondsToMs("endTimestamp", endTimestamp);
      const fromMs =
        startTimestamp === undefined ? toMs - DAY_MS : secondsToMs("startTimestamp", startTimestamp);
      if (fromMs > toMs) throw invalid("startTimestamp", "must not be after endTimestamp");
      if (toMs - fromMs > MAX_BUCKETS * width)
        throw invalid(
          "startTimestamp",
          `must be at most ${MAX_BUCKETS} intervals of granularity before endTimestamp`,
        );
      const counts = await services.usage.read(
        { keyId: id, fromMs, toMs, bucketMs: width, limit: MAX_COUNTS + 1 },
        searcherOf({ apiKey: callerKey, ip }),
      );
      if (counts.length > MAX_COUNTS)
        throw invalid(
          "startTimestamp",
          `to endTimestamp yields more than ${MAX_COUNTS} counts; use a shorter range or a coarser granularity`,
        );
      return {
        metrics: counts.map(({ keyId, startMs, endpoint, status, errorCode, count }) => ({
          apiKey: keyId,
          timestamp: new Date(startMs).toISOString(),
          endpoint,
          statusCode: status,
          ...(errorCode === "" ? {} : { errorCode }),
          count,
        })),
      };
    },
  );
}

/** Converts seconds to milliseconds. The schema has validated that the value is a whole number. */
function secondsToMs(field: string, value: number | string): number {
  const seconds = wholeNumber(value);
  if (seconds === undefined || seconds > 1e11)
    throw invalid(field, "must be a Unix time in seconds, at most 1e11");
  return seconds * 1000;
}

const invalid = (field: string, reason: string): ServiceError =>
  new ServiceError("INVALID_REQUEST", `${field} ${reason}`, { field });
