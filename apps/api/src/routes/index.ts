import type { FastifyInstance } from "fastify";
import type { RouteServices } from "../ports/route-services.ts";
import { checkKeys } from "./access.ts";
import { chainsRoute } from "./chains.ts";
import { healthRoutes } from "./health.ts";
import { intentStatusRoutes } from "./intent-status.ts";
import { quoteRoutes } from "./quote.ts";
import { requestSignatureRoute } from "./request-signature.ts";
import { transactionsIndexRoute } from "./transactions-index.ts";
import { transactionsSingleRoute } from "./transactions-single.ts";
import { typed } from "./typed.ts";

/** Every endpoint, in the order of the documentation. */
const routes = [
  chainsRoute,
  quoteRoutes,
  intentStatusRoutes,
  requestSignatureRoute,
  transactionsIndexRoute,
  transactionsSingleRoute,
  healthRoutes,
] as const;

export function addRoutes(app: FastifyInstance, services: RouteServices): void {
  checkKeys(app, services);
  for (const add of routes) add(typed(app), services);
}
