import { walletSignatures } from "../balances/balances.wiring.ts";
import { startCallers } from "../callers/callers.wiring.ts";
import { createCodeCache } from "../chains/code-cache.adapter.ts";
import { createTokenPermits } from "../chains/token-permits.adapter.ts";
import { tokenQuirks } from "../chains/token-quirks.wiring.ts";
import { monotonicClock } from "../config/monotonic-clock.ts";
import { pollFacts } from "../db/polled-facts.postgres.ts";
import { pooledRandomBytes } from "../db/pooled-bytes.adapter.ts";
import { createReportTurns, REQUEST_REPORT_LIMITS } from "../db/report-turns.ts";
import { sharedAnswers } from "../db/shared-answers.ts";
import { storeQuotes } from "../deposits/addresses/store-quotes.ts";
import { leaderReads } from "../deposits/leader-reads.postgres.ts";
import { createScanProgress } from "../deposits/scan-progress.ts";
import { addressFormatOf } from "../chains/format-ids.ts";
import { groupedQuoteInserts } from "../deposits/addresses/quoted-requests.postgres.ts";
import { walletNonces } from "../deposits/non-evm/wallet-nonces.ts";
import { createCurrencySearch } from "../discovery/search-currencies.ts";
import { createChainList } from "../discovery/list-chains.ts";
import { groupedAcceptance } from "../executions/grouped-acceptance.adapter.ts";
import { permitAcceptance } from "../executions/permits/permits.wiring.ts";
import { idempotencyStore } from "../http/idempotency-store.postgres.ts";
import { startRateLimits } from "../http/limits.wiring.ts";
import { everyConnectedChain } from "../http/connected-chain.ts";
import { useCasesOf } from "../http/use-cases.ts";
import { startTokenBook, startTraffic } from "../markets/tokens/tokens.wiring.ts";
import { workerPresence } from "../notices/checks.ts";
import { startNotices } from "../notices/notices.wiring.ts";
import { pauseAdmin } from "../payments/policy/pause-admin.ts";
import { pauseStore } from "../payments/policy/policy.postgres.ts";
import { sponsorReads } from "../payments/sponsors.postgres.ts";
import { startPush, webhookAdministration } from "../push/push.wiring.ts";
import { addressServices } from "../quotes/deposit-addresses.wiring.ts";
import { routeSeconds } from "../quotes/route-seconds.ts";
import { ledTasks } from "../reconcile/leader-report.ts";
import { readinessCheck } from "../reconcile/readiness.ts";
import { startHistory } from "../requests/history/history.wiring.ts";
import { startSearches } from "../requests/history/searches.wiring.ts";
import { createRequestSignature } from "../requests/request-signature.ts";
import { openOrderSigner } from "../requests/signing/order-signer.wiring.ts";
import { pushGauges } from "../telemetry/push-gauges.ts";
import { traceQuotes } from "../telemetry/traced-events.ts";
import { quoteCounts } from "../telemetry/quote-counts.ts";
import { connectionsOf, logConnections } from "./connections.ts";
import type { Context } from "./context.ts";
import type { RouteContext } from "./index.route.ts";

/** How often the facts that quotes share are read. */
const POLL_INTERVAL_MS = 1_000;
/** Limits for sharing answers: reports of one transaction within `keptMs` count as one report. */
const SHARED_REPORTS = { keptMs: 2_000, limit: 10_000 };

/** Starts the services that the API's routes need. */
export async function startApi(context: Context): Promise<RouteContext> {
  const { config, log, registry, sql, chains, clock, reads, events, signer, lifecycle } = context;
  logConnections(log, connectionsOf("api", config.database), context.serverLimits);
  const connectedChains = everyConnectedChain(chains);
  const polled = await pollFacts(reads, events, POLL_INTERVAL_MS);
  lifecycle.add("polled facts", () => polled.close());

  const orderSigner = await openOrderSigner(context);
  const quoting = {
    ...context,
    tokens: await startTokenBook(context),
    permitTokens: createTokenPermits(chains, monotonicClock),
    solver: signer.address,
    signOrder: orderSigner.signOrder,
    random: pooledRandomBytes(),
    walletNonces: walletNonces(),
    requests: storeQuotes(context, groupedQuoteInserts(sql)),
    recipientCodes: createCodeCache(chains),
    quirks: tokenQuirks(context),
    sponsors: sponsorReads(sql),
    reservations: { reserved: polled.reserved },
    pauses: polled.pauses,
    timings: { estimateSeconds: routeSeconds(connectedChains, polled.routeMs) },
  };
  const searches = startSearches(context);
  const useCases = useCasesOf({
    ...addressServices(context, quoting),
    ...quoting,
    ...permitAcceptance(context),
    accept: groupedAcceptance(quoting),
    signatures: walletSignatures(context),
    traffic: startTraffic(context),
    scanProgress: createScanProgress(reads, clock),
    history: await startHistory(context, searches),
    searchLimiter: searches.limiter,
    reportTurnOf: createReportTurns(context.uow),
    requestTurnOf: createReportTurns(context.uow, REQUEST_REPORT_LIMITS),
    sharedReports: sharedAnswers<{ message: string }>(SHARED_REPORTS),
  });
  const { push, feed } = startPush(context);
  const leaderTasks = ledTasks(chains, config.settlement !== undefined);
  startNotices(context, [workerPresence(leaderTasks, leaderReads(sql), () => performance.now())]);
  pushGauges(registry, () => ({ ...push.sockets, ...feed.figures() }));
  return {
    ...useCases,
    ...startCallers(context, searches),
    clock,
    pauseAdmin: pauseAdmin({
      store: pauseStore(sql),
      clock,
      events,
      isKnownChain: (chainId) => chains.profile(chainId) !== undefined,
    }),
    operatorToken: config.access.operatorToken,
    idempotency: idempotencyStore(sql),
    limits: await startRateLimits(context),
    countQuote: quoteCounts(registry),
    traceQuote: traceQuotes(context.traces, clock),
    listChains: createChainList({ chains, solverAddress: signer.address }),
    searchCurrencies: createCurrencySearch(quoting),
    requestSignature: createRequestSignature({ ...context, orderSigner }),
    readiness: readinessCheck(context, { requiredChains: config.requiredChains }),
    addressFormat: addressFormatOf(chains),
    webhooks: webhookAdministration(context),
    push,
  };
}
