import { join } from "node:path";
import {
  PATIENCE_MS,
  programCommand,
  repositoryRoot,
  runToCompletion,
  startAppProcess,
  startTogether,
  stopTogether,
  systemPath,
  type Stoppable,
  type SystemProcess,
  type UnexpectedExit,
} from "@causeway/testkit";
import {
  type FamilyAccounts,
  familyNodeEnvironment,
  familySolverAddresses,
  familySolverKeys,
  type FamilyUrls,
} from "./families/family-plan.ts";
import { settlementEnvironment } from "./oracle-plan.ts";
import { localOperatorToken } from "./sponsorship.ts";
import { shortHex } from "./terminal.ts";
import { urlOfPort, type SystemOptions, type SystemPlan } from "./system-plan.ts";

/** The processes of Causeway, all ready. */
export interface SystemProcesses extends Stoppable {
  /** Environment variables that API and worker share. */
  readonly environment: Readonly<Record<string, string>>;
  readonly apis: readonly SystemProcess[];
  readonly workers: readonly SystemProcess[];
  readonly oracles: readonly SystemProcess[];
}

/**
 * Creates the tables, then starts APIs and workers, and in parallel the oracles, which need no database. If
 * one fails, all are stopped.
 */
export async function startProcesses(
  plan: SystemPlan,
  infrastructure: Dependencies,
  options: Pick<SystemOptions, "appEnv" | "workerEnv" | "onUnexpectedExit">,
): Promise<SystemProcesses> {
  const env = appEnvironment(plan, infrastructure, options.appEnv);
  const keys = workerKeys(plan, infrastructure);
  const onUnexpectedExit = options.onUnexpectedExit ?? (() => undefined);
  const workerEnv: NonNullable<SystemOptions["workerEnv"]> = async (worker, defaults) => ({
    ...keys,
    ...(await options.workerEnv?.(worker, defaults)),
  });
  const startAfterMigration = async (): Promise<Group> => {
    await migrate(plan, env);
    return groupOf(await startApps(plan, { env, workerEnv }, onUnexpectedExit));
  };
  const [oracles, apps] = await startTogether<[Group, Group]>([
    startOracles(plan, infrastructure.families?.urls, onUnexpectedExit).then(groupOf),
    startAfterMigration(),
  ]);
  return {
    environment: env,
    apis: apps.processes.slice(0, plan.apiPorts.length),
    workers: apps.processes.slice(plan.apiPorts.length),
    oracles: oracles.processes,
    stop: async () => await stopTogether([apps, oracles]),
  };
}

/** The services that the processes depend on. */
export interface Dependencies {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  /** Nodes of other families and the solver's accounts there. Undefined: none. */
  readonly families: { readonly urls: FamilyUrls; readonly solver: FamilyAccounts } | undefined;
}

interface Group extends Stoppable {
  readonly processes: readonly SystemProcess[];
}

function groupOf(processes: readonly SystemProcess[]): Group {
  return { processes, stop: async () => await stopTogether(processes) };
}

/** The variables that API and worker share. The only key among them is the solver's, which signs orders. */
export function appEnvironment(
  plan: SystemPlan,
  infrastructure: Dependencies,
  extra?: Readonly<Record<string, string>>,
): Record<string, string> {
  return {
    PATH: systemPath,
    ENVIRONMENT: "local",
    DATABASE_URL: infrastructure.databaseUrl,
    REDIS_URL: infrastructure.redisUrl,
    HTTP_HOST: "127.0.0.1",
    SOLVER_PRIVATE_KEY: plan.solver.privateKey,
    EXECUTOR_ADDRESS: plan.executor.address,
    DEPOSIT_ADDRESS_OPERATOR_ADDRESS: plan.depositAddressOperator.address,
    OPERATOR_TOKEN: localOperatorToken,
    APP_BALANCE_CHAIN_ID: String(plan.appBalance.chain.id),
    // Like the local chains, which require one confirmation.
    APP_BALANCE_CONFIRMATIONS: "1",
    CONFIGS_DIR: join(repositoryRoot, "configs"),
    PRICE_SOURCE: "fixed",
    // Benchmarks and tests send requests as fast as they can.
    RATE_LIMITS: "off",
    // Developers run webhook receivers on this machine.
    WEBHOOK_ALLOW_PRIVATE: "true",
    // A Redis that the user provides may still contain jobs of an earlier run, for chains that no longer
    // exist.
    QUEUE_PREFIX: `causeway-local-${plan.portBase}-${Date.now()}`,
    LOG_LEVEL: "info",
    // Shorter than the time after which the launcher kills the process.
    SHUTDOWN_TIMEOUT_MS: "8000",
    ...plan.nodeEnv,
    ...(infrastructure.families !== undefined && {
      ...familyNodeEnvironment(infrastructure.families.urls),
      ...familySolverAddresses(infrastructure.families.solver),
    }),
    ...settlementEnvironment(plan.oracles, plan.ports.hub),
    ...extra,
  };
}

/** The keys that only workers get. */
export function workerKeys(
  plan: SystemPlan,
  { families }: Pick<Dependencies, "families">,
): Record<string, string> {
  return {
    EXECUTOR_PRIVATE_KEY: plan.executor.privateKey,
    DEPOSIT_ADDRESS_OPERATOR_PRIVATE_KEY: plan.depositAddressOperator.privateKey,
    ...(families !== undefined && familySolverKeys()),
  };
}

/** The oracles get neither the database nor the solver's key. */
async function startOracles(
  plan: SystemPlan,
  families: FamilyUrls | undefined,
  onUnexpectedExit: (facts: UnexpectedExit) => void,
): Promise<SystemProcess[]> {
  const { ORACLE_URLS: _forTheWorker, ...hubEnv } = settlementEnvironment(plan.oracles, plan.ports.hub);
  return await startTogether(
    plan.oracles.oracles.map(async ({ name, port, url, account, env }) => {
      const started = await startAppProcess({
        name,
        entry: "apps/oracle/src/main.ts",
        url,
        readyPath: "/lives/v1",
        env: {
          PATH: systemPath,
          ENVIRONMENT: "local",
          HTTP_HOST: "127.0.0.1",
          CONFIGS_DIR: join(repositoryRoot, "configs"),
          LOG_LEVEL: "info",
          SHUTDOWN_TIMEOUT_MS: "8000",
          ...plan.nodeEnv,
          ...(families !== undefined && familyNodeEnvironment(families)),
          ...hubEnv,
          ...env,
        },
        logFile: join(plan.folder, "logs", `${name}.log`),
        onUnexpectedExit,
        ...plan.signal,
      });
      plan.onProgress(`${name} on port ${port}, signing as ${shortHex(account.address)}`);
      return started;
    }),
  );
}

async function migrate(plan: SystemPlan, env: Record<string, string>): Promise<void> {
  const program = programCommand("apps/api/src/migrate.ts");
  await runToCompletion({
    ...program,
    name: "migrate",
    env: { ...program.env, ...env },
    logFile: join(plan.folder, "logs", "migrate.log"),
    withinMs: PATIENCE_MS,
  });
  plan.onProgress("database migrated");
}

async function startApps(
  plan: SystemPlan,
  { env, workerEnv }: { env: Record<string, string>; workerEnv: NonNullable<SystemOptions["workerEnv"]> },
  onUnexpectedExit: (facts: UnexpectedExit) => void,
): Promise<SystemProcess[]> {
  const start = async (name: string, entry: string, port: number, processEnv: Record<string, string>) => {
    const started = await startAppProcess({
      name,
      entry,
      url: urlOfPort(port),
      env: { ...env, ...processEnv },
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
      await start(`worker-${index + 1}`, "apps/api/src/worker.ts", port, {
        HEALTH_PORT: String(port),
        ...(await workerEnv(index, env)),
      }),
  );
  return await startTogether<SystemProcess[]>([...apis, ...workers]);
}
