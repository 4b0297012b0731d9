import type { FastifyInstance } from "fastify";
import { collectDefaultMetrics, Registry } from "prom-client";
import { routeTimes } from "./route-times.ts";

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

/**
 * Serves `GET /metrics` and times every answer of the routes added later, by route pattern (few series) and status.
 * Call it once per registry and before the routes are added.
 */
export function serveMetrics(app: FastifyInstance, { registry }: Metrics): void {
  const timesOf = routeTimes(registry);
  app.addHook("onRoute", (route) => {
    const note = timesOf([route.method].flat().join(","), route.url);
    // A hook per route knows its route; asking the request for it would build an object per answer.
    route.onResponse = [
      ...[route.onResponse ?? []].flat(),
      (_request, reply, done) => {
        note(reply.statusCode, reply.elapsedTime);
        done();
      },
    ];
  });
  app.get("/metrics", { schema: { hide: true } }, async (_request, reply) =>
    reply.type(registry.contentType).send(await registry.metrics()),
  );
}
