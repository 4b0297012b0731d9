import { signatureToHex, signPersonalMessage } from "@causeway/attest";
import type { Hex32, OrderId } from "@causeway/domain";
import { appBalanceRouteServices } from "../balances/balances.wiring.ts";
import { startCallers } from "../callers/callers.wiring.ts";
import { createCodeCache } from "../chains/code-cache.adapter.ts";
import { createTokenPermits } from "../chains/token-permits.adapter.ts";
import { tokenQuirks } from "../chains/token-quirks.wiring.ts";
import { monotonicClock } from "../config/monotonic-clock.ts";
import { pollFacts } from "../db/polled-facts.postgres.ts";
import { pooledRandomBytes } from "../db/pooled-bytes.adapter.ts";
import { createReportTurns } from "../db/report-turns.ts";
import { sharedAnswers } from "../db/shared-answers.ts";
import { storeQuotes } from "../deposits/addresses/give-address.ts";
import { lookUpAddress } from "../deposits/addresses/look-up-address.ts";
import { groupedQuoteInserts } from "../deposits/addresses/quoted-requests.postgres.ts";
import { reindexAddress } from "../deposits/addresses/reindex-address.ts";
import { indexTransaction } from "../deposits/index-transaction.ts";
import { walletNonces } from "../deposits/non-evm/wallet-nonces.ts";
import { recordSingleTransaction } from "../deposits/record-single-transaction.ts";
import { readReport } from "../deposits/reported-transaction.ts";
import { discoveryRoutes } from "../discovery/discovery.wiring.ts";
import { createChainList } from "../discovery/list-chains.ts";
import { swapSources } from "../discovery/swap-sources.ts";
import { executeCalls } from "../executions/execute-calls.ts";
import { groupedAcceptance } from "../executions/grouped-acceptance.adapter.ts";
import { executePermit } from "../executions/permits/execute-permit.ts";
import { permitAcceptance } from "../executions/permits/permits.wiring.ts";
import { requestFastFill } from "../executions/request-fast-fill.ts";
import { idempotencyStore } from "../http/idempotency-store.postgres.ts";
import { startRateLimits } from "../http/limits.wiring.ts";
import type { RouteServices } from "../http/route-services.port.ts";
import { startTokenBook, startTraffic } from "../markets/tokens/tokens.wiring.ts";
import { sponsorReads } from "../payments/sponsors.postgres.ts";
import { startPush, webhookAdministration } from "../push/push.wiring.ts";
import { quoteAs } from "../quotes/create-quote.ts";
import { addressServices } from "../quotes/deposit-addresses.wiring.ts";
import { priceIntent } from "../quotes/price-intent.ts";
import { routeSeconds } from "../quotes/route-seconds.ts";
import { readinessCheck } from "../reconcile/readiness.ts";
import { historyRouteServices } from "../requests/history/history.wiring.ts";
import { startSearches } from "../requests/history/searches.wiring.ts";
import { createRequestSignature } from "../requests/request-signature.ts";
import { requestStatus, statusByIdOrDeposit } from "../requests/request-status.ts";
import { authorizeNonce } from "../settlement/nonce-mappings/authorize-nonce.ts";
import { pushGauges } from "../telemetry/push-gauges.ts";
import { quoteCounts } from "../telemetry/quote-counts.ts";
import { connectionsOf, logConnections } from "./connections.ts";
import type { Context } from "./context.ts";

/** Maximum age of the facts that quotes share. */
const POLLED_EVERY_MS = 1_000;
/** Reports of one transaction within this time are one report. */
const INDEXING = { keptMs: 2_000, limit: 10_000 };

/** Starts what the API's routes need. */
export async function startApi(context: Context): Promise<RouteServices> {
  const { config, log, registry, sql, chains, reads, events, signer, lifecycle, serverLimits } = context;
  logConnections(log, connectionsOf("api", config.database), serverLimits);
  const ends = [...chains.all, ...chains.rails];
  const polled = await pollFacts(
    reads,
    events,
    ends.map(({ chain }) => chain.id),
    POLLED_EVERY_MS,
  );
  lifecycle.add("polled facts", () => polled.close());
  const quoting = {
    ...context,
    tokens: await startTokenBook(context),
    permitTokens: createTokenPermits(chains, monotonicClock),
    solver: signer.address,
    signOrder: (orderId: OrderId) => signPersonalMessage(signer, orderId),
    signDigest: async (digest: Hex32) => signatureToHex(await signer.signDigest(digest)),
    random: pooledRandomBytes(),
    walletNonces: walletNonces(),
    requests: storeQuotes(context, groupedQuoteInserts(sql)),
    recipientCodes: createCodeCache(chains),
    quirks: tokenQuirks(context),
    sponsors: sponsorReads(sql),
    reservations: { reserved: polled.reserved },
    timings: { estimateSeconds: routeSeconds(ends, polled.routeMs) },
  };
  const executing = { ...quoting, accept: groupedAcceptance(quoting) };
  const permitting = { ...context, ...permitAcceptance(context) };
  const addresses = { ...addressServices(context, quoting), tokens: quoting.tokens };
  const { push, feed } = startPush(context);
  pushGauges(registry, () => ({ ...push.sockets, ...feed.figures() }));
  const countQuote = quoteCounts(registry);
  const turnOf = createReportTurns(context.uow);
  const searches = startSearches(context);
  const sharedIndexing = sharedAnswers<{ message: string }>(INDEXING);
  return {
    listChains: createChainList({ chains, solverAddress: signer.address }),
    swapSources: (chainId) => swapSources(context, chainId),
    createQuote: (input, tell, keyId, key) => countQuote(quoteAs(quoting, input, tell, keyId, key)),
    priceIntent: (input, keyId, key) => priceIntent(quoting, input, keyId, key),
    executeCalls: (caller, input, lease) => executeCalls(executing, caller, input, lease),
    executePermit: (posted, keep) => executePermit(permitting, posted, keep),
    authorizeNonce: (authorization) => authorizeNonce(context, authorization),
    requestFastFill: (wish) => requestFastFill(context, wish),
    requestStatus: statusByIdOrDeposit((requestId) => requestStatus(context, requestId), reads),
    requestSignature: createRequestSignature(context),
    indexTransaction: (report, caller) =>
      sharedIndexing(
        // Callers take turns: the refusal of one caller must not be shared with another.
        `${caller}:${report.chainId}:${report.txHash}:${report.requestId ?? ""}`,
        async () =>
          await indexTransaction(
            { ...context, uow: turnOf({ caller, chainId: report.chainId }) },
            readReport(chains, report),
          ),
      ),
    recordSingleTransaction: async (report, caller) =>
      await recordSingleTransaction(
        { ...context, uow: turnOf({ caller, chainId: report.chainId }) },
        readReport(chains, report),
      ),
    readiness: readinessCheck(context, { requiredChains: config.requiredChains }),
    depositAddresses: {
      reindex: (wish) => reindexAddress(addresses, wish),
      lookUp: (by, askerKeyId) => lookUpAddress(addresses, by, askerKeyId),
    },
    discovery: discoveryRoutes({ ...quoting, traffic: startTraffic(context) }),
    appBalance: appBalanceRouteServices(context),
    history: await historyRouteServices(context, searches),
    ...startCallers(context, searches),
    operatorToken: config.access.operatorToken,
    idempotency: idempotencyStore(sql),
    limits: await startRateLimits(context),
    clock: context.clock,
    webhooks: webhookAdministration(context),
    push,
  };
}
