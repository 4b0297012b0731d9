import { readTraceparent, type Traces } from "@causeway/service-kit";
import type { FastifyInstance } from "fastify";

/** Records each answer whose caller named a trace, as a span of that trace. Must precede the routes. */
export function traceAttestations(app: FastifyInstance, traces: Traces): void {
  app.addHook("onResponse", (request, reply, done) => {
    const parent = readTraceparent(request.headers["traceparent"]);
    const { url } = request.routeOptions;
    if (parent !== undefined && url?.startsWith("/attestations/") === true) {
      const endMs = Date.now();
      traces.record({
        ...parent,
        name: `POST ${url}`,
        startMs: endMs - reply.elapsedTime,
        endMs,
        attributes: { "http.response.status_code": reply.statusCode },
        isError: reply.statusCode >= 500,
      });
    }
    done();
  });
}
