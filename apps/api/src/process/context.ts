import type { OpenConnection } from "@causeway/chains";
import {
  createTraces,
  type HttpServices,
  type Lifecycle,
  type Logger,
  type Traces,
} from "@causeway/service-kit";
import type { Registry } from "prom-client";
import { balanceReads } from "../balances/balance-reads.postgres.ts";
import type { ConnectedNonEvmChain } from "../chains/chains.port.ts";
import { connectChains, type EvmChain } from "../chains/chains.wiring.ts";
import { createChainDirectory } from "../chains/directory.adapter.ts";
import type { ObserveEndpoint } from "../chains/observe-endpoint.port.ts";
import { connectNonEvmChains } from "../chains/non-evm-chains.wiring.ts";
import { knownAccounts } from "../chains/signers.wiring.ts";
import type { TimeSignatures } from "../chains/time-signatures.port.ts";
import type { ApiConfig } from "../config/config.ts";
import { connectDatabase, type Database } from "../db/db.wiring.ts";
import { newJobs, type NewJobs } from "../db/new-jobs.ts";
import { watchServer, type ServerWatch } from "../db/server-watch.postgres.ts";
import type { Services } from "../db/services.port.ts";
import { depositAddressReads } from "../deposits/addresses/deposit-address-reads.postgres.ts";
import { checkFactories } from "../deposits/deposits.wiring.ts";
import { startLiquidity } from "../markets/liquidity/liquidity.wiring.ts";
import { pricesWithVeto, startPriceBook } from "../markets/prices/prices.wiring.ts";
import { alarmInbox, withStoredAlarms } from "../notices/stored-alarms.postgres.ts";
import { checkUsedContracts } from "../payments/check-used-contracts.ts";
import { createPlanFaults } from "../payments/plan-faults.ts";
import { usedContracts } from "../payments/used-contracts.postgres.ts";
import { measuredQuoteGas } from "../quotes/quote-gas.ts";
import {
  nonceMappingAccess,
  type NonceMappingAccess,
} from "../settlement/nonce-mappings/nonce-mappings.wiring.ts";
import { chainHeadGauge } from "../telemetry/chain-head-gauge.ts";
import { endpointGauges } from "../telemetry/endpoint-gauges.ts";
import { loggedEvents } from "../telemetry/logged-events.ts";
import { priceAgeGauge } from "../telemetry/price-age-gauge.ts";
import { rpcCallTimes } from "../telemetry/rpc-call-times.ts";
import { signatureTimes } from "../telemetry/signature-times.ts";
import { tracedEvents } from "../telemetry/traced-events.ts";
import { postgresReads } from "./reads.postgres.ts";
import { postgresUnitOfWork } from "./unit-of-work.postgres.ts";

/** The common dependencies of both processes. The lifecycle closes every part. */
export interface Context extends Services, Database {
  readonly config: ApiConfig;
  readonly log: Logger;
  readonly registry: Registry;
  readonly lifecycle: Lifecycle;
  readonly observeEndpoint: ObserveEndpoint;
  readonly timeSignatures: TimeSignatures;
  readonly evmChains: readonly EvmChain[];
  readonly nonEvmChains: readonly ConnectedNonEvmChain<OpenConnection>[];
  readonly nonceMappingAccess: NonceMappingAccess;
  readonly newJobs: NewJobs;
  /** Undefined: no traces. */
  readonly traces: Traces | undefined;
  readonly servers: ServerWatch;
}

/**
 * Connects the database and the chains, and fetches prices.
 * @param answersClients whether this process serves clients (the API)
 * @throws StartProblem when the database is unavailable or not migrated; RpcFault of kind `wrongChain` when a
 * node serves a different chain than configured; ServiceError when a deposit address factory is unsafe or a
 * former contract is not configured
 */
export async function createContext(
  config: ApiConfig,
  { log, metrics: { registry }, answersClients }: HttpServices & { readonly answersClients: boolean },
  lifecycle: Lifecycle,
): Promise<Context> {
  const clock = { nowMs: () => Date.now() };
  const traces =
    config.traces &&
    createTraces(answersClients ? "causeway-api" : "causeway-worker", config.traces, registry);
  lifecycle.add("traces", async () => await traces?.close());
  const untraced = loggedEvents(log, registry);
  const logged = traces === undefined ? untraced : tracedEvents(untraced, traces, clock);
  const observeEndpoint = rpcCallTimes(registry);
  const timeSignatures = signatureTimes(registry);

  const database = await connectDatabase({ config, lifecycle });
  const { pool, sql } = database;
  const inbox = config.notices.channels.length === 0 ? undefined : alarmInbox(clock);
  const events = inbox === undefined ? logged : withStoredAlarms(logged, inbox, sql);
  const process = {
    config,
    log,
    registry,
    lifecycle,
    clock,
    events,
    observeEndpoint,
    timeSignatures,
    answersClients,
  };
  const servers = watchServer();
  const jobsOfProcess = newJobs();

  const accounts = knownAccounts(config);
  const evmChains = await connectChains({ ...process, ...accounts });
  await checkFactories({ ...process, ...accounts }, evmChains);
  const mappings = nonceMappingAccess({ ...process, sql });
  const nonEvmChains = await connectNonEvmChains(process, mappings.ofHub);

  const book = await startPriceBook(process);
  const { liquidity, poolUsd } = startLiquidity(process, evmChains, book);

  const context: Context = {
    ...process,
    ...database,
    ...accounts,
    evmChains,
    nonEvmChains,
    chains: createChainDirectory(evmChains, nonEvmChains),
    prices: pricesWithVeto(book, poolUsd, clock),
    liquidity,
    poolUsd,
    // Not `events`: the unit of work stores the alarms of its transactions itself.
    uow: postgresUnitOfWork(pool, logged, servers, jobsOfProcess, inbox),
    newJobs: jobsOfProcess,
    traces,
    servers,
    reads: postgresReads(sql, servers),
    balances: balanceReads(sql),
    depositAddresses: depositAddressReads(sql),
    nonceMappingAccess: mappings,
    nonceMappings: mappings.reads,
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
  priceAgeGauge(registry, book);
  chainHeadGauge(registry, context.chains);
  endpointGauges(registry, context.chains);
  await checkUsedContracts(context, usedContracts(sql), config.chains);
  return context;
}
