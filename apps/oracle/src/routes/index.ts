import type { FastifyInstance } from "fastify";
import type { RouteServices } from "../ports/route-services.ts";
import { chainsRoute } from "./chains.ts";
import { depositoryDepositsRoute } from "./depository-deposits.ts";
import { depositoryWithdrawalsRoute } from "./depository-withdrawals.ts";
import { livesRoute } from "./lives.ts";
import { nonceMappingRoute } from "./nonce-mapping.ts";
import { shadowReportRoute } from "./shadow-report.ts";
import { solverFillsRoute } from "./solver-fills.ts";
import { solverRefundsRoute } from "./solver-refunds.ts";
import { statusRoute } from "./status.ts";
import { type RouteOptions, typed } from "./typed.ts";
import { withdrawalInitiatedRoute } from "./withdrawal-initiated.ts";
import { withdrawalInitiationRoute } from "./withdrawal-initiation.ts";

/** Every endpoint, in the order of the documentation. */
const routes = [
  livesRoute,
  chainsRoute,
  depositoryDepositsRoute,
  depositoryWithdrawalsRoute,
  solverFillsRoute,
  solverRefundsRoute,
  withdrawalInitiationRoute,
  withdrawalInitiatedRoute,
  nonceMappingRoute,
  shadowReportRoute,
  statusRoute,
] as const;

export function addRoutes(app: FastifyInstance, services: RouteServices, options: RouteOptions): void {
  for (const add of routes) add(typed(app), services, options);
}
