import { ServiceError } from "@causeway/domain";
import type { FastifyInstance } from "fastify";
import { collectDefaultMetrics, Registry } from "prom-client";
import { bearerTokenCheck } from "./bearer-token.ts";

/** All counters of one process. Made once per process and passed down; never a global registry. */
export interface Metrics {
  readonly registry: Registry;
}

/** Starts to collect the process's own figures (memory, event loop, GC). `service` becomes a label of every series. */
export function createMetrics(service: string): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  return { registry };
}

/** Who may read `GET /metrics`: everyone who reaches the port, the bearer of a token, or nobody (the route does not exist). */
export type MetricsAccess = "open" | "closed" | { readonly token: string };

/** Serves `GET /metrics`. Balances and refusals are in it, so a public port must not serve it openly. */
export function serveMetrics(
  app: FastifyInstance,
  { registry }: Metrics,
  access: MetricsAccess = "open",
): void {
  if (access === "closed") return;
  const isAllowed = access === "open" ? () => true : bearerTokenCheck(access.token);
  app.get("/metrics", { schema: { hide: true } }, async (request, reply) => {
    if (!isAllowed(request))
      throw new ServiceError("UNAUTHORIZED", "METRICS_TOKEN is required as Authorization: Bearer");
    return reply.type(registry.contentType).send(await registry.metrics());
  });
}
