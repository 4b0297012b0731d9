import { livenessAnswer, readinessAnswer } from "@causeway/wire";
import type { ReadinessAnswer } from "@causeway/wire";
import { errors, type TypedServer } from "./typed.route.ts";

export interface HealthRouteNeeds {
  readonly readiness: () => Promise<ReadinessAnswer>;
}

/**
 * `GET /health/live`, and `GET /lives` for older monitors: 200 while the process runs. `GET /health/ready`:
 * 200 if the process can do its work, otherwise 503.
 */
export function healthRoutes(app: TypedServer, services: HealthRouteNeeds): void {
  for (const [url, operationId] of [
    ["/health/live", "getLiveness"],
    ["/lives", "getLives"],
  ] as const)
    app.get(
      url,
      {
        config: { access: { kind: "unkeyed" }, limited: "not" },
        schema: {
          tags: ["health"],
          operationId,
          summary: "Check that the process is running",
          response: { 200: livenessAnswer },
        },
      },
      async () => ({ status: "ok" as const }),
    );
  app.get(
    "/health/ready",
    {
      config: { access: { kind: "unkeyed" }, limited: "not" },
      schema: {
        tags: ["health"],
        operationId: "getReadiness",
        summary: "Check that the process is ready",
        response: { 200: readinessAnswer, 503: readinessAnswer, ...errors(500) },
      },
    },
    async (_request, reply) => {
      const readiness = await services.readiness();
      return reply.code(readiness.ready ? 200 : 503).send(readiness);
    },
  );
}
