import type { FastifyInstance } from "fastify";
import { collectDefaultMetrics, Counter, Histogram, Registry } from "prom-client";

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

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Serves `GET /metrics` and counts every answer by route, method and status. Route patterns, not URLs: few series. */
export function serveMetrics(app: FastifyInstance, { registry }: Metrics): void {
  const seconds = new Histogram({
    name: "http_request_duration_seconds",
    help: "Time from the first byte of a request to the last byte of its answer",
    labelNames: ["method", "route", "status"],
    buckets: SECONDS,
    registers: [registry],
  });
  const faults = new Counter({
    name: "http_server_errors_total",
    help: "Answers with a status of 500 or above",
    labelNames: ["method", "route"],
    registers: [registry],
  });
  app.addHook("onResponse", (request, reply, done) => {
    const route = request.routeOptions.url ?? "unknown";
    const labels = { method: request.method, route };
    seconds.observe({ ...labels, status: reply.statusCode }, reply.elapsedTime / 1000);
    if (reply.statusCode >= 500) faults.inc(labels);
    done();
  });
  app.get("/metrics", { schema: { hide: true } }, async (_request, reply) =>
    reply.type(registry.contentType).send(await registry.metrics()),
  );
}
