import type { FastifyInstance } from "fastify";
import type { TypedServer } from "../http/typed.route.ts";
import { checkKeys, type AccessServices } from "../http/access.route.ts";
import { adminKeysRoutes } from "../callers/admin-keys.route.ts";
import { appBalanceClaimRoutes } from "../balances/app-balance-claims.route.ts";
import { appBalanceRoutes } from "../balances/app-balances.route.ts";
import { authorizeRoute } from "../settlement/nonce-mappings/authorize.route.ts";
import { chainHealthRoute } from "../discovery/chain-health.route.ts";
import { chainLiquidityRoute } from "../discovery/chain-liquidity.route.ts";
import { chainsRoute } from "../discovery/chains.route.ts";
import { currenciesRoutes } from "../discovery/currencies.route.ts";
import { depositAddressReindexRoute } from "../deposits/addresses/deposit-address-reindex.route.ts";
import { depositAddressesRoute } from "../deposits/addresses/deposit-addresses.route.ts";
import { executeRoute } from "../executions/execute.route.ts";
import { executePermitsRoute } from "../executions/execute-permits.route.ts";
import { fastFillRoute } from "../executions/fast-fill.route.ts";
import { healthRoutes } from "../http/health.route.ts";
import { intentStatusRoutes } from "../requests/intent-status.route.ts";
import { adminPausesRoutes } from "../payments/policy/admin-pauses.route.ts";
import { priceRoute } from "../quotes/price.route.ts";
import { quoteRoutes } from "../quotes/quote.route.ts";
import { limitRates } from "../http/rate-limit.route.ts";
import { routeConfigRoutes } from "../discovery/route-config.route.ts";
import { requestMetadataRoute } from "../requests/request-metadata.route.ts";
import { requestSignatureRoutes } from "../requests/request-signature.route.ts";
import { requestTraceRoute } from "../requests/history/request-trace.route.ts";
import { requestsV2Routes } from "../requests/history/requests-v2.route.ts";
import { requestsV3Route } from "../requests/history/requests-v3.route.ts";
import { statusSockets } from "../push/status-sockets.route.ts";
import { statusStreamRoute } from "../push/status-stream.route.ts";
import { swapSourcesRoute } from "../discovery/swap-sources.route.ts";
import { tokenPriceRoutes } from "../discovery/token-price.route.ts";
import { transactionsIndexRoute } from "../deposits/transactions-index.route.ts";
import { transactionsSingleRoute } from "../deposits/transactions-single.route.ts";
import { trendingRoute } from "../discovery/trending.route.ts";
import { withTypes } from "../http/typed.route.ts";
import { webhookRoutes } from "../push/webhooks.route.ts";
import { usageRoute } from "../callers/usage.route.ts";

/** Every endpoint, in the order of the documentation. */
const routes = [
  chainsRoute,
  chainLiquidityRoute,
  chainHealthRoute,
  swapSourcesRoute,
  currenciesRoutes,
  trendingRoute,
  tokenPriceRoutes,
  routeConfigRoutes,
  quoteRoutes,
  priceRoute,
  executeRoute,
  executePermitsRoute,
  authorizeRoute,
  fastFillRoute,
  intentStatusRoutes,
  statusStreamRoute,
  requestSignatureRoutes,
  requestsV3Route,
  requestsV2Routes,
  requestTraceRoute,
  requestMetadataRoute,
  transactionsIndexRoute,
  transactionsSingleRoute,
  depositAddressReindexRoute,
  depositAddressesRoute,
  appBalanceRoutes,
  appBalanceClaimRoutes,
  usageRoute,
  webhookRoutes,
  adminKeysRoutes,
  adminPausesRoutes,
  healthRoutes,
] as const;

/** The services of all routes. An endpoint that needs no new service adds nothing here. */
export type RouteContext = AccessServices &
  Parameters<typeof statusSockets>[1] &
  ((typeof routes)[number] extends (app: TypedServer, context: infer Needs) => void ? Needs : never);

export async function addRoutes(app: FastifyInstance, context: RouteContext): Promise<void> {
  // Check keys first: rate limits count requests by API key.
  checkKeys(app, context);
  await limitRates(app, context.limits);
  for (const add of routes) add(withTypes(app), context);
  statusSockets(app, context);
}
