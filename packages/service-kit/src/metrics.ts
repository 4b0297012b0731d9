import type { FastifyInstance } from "fastify";
import { collectDefaultMetrics, Registry } from "prom-client";

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

/** Serves `GET /metrics`. */
export function serveMetrics(app: FastifyInstance, { registry }: Metrics): void {
  app.get("/metrics", { schema: { hide: true } }, async (_request, reply) =>
    reply.type(registry.contentType).send(await registry.metrics()),
  );
}
