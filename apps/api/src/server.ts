import {
  type ApiDescription,
  createHttpServer,
  type HttpOptions,
  type HttpServices,
} from "@causeway/service-kit";
import type { FastifyInstance } from "fastify";
import type { RouteServices } from "./ports/route-services.ts";
import { addRoutes } from "./routes/index.ts";

const description: ApiDescription = {
  title: "Causeway API",
  version: "1.0.0",
  description:
    "Cross-chain intents: ask for a quote, carry out its steps, follow the request until the money arrived or came back. " +
    "Amounts are strings of digits in smallest units; fields of a request that are not listed are ignored.",
  tags: [
    { name: "chains", description: "What this instance serves." },
    { name: "currencies", description: "Which tokens there are, and what they are worth." },
    { name: "quote", description: "Prices and steps." },
    { name: "execute", description: "Calls that the service sends for users, paid by an app." },
    { name: "fast-fill", description: "Fills that do not wait for the deposit, vouched for by an app." },
    { name: "status", description: "Where a request and its money are." },
    { name: "transactions", description: "Tell the service of a transaction before it finds it by itself." },
    { name: "keys", description: "What an API key has been used for." },
    { name: "webhooks", description: "Changes posted to an integrator's own server." },
    { name: "admin", description: "API keys, for whoever has the operator's token." },
    { name: "health", description: "For orchestrators." },
  ],
  securitySchemes: {
    apiKey: { type: "apiKey", in: "header", name: "x-api-key", description: "An API key." },
    bearer: { type: "http", scheme: "bearer", description: "The same key as `Authorization: Bearer`." },
    operatorToken: { type: "http", scheme: "bearer", description: "The token of the instance's operator." },
  },
};

/** The API's HTTP server with all its routes. Never listens. */
export async function buildServer(
  services: HttpServices & RouteServices,
  options: HttpOptions = {},
): Promise<FastifyInstance> {
  const app = await createHttpServer(services, description, options);
  await addRoutes(app, services);
  return app;
}
