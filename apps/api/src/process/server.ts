import {
  type ApiDescription,
  createHttpServer,
  type HttpOptions,
  type HttpServices,
} from "@causeway/service-kit";
import { openapiExamples } from "@causeway/wire";
import type { FastifyInstance } from "fastify";
import { chainAliases } from "../http/chain-aliases.route.ts";
import { addRoutes, type RouteContext } from "./index.route.ts";

const description: ApiDescription = {
  title: "Causeway API",
  version: "1.0.0",
  description:
    "Cross-chain intents: request a quote, execute its steps, and follow the request until the funds arrive or are refunded. " +
    "Amounts are strings of decimal digits in base units. Unknown request fields are ignored. " +
    "Status changes are also pushed over WebSocket at `/`, as server-sent events, and to webhooks. " +
    "The examples use the chains and currencies of the local system (`npm start`).",
  servers: [
    { url: "/", description: "This instance" },
    { url: "http://127.0.0.1:18500", description: "The local system (npm start)" },
  ],
  tags: [
    { name: "chains", description: "Chains of this instance, with health and liquidity." },
    { name: "currencies", description: "Supported tokens and their prices." },
    { name: "quote", description: "Prices and the steps to execute." },
    { name: "execute", description: "Calls that the service sends for users, paid for by an app." },
    { name: "fast-fill", description: "Fills before the deposit arrives, secured by an app balance." },
    { name: "status", description: "Status of a request and location of its funds." },
    { name: "requests", description: "Past requests, their traces and deposit addresses." },
    { name: "transactions", description: "Report a transaction before the service detects it." },
    { name: "app balance", description: "App balances, which pay for users, with their holds and claims." },
    { name: "keys", description: "Usage of an API key." },
    { name: "webhooks", description: "Status changes posted to your server." },
    { name: "admin", description: "API key management with the operator token." },
    { name: "health", description: "Health checks for orchestrators." },
  ],
  examples: openapiExamples,
  aliases: { QuoteRequest: chainAliases },
  securitySchemes: {
    apiKey: { type: "apiKey", in: "header", name: "x-api-key", description: "An API key." },
    bearer: { type: "http", scheme: "bearer", description: "The same API key as `Authorization: Bearer`." },
    operatorToken: { type: "http", scheme: "bearer", description: "Token of the instance's operator." },
  },
};

/** The API's HTTP server with all its routes, not listening yet. */
export async function buildServer(
  context: HttpServices & RouteContext,
  options: HttpOptions = {},
): Promise<FastifyInstance> {
  const app = await createHttpServer(context, description, options);
  await addRoutes(app, context);
  return app;
}
