import { ServiceError } from "@causeway/domain";
import type { FastifyInstance } from "fastify";
import { collectDefaultMetrics, type CollectFunction, Registry } from "prom-client";
import { bearerTokenCheck } from "./bearer-token.ts";

/** All metrics of one process. Created once and passed down; never a global registry. */
export interface Metrics {
  readonly registry: Registry;
}

/**
 * How long a scrape waits for a metric to read its value. Scrapers give up after about ten seconds and then
 * have no metrics at all.
 */
const COLLECT_TIMEOUT_MS = 3_000;

/** A registry whose metrics keep their last values while their source does not answer. */
class TimeLimitedRegistry extends Registry {
  override registerMetric(metric: Parameters<Registry["registerMetric"]>[0]): void {
    // Not visible in the types, but every metric reads this property when it is collected.
    const collecting = metric as { collect?: CollectFunction<typeof metric> };
    const { collect } = collecting;
    if (collect !== undefined)
      collecting.collect = (): void | Promise<void> => {
        const collection = collect.call(metric);
        return collection instanceof Promise ? awaitCollection(collection) : collection;
      };
    super.registerMetric(metric);
  }
}

async function awaitCollection(collection: Promise<void>): Promise<void> {
  const timeout = Promise.withResolvers<void>();
  const timer = setTimeout(timeout.resolve, COLLECT_TIMEOUT_MS);
  try {
    await Promise.race([collection, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Starts to collect the process's own metrics (memory, event loop, GC). `service` becomes a label of every
 * series.
 */
export function createMetrics(service: string): Metrics {
  const registry = new TimeLimitedRegistry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  return { registry };
}

/** Access to `GET /metrics`: everyone who reaches the port, the bearer of a token, or no one (404). */
export type MetricsAccess = "open" | "closed" | { readonly token: string };

/** Serves `GET /metrics`. It contains balances and errors, so a public port must not serve it openly. */
export function serveMetrics(
  app: FastifyInstance,
  { registry }: Metrics,
  access: MetricsAccess = "open",
): void {
  const isAllowed = typeof access === "string" ? () => true : bearerTokenCheck(access.token);
  app.get("/metrics", { schema: { hide: true } }, async (request, reply) => {
    if (access === "closed")
      throw new ServiceError(
        "NOT_FOUND",
        "GET /metrics is disabled; the operator enables it with METRICS_TOKEN",
      );
    if (!isAllowed(request))
      throw new ServiceError(
        "UNAUTHORIZED",
        "Metrics token missing or wrong; send METRICS_TOKEN as Authorization: Bearer",
      );
    return reply.type(registry.contentType).send(await registry.metrics());
  });
}
