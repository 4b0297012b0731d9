import type { Chain } from "@causeway/domain";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { parseEther, parseUnits } from "viem";
import { localAccount, localAccounts, type LocalAccount } from "./accounts.ts";
import type { RunningAnvil } from "./anvil.ts";
import { programCommand, startAppProcess, type SystemProcess, type UnexpectedExit } from "./app-process.ts";
import { describeEndpoints, removeEndpoints, writeEndpoints, type Endpoints } from "./endpoints.ts";
import { isPortFree, PortInUse } from "./free-port.ts";
import type { Funding } from "./fund.ts";
import { checkGivenUrls, givenUrl } from "./given-service.ts";
import { everyToken, startInfrastructure } from "./infrastructure.ts";
import { defaultPortBase, nodeEnvironment, portsFrom, readLocalChains } from "./local-chains.ts";
import { localnetDir, repositoryRoot, systemPath } from "./paths.ts";
import { runToEnd } from "./process.ts";
import { startTogether, stopTogether, type Stoppable } from "./start-together.ts";

export interface SystemOptions {
  /** `DATABASE_URL` and `REDIS_URL` are used when set. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** First port of the block that the system uses. */
  readonly portBase?: number;
  /** Processes of each kind, one by default and five at most. */
  readonly apis?: number;
  readonly workers?: number;
  /** Seconds between blocks of both chains. Default 1. */
  readonly blockTimeSeconds?: number;
  /** Mine each transaction at once as well. */
  readonly mixedMining?: boolean;
  /** Whether the embedded Postgres keeps what was committed when it is killed. Default true. */
  readonly durable?: boolean;
  /** Funded users. Default 10. */
  readonly users?: number;
  /** Further variables for API and worker. */
  readonly appEnv?: Readonly<Record<string, string>>;
  /** Told what has just been done, in the order of completion. */
  readonly onProgress?: (text: string) => void;
  /** Told when an API or worker ends that nobody stopped or killed. */
  readonly onUnexpectedExit?: (facts: UnexpectedExit) => void;
  /** Cancels the start; what was started by then is stopped. */
  readonly signal?: AbortSignal;
}

/** The whole system on this machine. */
export interface System extends Stoppable {
  readonly endpoints: Endpoints;
  readonly databaseUrl: string;
  readonly redisUrl: string;
  /** Data and logs. */
  readonly folder: string;
  readonly chains: readonly Chain[];
  readonly nodes: readonly RunningAnvil[];
  readonly apis: readonly SystemProcess[];
  readonly workers: readonly SystemProcess[];
  readonly solver: LocalAccount;
  readonly users: readonly LocalAccount[];
  /** Stops every process that was started, services first. May be called twice. */
  stop(): Promise<void>;
}

/**
 * Starts everything: Postgres, Redis and two chains with contracts and money at once, then tables, then API and worker.
 *
 * @throws PortInUse, GivenServiceUnusable, ProcessStartFailed, LocalTransactionFailed; nothing runs any more by then.
 */
export async function startSystem(options: SystemOptions): Promise<System> {
  const plan = planSystem(options);
  checkGivenUrls(options.env);
  await checkPorts(plan, options.env);
  await rm(join(plan.folder, "logs"), { recursive: true, force: true });

  const ground = await startInfrastructure({
    env: options.env,
    ports: plan.ports,
    chains: plan.chains,
    folder: plan.folder,
    durable: options.durable ?? true,
    blockTimeSeconds: options.blockTimeSeconds ?? 1,
    mixedMining: options.mixedMining ?? false,
    fundings: (chain) => fundings(chain, plan),
    onProgress: plan.onProgress,
    ...plan.signal,
  });
  try {
    const env = appEnvironment(plan, ground, options.appEnv);
    await migrate(plan, env);
    const [apis, workers] = await startApps(plan, env, options.onUnexpectedExit ?? (() => undefined));
    const endpoints = describeEndpoints({
      portBase: plan.portBase,
      apiUrls: plan.apiPorts.map(urlOfPort),
      chains: plan.chains,
      accounts: [plan.solver, ...plan.users],
    });
    await writeEndpoints(endpoints, ground.databaseUrl);
    const stop = async (): Promise<void> => {
      await removeEndpoints(endpoints);
      await stopTogether([...apis, ...workers]);
      await ground.stop();
    };
    let stopping: Promise<void> | undefined;
    const { databaseUrl, redisUrl, nodes } = ground;
    const { folder, chains, solver, users } = plan;
    return {
      endpoints,
      databaseUrl,
      redisUrl,
      folder,
      chains,
      nodes,
      apis,
      workers,
      solver,
      users,
      stop: async () => await (stopping ??= stop()),
    };
  } catch (error) {
    await ground.stop();
    throw error;
  }
}

/** Everything that follows from the options before anything is started. */
interface SystemPlan {
  readonly portBase: number;
  readonly ports: ReturnType<typeof portsFrom>;
  readonly apiPorts: readonly number[];
  readonly workerPorts: readonly number[];
  readonly folder: string;
  readonly nodeEnv: Readonly<Record<string, string>>;
  readonly chains: readonly Chain[];
  readonly solver: LocalAccount;
  readonly users: readonly LocalAccount[];
  readonly onProgress: (text: string) => void;
  readonly signal: { readonly signal?: AbortSignal };
}

function planSystem(options: SystemOptions): SystemPlan {
  const portBase = options.portBase ?? defaultPortBase;
  const ports = portsFrom(portBase);
  const nodeEnv = nodeEnvironment({ portA: ports.nodeA, portB: ports.nodeB });
  return {
    portBase,
    ports,
    apiPorts: firstOnes(options.apis ?? 1).map(ports.api),
    workerPorts: firstOnes(options.workers ?? 1).map(ports.workerHealth),
    folder: join(localnetDir, String(portBase)),
    nodeEnv,
    chains: readLocalChains(nodeEnv),
    solver: localAccount("solver"),
    users: localAccounts("user", options.users ?? 10),
    onProgress: options.onProgress ?? (() => undefined),
    signal: options.signal === undefined ? {} : { signal: options.signal },
  };
}

function firstOnes(count: number): number[] {
  if (!Number.isInteger(count) || count < 1 || count > 5) {
    throw new RangeError(`a local system has one to five processes of a kind, not ${count}`);
  }
  return Array.from({ length: count }, (_, index) => index);
}

/** Asked before anything starts, so that a second system on the same ports costs nothing and breaks nothing. */
async function checkPorts(plan: SystemPlan, env: SystemOptions["env"]): Promise<void> {
  const { postgres, redis, nodeA, nodeB } = plan.ports;
  const own = [
    ...(givenUrl(env, "DATABASE_URL") === undefined ? [postgres] : []),
    ...(givenUrl(env, "REDIS_URL") === undefined ? [redis] : []),
  ];
  for (const port of [...plan.apiPorts, ...plan.workerPorts, ...own, nodeA, nodeB]) {
    if (!(await isPortFree(port))) throw new PortInUse(port);
  }
}

function fundings(chain: Chain, plan: SystemPlan): Funding[] {
  const rich = {
    nativeWei: parseEther("100000"),
    tokens: everyToken(chain, (d) => parseUnits("100000000", d)),
  };
  const usual = { nativeWei: parseEther("1000"), tokens: everyToken(chain, (d) => parseUnits("1000000", d)) };
  // Owner and allocator only sign administrative transactions of the depository.
  const staff = [localAccount("owner"), localAccount("allocator")];
  return [
    { address: plan.solver.address, ...rich },
    ...staff.map(({ address }) => ({ address, nativeWei: parseEther("1000") })),
    ...plan.users.map(({ address }) => ({ address, ...usual })),
  ];
}

function appEnvironment(
  plan: SystemPlan,
  ground: { databaseUrl: string; redisUrl: string },
  extra: Readonly<Record<string, string>> | undefined,
): Record<string, string> {
  return {
    PATH: systemPath,
    ENVIRONMENT: "local",
    DATABASE_URL: ground.databaseUrl,
    REDIS_URL: ground.redisUrl,
    HTTP_HOST: "127.0.0.1",
    SOLVER_PRIVATE_KEY: plan.solver.privateKey,
    CONFIGS_DIR: join(repositoryRoot, "configs"),
    PRICE_SOURCE: "fixed",
    // A Redis of the user's own may still hold the jobs of an earlier start, about chains that are gone.
    QUEUE_PREFIX: `causeway-local-${plan.portBase}-${Date.now()}`,
    LOG_LEVEL: "info",
    // Below the bound after which a process of ours is killed.
    SHUTDOWN_TIMEOUT_MS: "8000",
    ...plan.nodeEnv,
    ...extra,
  };
}

async function migrate(plan: SystemPlan, env: Record<string, string>): Promise<void> {
  await runToEnd({
    name: "migrate",
    ...programCommand("apps/api/src/migrate.ts"),
    env,
    logFile: join(plan.folder, "logs", "migrate.log"),
    withinMs: 30_000,
  });
  plan.onProgress("tables made");
}

async function startApps(
  plan: SystemPlan,
  env: Record<string, string>,
  onUnexpectedExit: (facts: UnexpectedExit) => void,
): Promise<[apis: SystemProcess[], workers: SystemProcess[]]> {
  const start = async (name: string, entry: string, port: number, own: Record<string, string>) => {
    const started = await startAppProcess({
      name,
      entry,
      url: urlOfPort(port),
      env: { ...env, ...own },
      logFile: join(plan.folder, "logs", `${name}.log`),
      onUnexpectedExit,
      ...plan.signal,
    });
    plan.onProgress(`${name} on port ${port}`);
    return started;
  };
  const apis = plan.apiPorts.map(
    async (port, index) =>
      await start(`api-${index + 1}`, "apps/api/src/main.ts", port, { HTTP_PORT: String(port) }),
  );
  const workers = plan.workerPorts.map(
    async (port, index) =>
      await start(`worker-${index + 1}`, "apps/api/src/worker.ts", port, { HEALTH_PORT: String(port) }),
  );
  const all = await startTogether<SystemProcess[]>([...apis, ...workers]);
  return [all.slice(0, apis.length), all.slice(apis.length)];
}

function urlOfPort(port: number): string {
  return `http://127.0.0.1:${port}`;
}
