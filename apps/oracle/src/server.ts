import { createHttpServer, errorAnswer, type HttpServices, sendJson } from "@causeway/service-kit";
import type { FastifyInstance } from "fastify";

/**
 * Stands where the attestation oracle will be: it is alive, and says 501 to every question. It attests nothing and holds no key.
 * Never listens.
 */
export async function buildPlaceholder(services: HttpServices): Promise<FastifyInstance> {
  const app = await createHttpServer(
    services,
    {
      title: "Causeway attestation oracle (not built yet)",
      version: "0.0.0",
      description: "Only says that it is alive.",
      tags: [],
    },
    { interactiveDocumentation: false },
  );
  app.get("/lives/v1", { schema: { summary: "The process runs" } }, async () => ({ status: "ok" }));
  app.route({
    method: ["GET", "POST", "PUT", "PATCH", "DELETE"],
    url: "/*",
    schema: { hide: true },
    handler: (_request, reply) => {
      const { status, body } = errorAnswer(
        501,
        "SERVICE_UNAVAILABLE",
        "the attestation oracle is not built yet",
      );
      return sendJson(reply.code(status), JSON.stringify(body));
    },
  });
  return app;
}
