import type { Chain } from "@causeway/domain";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { localAccount, type LocalAccount } from "./accounts.ts";
import {
  checkExternalUrls,
  startTogether,
  stopTogether,
  type Stoppable,
  type SystemProcess,
} from "@causeway/testkit";
import { describeEndpoints, removeEndpoints, writeEndpoints, type Endpoints } from "./endpoints.ts";
import type { RunningFamilies } from "./families/start-families.ts";
import { startInfrastructure, type Infrastructure, type RunningNode } from "./infrastructure.ts";
import { parseUnits } from "viem";
import { arrangeSponsorship, type Sponsorship } from "./sponsorship.ts";
import { startProcesses } from "./system-processes.ts";
import {
  checkPorts,
  describeSettlement,
  fundings,
  hubFundings,
  planSystem,
  urlOfPort,
  type SystemOptions,
  type SystemPlan,
} from "./system-plan.ts";

/** The whole system on this machine. */
export interface System extends Stoppable {
  readonly endpoints: Endpoints;
  readonly databaseUrl: string;
  readonly redisUrl: string;
  /** Environment variables with which operator commands reach this system. */
  readonly operatorEnvironment: Readonly<Record<string, string>>;
  /** Data and logs. */
  readonly folder: string;
  readonly chains: readonly Chain[];
  readonly nodes: readonly RunningNode[];
  /** Chains of other families; undefined if the system was started without them. */
  readonly families: RunningFamilies | undefined;
  /** The hub's node; undefined without oracles. */
  readonly hubNode: RunningNode | undefined;
  readonly oracles: readonly SystemProcess[];
  readonly apis: readonly SystemProcess[];
  readonly workers: readonly SystemProcess[];
  readonly solver: LocalAccount;
  /** Sends sponsored executions. */
  readonly executor: LocalAccount;
  readonly depositAddressOperator: LocalAccount;
  /** Sponsors its users from its app balance. */
  readonly sponsor: LocalAccount;
  /** The sponsor's key, ready for use, and its app balance, which is credited some seconds later. */
  readonly sponsorship: Sponsorship;
  readonly users: readonly LocalAccount[];
  /** Stops every started process, services first. Idempotent. */
  stop(): Promise<void>;
}

/**
 * Starts everything: first Postgres, Redis, two chains and the hub with contracts and funds, all in parallel;
 * then the migration and the oracles, API and worker, and the sponsor's key.
 *
 * @throws PortInUse, ExternalServiceUnusable, ProcessStartFailed, LocalTransactionFailed, ApiError; by then
 * everything is stopped again
 */
export async function startSystem(options: SystemOptions): Promise<System> {
  checkExternalUrls(options.env);
  const plan = planSystem(options);
  await checkPorts(plan, options.env);
  await rm(join(plan.folder, "logs"), { recursive: true, force: true });

  const [evm, families] = await startTogether<[Infrastructure, Stoppable & { running?: RunningFamilies }]>([
    startEvm(plan, options),
    startOtherFamilies(plan),
  ]);
  const infrastructure = {
    ...evm,
    families: families.running,
    stop: async () => await stopTogether([evm, families]),
  };
  try {
    const processes = await startProcesses(plan, infrastructure, options);
    const sponsorship = await arrangeSponsorshipOf(plan).catch(async (error: unknown) => {
      await processes.stop();
      throw error;
    });
    const endpoints = describeEndpoints({
      portBase: plan.portBase,
      apiUrls: plan.apiPorts.map(urlOfPort),
      chains: plan.chains,
      ...describeSettlement(plan),
      apiKeys: [sponsorship.apiKey],
      accounts: [plan.solver, plan.executor, plan.depositAddressOperator, plan.sponsor, ...plan.users],
    });
    // Withdrawals need the allocator's key, which the operator has.
    const operatorEnvironment = {
      ...processes.environment,
      ALLOCATOR_PRIVATE_KEY: localAccount("allocator").privateKey,
    };
    await writeEndpoints(endpoints, operatorEnvironment);
    const stop = async (): Promise<void> => {
      await removeEndpoints(endpoints);
      await processes.stop();
      await infrastructure.stop();
    };
    let stopping: Promise<void> | undefined;
    const { databaseUrl, redisUrl, nodes, hubNode } = infrastructure;
    const { apis, workers, oracles } = processes;
    const { folder, chains, solver, executor, depositAddressOperator, sponsor, users } = plan;
    return {
      endpoints,
      databaseUrl,
      redisUrl,
      operatorEnvironment,
      folder,
      chains,
      nodes,
      families: families.running,
      hubNode,
      oracles,
      apis,
      workers,
      solver,
      executor,
      depositAddressOperator,
      sponsor,
      sponsorship,
      users,
      stop: async () => await (stopping ??= stop()),
    };
  } catch (error) {
    await infrastructure.stop();
    throw error;
  }
}

async function arrangeSponsorshipOf({
  apiPorts: [port = 0],
  appBalance: home,
  sponsor,
  solver,
  externalNodes,
}: SystemPlan): Promise<Sponsorship> {
  return await arrangeSponsorship({
    apiUrl: urlOfPort(port),
    sponsor,
    solver: solver.address,
    balanceChain: {
      url: home.chain.rpcUrl,
      chainId: home.chain.id,
      fundingKey: externalNodes.get(home.chain.name)?.fundingKey,
    },
    token: home.token,
    amount: parseUnits("10000", 6),
  });
}

/** The two chains, the hub, Postgres and Redis. */
async function startEvm(plan: SystemPlan, options: SystemOptions): Promise<Infrastructure> {
  return await startInfrastructure({
    env: options.env,
    ports: plan.ports,
    chains: plan.chains,
    externalNodes: plan.externalNodes,
    folder: plan.folder,
    durable: options.durable ?? true,
    postgresSettings: options.postgresSettings ?? [],
    blockTimeSeconds: options.blockTimeSeconds ?? 1,
    mixedMining: options.mixedMining ?? false,
    hub:
      plan.oracles.oracles.length === 0 ? undefined : { port: plan.ports.hub, quorum: plan.oracles.quorum },
    fundings: (chain) => fundings(chain, plan),
    hubFundings: hubFundings(plan),
    solver: plan.solver,
    onProgress: plan.onProgress,
    ...plan.signal,
  });
}

/** Starts nothing unless requested. Their modules are loaded only then. */
async function startOtherFamilies(plan: SystemPlan): Promise<Stoppable & { running?: RunningFamilies }> {
  if (!plan.hasFamilies) return { stop: async () => undefined };
  const { startFamilies } = await import("./families/start-families.ts");
  const running = await startFamilies({
    ports: plan.ports,
    folder: plan.folder,
    users: plan.users.length,
    onProgress: plan.onProgress,
    ...plan.signal,
  });
  return { running, stop: async () => await running.stop() };
}
