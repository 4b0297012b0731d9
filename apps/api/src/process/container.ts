import { rawKeySigner, signatureToHex, signPersonalMessage } from "@causeway/attest";
import { RpcFault, connectEvmChain, type EvmConnection } from "@causeway/chains";
import type { Address, AttestationHub, Chain, Hex32, OrderId } from "@causeway/domain";
import type { HttpServices, Lifecycle } from "@causeway/service-kit";
import { watchRedisMemory } from "../db/redis-memory.ts";
import { startOutboxRelay } from "../db/outbox-relay.adapter.ts";
import type { OutboxRelay } from "../db/outbox-relay.adapter.ts";
import { startWorkers } from "../db/worker-host.adapter.ts";
import { createCodeCache } from "../chains/code-cache.adapter.ts";
import { createChainDirectory } from "../chains/directory.adapter.ts";
import { createNodeLatency } from "../chains/node-latency.adapter.ts";
import { createChainPulse } from "../chains/pulse.adapter.ts";
import { balanceReads } from "../balances/balance-reads.postgres.ts";
import { checkSessions } from "../db/check-sessions.postgres.ts";
import { withDatabaseProblems } from "../db/database-problem.postgres.ts";
import { checkSchema } from "../db/migrations.postgres.ts";
import { leaderReads } from "../deposits/leader-reads.postgres.ts";
import { leaderLocks } from "../db/leader-locks.postgres.ts";
import { jobRuns } from "../db/job-runs.postgres.ts";
import { pollFacts } from "../db/polled-facts.postgres.ts";
import { createPool, sqlOn } from "../db/pool.postgres.ts";
import { groupedQuoteInserts } from "../deposits/addresses/quoted-requests.postgres.ts";
import { depositAddressReads } from "../deposits/addresses/deposit-address-reads.postgres.ts";
import {
  databaseBytes,
  oldestRows,
  oldestSnapshot,
  tableBytes,
} from "../telemetry/database-figures.postgres.ts";
import { openPayments } from "../payments/open-payments.postgres.ts";
import { outboxDepth } from "../db/outbox-depth.postgres.ts";
import { defaultPartitionRows, makePartitionsAhead } from "../requests/event-partitions.postgres.ts";
import { requestsUnderWay } from "../requests/requests-under-way.postgres.ts";
import { postgresReads } from "./reads.postgres.ts";
import { watchServer } from "../db/server-watch.postgres.ts";
import { sponsorReads } from "../payments/sponsors.postgres.ts";
import { settlementReads } from "../settlement/settlement-reads.postgres.ts";
import { postgresUnitOfWork } from "./unit-of-work.postgres.ts";
import { vetoedByPools } from "../markets/prices/pool-veto.adapter.ts";
import { createPriceBook } from "../markets/prices/price-book.adapter.ts";
import { priceAgeGauge } from "../telemetry/price-age-gauge.ts";
import { pooledRandomBytes } from "../db/pooled-bytes.adapter.ts";
import { loggedEvents } from "../telemetry/logged-events.ts";
import { reportUnaskedLogs } from "../chains/unasked-logs.adapter.ts";
import { balanceGauges } from "../telemetry/balance-gauges.ts";
import { leadershipGauges } from "../telemetry/leadership-gauges.ts";
import { databaseGauges } from "../telemetry/database-gauges.ts";
import { pruneGauge } from "../telemetry/prune-gauge.ts";
import { scanGauges } from "../telemetry/scan-gauges.ts";
import { chainHeadGauge } from "../telemetry/chain-head-gauge.ts";
import { heldGauge } from "../telemetry/held-gauge.ts";
import { queueGauges } from "../telemetry/queue-gauges.ts";
import { quoteCounts } from "../telemetry/quote-counts.ts";
import { requestGauges } from "../telemetry/request-gauges.ts";
import { rpcCallTimes, type ObserveEndpoint } from "../telemetry/rpc-call-times.ts";
import { settlementGauges } from "../telemetry/settlement-gauges.ts";
import { solverGauges } from "../telemetry/solver-gauges.ts";
import type { ApiConfig } from "../config/config.ts";
import type { WorkerKeys } from "../config/own-accounts.ts";
import { catalog } from "./catalog.job.ts";
import { settlePayments } from "../settlement/settle.job.ts";
import { watchChain } from "../watch/watch-chain.job.ts";
import { watchRail } from "../watch/watch-rail.job.ts";
import { monotonicClock } from "../config/monotonic-clock.ts";
import type { ConnectedChain, ConnectedRail } from "../chains/chains.port.ts";
import type { RouteServices } from "../http/route-services.port.ts";
import type { Services, WorkerServices } from "../db/services.port.ts";
import { accessServices } from "./access.ts";
import { connectionsOf, logConnections } from "./connections.ts";
import { executionPace, groupedAcceptance } from "./executions.ts";
import { appBalanceRouteServices } from "./app-balance.ts";
import { historyRouteServices } from "./history.ts";
import { startSearches } from "./searches.ts";
import { discoveryRoutes, tokenBook } from "./discovery.ts";
import { permitServices } from "./permits.ts";
import { pushRouteServices, startWebhooks, webhookRouteServices } from "./push.ts";
import { depositAddressRoutes, startDepositAddresses } from "./deposit-addresses.ts";
import { liquidityServices } from "./liquidity.ts";
import { MAX_DIVERGENCE_BPS, priceSource } from "./prices.ts";
import { connectRails, type RailProcess, withRailKeys } from "./rails.ts";
import { nonces } from "./nonces.ts";
import { settlementServices } from "./settlement.ts";
import { tokenQuirks } from "./token-quirks.ts";
import { reconcileClaims } from "../payments/reconcile-claims.ts";
import { authorizeNonce } from "../settlement/nonce-mappings/authorize-nonce.ts";
import { carryMappings } from "../settlement/nonce-mappings/carry-mappings.ts";
import { signMappings } from "../settlement/nonce-mappings/sign-mappings.ts";
import { quoteAs } from "../quotes/create-quote.ts";
import { swapSources } from "../discovery/swap-sources.ts";
import { usedContracts } from "../payments/used-contracts.postgres.ts";
import { checkUsedContracts } from "../payments/check-used-contracts.ts";
import { checkFactoryAtStart } from "../deposits/addresses/check-factory.ts";
import { storeQuotes } from "../deposits/addresses/give-address.ts";
import { executeCalls } from "../executions/execute-calls.ts";
import { indexTransaction } from "../deposits/index-transaction.ts";
import { createChainList } from "../discovery/list-chains.ts";
import { priceIntent } from "../quotes/price-intent.ts";
import { measuredQuoteGas } from "../quotes/quote-gas.ts";
import { ledTasks, leaderReport } from "../reconcile/leader-report.ts";
import { readinessCheck, type LeaderReport } from "../reconcile/readiness.ts";
import { repeating } from "./repeating.ts";
import { mayDeleteByAge } from "../markets/prices/plausible-clock.ts";
import { KEPT_MS, pruneHistory } from "../reconcile/prune-history.ts";
import { reconcileRequests } from "../reconcile/reconcile-requests.ts";
import { createPlanFaults } from "../payments/plan-faults.ts";
import { createScanProgress, scanLags } from "../deposits/scan-progress.ts";
import { recordSingleTransaction } from "../deposits/record-single-transaction.ts";
import { readReport } from "../deposits/reported-transaction.ts";
import { createReportTurns } from "../db/report-turns.ts";
import { sharedAnswers } from "../db/shared-answers.ts";
import { createRequestSignature } from "../requests/request-signature.ts";
import { requestFastFill } from "../executions/request-fast-fill.ts";
import { walletNonces } from "../deposits/non-evm/wallet-nonces.ts";
import { depositoryBalances, hubBalances } from "../settlement/held-elsewhere.ts";
import { requestStatus, statusByIdOrDeposit } from "../requests/request-status.ts";

/** How old the shared facts of quotes may be. */
const POLLED_EVERY_MS = 1_000;
const PRUNE_EVERY_MS = 60_000;
/** Nothing waits for these balances, and each costs calls to every chain. */
const HELD_EVERY_MS = 60_000;
const REDIS_MEMORY_EVERY_MS = 15_000;
/** Reports of one transaction within this time are one report. */
const INDEXING = { keptMs: 2_000, limit: 10_000 };
/** Gas prices and balances older than so many blocks, and than so many ms, price nothing any more. */
const PULSE_MAX_AGE_BLOCKS = 5;
const PULSE_MIN_MAX_AGE_MS = 30_000;
const PULSE_QUIET_REFRESH_MS = 5_000;
const PRICE_RETRY_MS = 1_000;

/** What both processes stand on. Each part is put down by the lifecycle it was given to. */
export interface Container {
  readonly services: Services;
  readonly connected: readonly ConnectedChain[];
  /** The API's part: use cases with their services given. */
  routes(): Promise<RouteServices>;
  /**
   * The worker's part: queues, relay, watchers, reconciler. All that signs for another account than the
   * solver's is made from these keys.
   */
  work(keys: WorkerKeys): Promise<Work>;
}

/** What a running worker reports. */
export interface Work {
  /** Settles when Redis has answered. */
  readonly ping: OutboxRelay["ping"];
  readonly leaders: LeaderReport;
}

/**
 * Builds everything from the configuration: the only place that knows every adapter.
 * @throws StartProblem when the database is away or not migrated, RpcFault of kind `wrongChain` when a node
 * serves another chain than configured, ServiceError when a deposit address factory is unsafe; a node that
 * does not answer now is waited for later.
 */
export async function createContainer(
  config: ApiConfig,
  { log, metrics, answersClients }: HttpServices & Pick<RailProcess, "answersClients">,
  lifecycle: Lifecycle,
): Promise<Container> {
  const events = loggedEvents(log, metrics.registry);
  const observe = rpcCallTimes(metrics.registry);
  const clock = { nowMs: () => Date.now() };
  const databaseUrl = config.database.url.reveal();
  const limits = await withDatabaseProblems(databaseUrl, async () => await checkSessions(databaseUrl));
  const pool = createPool(databaseUrl, {
    max: config.database.poolSize,
    statementTimeoutMs: config.database.statementTimeoutMs,
    applicationName: "causeway",
  });
  lifecycle.add("postgres", () => pool.end());
  await withDatabaseProblems(databaseUrl, async () => await checkSchema(pool));
  const sql = sqlOn(pool);
  const signer = rawKeySigner(config.solver.privateKey.reveal());
  const { accounts } = config;
  const executor = accounts.executor && { address: accounts.executor };
  const formerSigners = accounts.formerSolvers.map((address) => ({ address }));
  const depositAddressOperator = accounts.depositAddressOperator && {
    address: accounts.depositAddressOperator,
  };
  const gasPayers = [executor, depositAddressOperator].flatMap((key) => key?.address ?? []);
  const senders = { solver: signer.address, gasPayers };
  const connected = await Promise.all(
    config.chains.map((chain) =>
      connect(chain, senders, { clock, events, lifecycle, hub: config.settlement?.hub, observe }),
    ),
  );
  await Promise.all(
    connected.map((one) => checkFactoryAtStart({ signer, executor, depositAddressOperator }, one, events)),
  );
  const nonceMappings = nonces(config, { clock, sql, lifecycle });
  const rails = await connectRails(config, { clock, events }, lifecycle, nonceMappings?.ofHub, {
    ...(answersClients !== undefined && { answersClients }),
    observeEndpoint: observe,
  });
  const book = createPriceBook({
    source: priceSource(config, clock, (error) => events.fault("price_fault", error, {})),
    clock,
    priceIds: [
      ...new Set(
        [...config.chains, ...config.rails.map(({ chain }) => chain)].flatMap((chain) =>
          [chain.native, ...chain.tokens].map((one) => one.priceId),
        ),
      ),
    ],
    refreshMs: config.prices.refreshMs,
    maxAgeMs: config.prices.maxAgeMs,
    retryMs: PRICE_RETRY_MS,
    onFault: (error) => events.fault("price_fault", error, {}),
  });
  lifecycle.add("prices", () => book.close());
  priceAgeGauge(metrics.registry, book);
  // Without prices there are no quotes, but requests under way can still be refunded and reported.
  await book.refresh().catch((error: unknown) => events.fault("price_fault", error, { at: "start" }));
  const { liquidity, poolUsd } = liquidityServices(
    connected,
    { clock, events, prices: book },
    config.aggregator,
    lifecycle,
  );
  const prices = vetoedByPools(book, poolUsd, ({ class: kind }) => MAX_DIVERGENCE_BPS[kind], clock);
  const servers = watchServer();
  const services: Services = {
    clock,
    events,
    signer,
    formerSigners,
    executor,
    depositAddressOperator,
    prices,
    liquidity,
    poolUsd,
    chains: createChainDirectory(connected, rails),
    uow: postgresUnitOfWork(pool, events, servers),
    reads: postgresReads(sql, servers),
    balances: balanceReads(sql),
    depositAddresses: depositAddressReads(sql),
    ...(nonceMappings !== undefined && { nonceMappings: nonceMappings.reads }),
    quotePolicy: {
      ...config.fees,
      gas: measuredQuoteGas,
      maxTtlSeconds: config.maxTtlSeconds,
      solverChainName: config.solver.chainName,
    },
    enginePolicy: config.engine,
    planFaults: createPlanFaults(),
    appBalance: config.appBalance,
  };

  chainHeadGauge(metrics.registry, services.chains);

  await checkUsedContracts(services, usedContracts(sql), config.chains);

  return {
    services,
    connected,
    async routes(): Promise<RouteServices> {
      logConnections(log, connectionsOf("api", config.database), limits);
      const polled = await pollFacts(
        services.reads,
        events,
        [...connected, ...rails].map(({ chain }) => chain.id),
        POLLED_EVERY_MS,
      );
      lifecycle.add("polled facts", () => polled.close());
      const tokens = await tokenBook(services, config.tokenLists, lifecycle);
      const { permitTokens, executePermit } = permitServices(services, config);
      const quoting = {
        ...services,
        tokens,
        permitTokens,
        solver: signer.address,
        signOrder: (orderId: OrderId) => signPersonalMessage(signer, orderId),
        signDigest: async (digest: Hex32) => signatureToHex(await signer.signDigest(digest)),
        random: pooledRandomBytes(),
        walletNonces: walletNonces(),
        requests: storeQuotes(services, groupedQuoteInserts(sql)),
        recipientCodes: createCodeCache(services.chains),
        quirks: tokenQuirks(connected, services),
        sponsors: sponsorReads(sql),
        reservations: { reserved: polled.reserved },
        timings: { estimateSeconds: routeSeconds([...connected, ...rails], polled.routeMs) },
      };
      const executing = { ...quoting, accept: groupedAcceptance(quoting) };
      const { push } = pushRouteServices(services, {
        config,
        sql,
        lifecycle,
        registry: metrics.registry,
      });
      const countQuote = quoteCounts(metrics.registry);
      const turnOf = createReportTurns(services.uow);
      const searches = startSearches(config, lifecycle);
      const sharedIndexing = sharedAnswers<{ message: string }>(INDEXING);
      return {
        listChains: createChainList({ chains: services.chains, solverAddress: signer.address }),
        swapSources: (chainId) => swapSources(services, chainId),
        createQuote: (input, tell, keyId, key) => countQuote(quoteAs(quoting, input, tell, keyId, key)),
        priceIntent: (input, keyId, key) => priceIntent(quoting, input, keyId, key),
        executeCalls: (caller, input, lease) => executeCalls(executing, caller, input, lease),
        executePermit,
        authorizeNonce: (said) => authorizeNonce(services, said),
        requestFastFill: (wish) => requestFastFill(services, wish),
        requestStatus: statusByIdOrDeposit((requestId) => requestStatus(services, requestId), services.reads),
        requestSignature: createRequestSignature(services),
        indexTransaction: (report, caller) =>
          sharedIndexing(
            // Turns are taken by callers: what one caller is refused says nothing to another.
            `${caller}:${report.chainId}:${report.txHash}:${report.requestId ?? ""}`,
            async () =>
              await indexTransaction(
                { ...services, uow: turnOf({ caller, chainId: report.chainId }) },
                readReport(services.chains, report),
              ),
          ),
        recordSingleTransaction: async (report, caller) =>
          await recordSingleTransaction(
            { ...services, uow: turnOf({ caller, chainId: report.chainId }) },
            readReport(services.chains, report),
          ),
        readiness: readinessCheck(services, { requiredChains: config.requiredChains }),
        depositAddresses: depositAddressRoutes(services, quoting),
        discovery: discoveryRoutes(quoting, { sql, lifecycle }),
        appBalance: appBalanceRouteServices(services),
        ...(await historyRouteServices(services, { sql, searches })),
        ...(await accessServices(services, { config, sql, searches, connected, lifecycle })),
        webhooks: webhookRouteServices(services, { config, sql }),
        push,
      };
    },
    async work(keys): Promise<Work> {
      const paying: WorkerServices = {
        ...services,
        ...workerSigners(keys),
        chains: createChainDirectory(connected, await withRailKeys(rails, { keys, solver: config.solver })),
      };
      logConnections(log, connectionsOf("worker", config.database), limits);
      const queue = { redisUrl: config.redis.url.reveal(), prefix: config.redis.queuePrefix };
      const relay = await startOutboxRelay(services, catalog, { ...queue, pool, databaseUrl });
      lifecycle.add("outbox relay", () => relay.close());
      const repeat = repeating(lifecycle, events);
      const memory = watchRedisMemory(metrics.registry, () => relay.memory(), events);
      repeat("memory of Redis", REDIS_MEMORY_EVERY_MS, () => memory.look());
      const working = { ...paying, ...executionPace(paying) };
      const workers = startWorkers(working, catalog, { ...queue, runs: jobRuns(sql) });
      lifecycle.add("workers", () => workers.close());
      const addresses = await startDepositAddresses(services, {
        connected,
        lifecycle,
        registry: metrics.registry,
      });
      const locks = leaderLocks(databaseUrl, {
        onFault: (error) => events.fault("leader_fault", error, {}),
      });
      lifecycle.add("leader locks", () => locks.close());
      const led = ledTasks(services.chains, config.settlement !== undefined);
      leadershipGauges(metrics.registry, led, locks.workedAgoMs);
      databaseGauges(
        metrics.registry,
        {
          oldestSnapshot: () => oldestSnapshot(sql),
          bytes: () => databaseBytes(sql),
          tableBytes: () => tableBytes(sql),
          oldestRows: () => oldestRows(sql),
          defaultPartitionRows: () => defaultPartitionRows(sql),
        },
        clock,
      );
      for (const one of connected) {
        const watcher = watchChain(paying, one, locks.lead, addresses.beside(one));
        lifecycle.add(`watcher of ${one.chain.name}`, () => watcher.close());
      }
      for (const one of paying.chains.rails) {
        const watcher = watchRail(paying, one, locks.lead);
        lifecycle.add(`watcher of ${one.chain.name}`, () => watcher.close());
      }
      settlementGauges(metrics.registry, settlementReads(sql), clock);
      const scanned = createScanProgress(services.reads, clock);
      scanGauges(metrics.registry, async () => await scanLags(services.chains, scanned));
      solverGauges(metrics.registry, services.chains, () => openPayments(sql), clock, [
        ...(executor === undefined ? [] : [{ name: "executor", address: executor.address } as const]),
        ...(depositAddressOperator === undefined
          ? []
          : [{ name: "depositAddressOperator", address: depositAddressOperator.address } as const]),
      ]);
      balanceGauges(metrics.registry, services.balances, config.appBalance.currencies, clock);
      if (config.settlement) {
        const settling = settlementServices(paying, settlementReads(sql), config.settlement, observe);
        const showHub = heldGauge(metrics.registry, {
          name: "causeway_hub_balance",
          help: "Hub balance of the solver by chain and currency of the deposits, in whole units; read once a minute",
        });
        const solverOnHub = { address: signer.address, chainName: config.solver.chainName };
        repeat(
          "hub balances",
          HELD_EVERY_MS,
          // Settlement reports a hub that does not answer.
          async () =>
            await hubBalances(services.chains, settling.hub, solverOnHub).then(showHub, () => undefined),
        );
        lifecycle.add("hub", () => settling.hub.close());
        const publishing = nonceMappings?.publishing(settling, metrics.registry);
        const settler = settlePayments(
          settling,
          locks.lead,
          publishing && [(stop) => signMappings(publishing, stop), () => carryMappings(publishing)],
        );
        lifecycle.add("settlement", () => settler.close());
      }
      const { reconcileIntervalMs } = config.engine;
      repeat("reconciler", reconcileIntervalMs, () => reconcileRequests(services));
      repeat("reconciler of claims", reconcileIntervalMs, () => reconcileClaims(services));
      repeat("reconciler of sweeps", reconcileIntervalMs, () => addresses.reconcile());
      const webhooks = startWebhooks(services, { config, sql, lifecycle, registry: metrics.registry });
      repeat("pruning of webhooks", PRUNE_EVERY_MS, async () => {
        if (await mayDeleteByAge(services)) await webhooks.prune();
      });
      const showDepositories = heldGauge(metrics.registry, {
        name: "causeway_depository_balance",
        help: "Balance of an EVM chain's depository, in whole units; read once a minute",
      });
      repeat("depository balances", HELD_EVERY_MS, async () =>
        showDepositories(await depositoryBalances(services.chains)),
      );
      requestGauges(metrics.registry, () => requestsUnderWay(sql), clock);
      queueGauges(metrics.registry, { outbox: () => outboxDepth(sql), queues: () => relay.depths() }, clock);
      pruneGauge(metrics.registry, services.reads, clock, KEPT_MS);
      repeat("partitions", PRUNE_EVERY_MS, () => makePartitionsAhead(pool, clock.nowMs()));
      repeat("pruning", PRUNE_EVERY_MS, () => pruneHistory(services));
      return { ping: () => relay.ping(), leaders: leaderReport(led, locks.workedAgoMs, leaderReads(sql)) };
    },
  };
}

function workerSigners({
  executor,
  depositAddressOperator,
  formerSolvers,
}: WorkerKeys): Required<Pick<WorkerServices, "executor" | "depositAddressOperator" | "formerSigners">> {
  return {
    executor: executor && rawKeySigner(executor.reveal()),
    depositAddressOperator: depositAddressOperator && rawKeySigner(depositAddressOperator.reveal()),
    formerSigners: formerSolvers.map((key) => rawKeySigner(key.reveal())),
  };
}

async function connect(
  chain: Chain,
  senders: { readonly solver: Address; readonly gasPayers: readonly Address[] },
  {
    clock,
    events,
    lifecycle,
    hub,
    observe,
  }: Pick<Services, "clock" | "events"> & {
    readonly observe: ObserveEndpoint;
    readonly lifecycle: Lifecycle;
    readonly hub: AttestationHub | undefined;
  },
): Promise<ConnectedChain & { readonly connection: EvmConnection }> {
  const facts = { chain: chain.name };
  const latency = createNodeLatency((isSlow, medianMs) => {
    if (isSlow) events.alarm("node_slow", { ...facts, medianMs });
    else events.happened("node_recovered", { ...facts, medianMs });
  });
  const time = observe(chain.name, chain.rpcUrl);
  const connection = connectEvmChain(chain, {
    rpc: {
      onCall: (...call) => {
        latency.observe(...call);
        time(...call);
      },
    },
    now: () => clock.nowMs(),
    onFault: (fault) => events.fault("chain_fault", fault, facts),
    ...(hub !== undefined && { attestation: hub }),
    onUnaskedLogs: reportUnaskedLogs(events, chain.name),
    onIgnoredLogs: (ignored) => events.alarm("log_ignored", { ...facts, count: ignored.length }),
  });
  lifecycle.add(`chain ${chain.name}`, () => connection.close());
  const pulse = createChainPulse({
    chain,
    connection,
    clock,
    monotonic: monotonicClock,
    ...senders,
    maxAgeMs: Math.max(PULSE_MAX_AGE_BLOCKS * chain.blockTimeSeconds * 1000, PULSE_MIN_MAX_AGE_MS),
    quietRefreshMs: PULSE_QUIET_REFRESH_MS,
    latencyMs: latency.medianMs,
    readEffectsView: connection.effectsView,
    onEffectsView: (view) => {
      if (view === "unseen") events.alarm("effects_unseen", facts);
    },
    onFault: (fault) => events.fault("chain_fault", fault, { ...facts, part: "pulse" }),
  });
  lifecycle.add(`pulse of ${chain.name}`, () => pulse.close());
  try {
    await connection.verify();
    await pulse.refresh();
  } catch (error) {
    // A wrong chain is a wrong configuration; a node that is away comes back.
    if (error instanceof RpcFault && error.kind === "wrongChain") throw error;
    events.fault("chain_fault", error, { ...facts, at: "start" });
  }
  return { chain, connection, pulse };
}

/**
 * Seconds of a route: its confirmations beyond the first, and what the rest took when it was last measured
 * (before that: one block on each side).
 */
function routeSeconds(
  connected: readonly (ConnectedChain | ConnectedRail)[],
  measuredMs: (originChainId: number, destinationChainId: number) => number | undefined,
): (originChainId: number, destinationChainId: number, confirmations: number) => number {
  const blockSeconds = new Map(connected.map(({ chain }) => [chain.id, chain.blockTimeSeconds]));
  return (originChainId, destinationChainId, confirmations) => {
    const origin = blockSeconds.get(originChainId) ?? 0;
    const measured = measuredMs(originChainId, destinationChainId);
    const rest = measured === undefined ? (blockSeconds.get(destinationChainId) ?? 0) : measured / 1000;
    // The deposit's own block, then those that its value asks for, then the rest.
    return Math.ceil(origin + Math.max(confirmations - 1, 0) * origin + rest);
  };
}
