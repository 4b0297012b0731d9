import { createHttpServer } from "@causeway/service-kit";
import type { HttpOptions, HttpServices } from "@causeway/service-kit";
import type { FastifyInstance } from "fastify";
import { healthRoutes, type HealthRouteNeeds } from "./health.route.ts";
import { withTypes } from "./typed.route.ts";

/** The worker's own server: health for orchestrators and metrics for operators. The caller listens. */
export async function buildHealthServer(
  services: HttpServices & HealthRouteNeeds,
  options: Pick<HttpOptions, "metrics"> = {},
): Promise<FastifyInstance> {
  const description = {
    title: "Causeway worker",
    version: "1.0.0",
    description: "Health and metrics of the worker process.",
    tags: [{ name: "health", description: "For orchestrators." }],
  };
  const app = await createHttpServer(services, description, { ...options, interactiveDocumentation: false });
  healthRoutes(withTypes(app), services);
  return app;
}
