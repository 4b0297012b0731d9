import {
  type ApiDescription,
  createHttpServer,
  type HttpOptions,
  type HttpServices,
} from "@causeway/service-kit";
import { openapiExamples } from "@causeway/wire";
import type { FastifyInstance } from "fastify";
import type { RouteServices } from "./ports/route-services.ts";
import { chainAliases } from "./routes/chain-aliases.ts";
import { addRoutes } from "./routes/index.ts";

const description: ApiDescription = {
  title: "Causeway API",
  version: "1.0.0",
  description:
    "Cross-chain intents: ask for a quote, execute its steps, and follow the request until the money has arrived or was refunded. " +
    "Amounts are strings of digits in base units; request fields that are not listed are ignored. " +
    "Status changes are also pushed: over WebSocket at `/` of this host, as server-sent events, and to webhooks. " +
    "The examples use the chains and currencies of the local system (`npm start`).",
  servers: [
    { url: "/", description: "The instance that serves this document" },
    { url: "http://127.0.0.1:18500", description: "The local system (npm start)" },
  ],
  tags: [
    { name: "chains", description: "Chains of this instance, their health and liquidity." },
    { name: "currencies", description: "Supported tokens and their prices." },
    { name: "quote", description: "Prices, and the steps to execute." },
    { name: "execute", description: "Calls that the service sends for users, paid by an app." },
    { name: "fast-fill", description: "Fills ahead of the deposit, secured by an app balance." },
    { name: "status", description: "The state of a request and where its money is." },
    { name: "requests", description: "Past requests, their traces and deposit addresses." },
    { name: "transactions", description: "Report a transaction before the service finds it itself." },
    { name: "app balance", description: "What an app can pay for its users: balances, holds and claims." },
    { name: "keys", description: "Usage of an API key." },
    { name: "webhooks", description: "Status changes, posted to your own server." },
    { name: "admin", description: "API keys, for the holder of the operator token." },
    { name: "health", description: "For orchestrators." },
  ],
  examples: openapiExamples,
  aliases: { QuoteRequest: chainAliases },
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
