import { ConfigError, type Env, takeEnvironment } from "@causeway/config";
import {
  createLifecycle,
  createLogger,
  createMetrics,
  listenOn,
  runUntilSignal,
} from "@causeway/service-kit";
import type { HttpServices } from "@causeway/service-kit";
import type { FastifyInstance } from "fastify";
import type { ApiConfig } from "../config/config.ts";
import { createContext, type Context } from "./context.ts";

/** The differences between the two processes: name, server, and listening address. */
export interface ProcessPlan<Config extends ApiConfig> {
  readonly name: string;
  /** Whether the process serves clients (the API). */
  readonly answersClients: boolean;
  /** @throws ConfigError */
  read(env: Env): Config;
  serve(context: Context, config: Config, services: HttpServices): Promise<FastifyInstance>;
  /** The port that the process listens on, and the name of its setting. */
  port(config: Config): { readonly port: number; readonly portName: string };
}

/**
 * Runs a process until a signal ends it. Configuration problems are printed to stderr, and the exit code is
 * 1.
 */
export async function runProcess<Config extends ApiConfig>(
  env: NodeJS.ProcessEnv,
  plan: ProcessPlan<Config>,
): Promise<void> {
  const config = readOrExplain(() => plan.read(takeEnvironment(env)));
  if (config === undefined) return;
  const log = createLogger({ name: plan.name, level: config.logLevel, format: config.logFormat });
  const metrics = createMetrics(plan.name);
  const lifecycle = createLifecycle(log, config.shutdownTimeoutMs);
  await runUntilSignal({
    log,
    lifecycle,
    start: async () => {
      for (const warning of config.warnings) log.warn({ event: "configuration", warning });
      const chains = [...config.chains, ...config.nonEvmChains.map(({ chain }) => chain)].map(
        ({ name }) => name,
      );
      log.info({ event: "chains_enabled", chains, off: config.offChains });
      const context = await createContext(
        config,
        { log, metrics, answersClients: plan.answersClients },
        lifecycle,
      );
      const server = await plan.serve(context, config, { log, metrics });
      lifecycle.add("http", () => server.close());
      const url = await listenOn(server, { host: config.http.host, ...plan.port(config) });
      log.info({ event: "listening", url });
    },
  });
}

/** Prints configuration problems as plain lines: the logger cannot be configured yet. */
function readOrExplain<Config>(read: () => Config): Config | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
    return undefined;
  }
}
